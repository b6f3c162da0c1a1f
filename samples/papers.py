"""What the sample documents say, continued: code, letters, books, data and what lies in the archive."""

from __future__ import annotations

TIDE_PY = '''"""Predicts the time of high water at Marrow Quay from the moon's transit."""

from datetime import datetime, timedelta

# The port's establishment: hours from the moon's transit to high water, measured in 1998.
ESTABLISHMENT = timedelta(hours=11, minutes=22)


class TideTable:
    """High waters of one month."""

    def __init__(self, transits):
        self.transits = sorted(transits)

    def high_waters(self):
        """Times of high water, in order."""
        return [t + ESTABLISHMENT for t in self.transits]

    def causeway_closes(self):
        """The gate closes ninety minutes before every high water."""
        return [t - timedelta(minutes=90) for t in self.high_waters()]


def neap_factor(age_of_moon):
    """Share of the spring range on a day of the moon's age, 0.55 at the quarters."""
    from math import cos, pi

    return 0.775 + 0.225 * cos(4 * pi * age_of_moon / 29.53)


EXAMPLE = TideTable([datetime(2024, 8, 21, 1, 7)]).causeway_closes()
'''
LAMP_JS = """// Drives the model of the lamp in the visitor centre.
const PERIOD_MS = 20000; // three flashes every twenty seconds

/** One position of the rotating lens, in degrees. */
export function lensAngle(now) {
  return ((now % PERIOD_MS) / PERIOD_MS) * 360;
}

export class Lamp {
  constructor(canvas) {
    this.canvas = canvas;
    this.burning = false;
  }

  /** Light the lamp; the bulb takes four seconds to reach full power. */
  light() {
    this.burning = true;
    setTimeout(() => this.canvas.classList.add("full"), 4000);
  }
}
"""

COMPLAINT_SUBJECT = "Seagull took my pasty – what will you do about it?"
COMPLAINT = """\
Dear Harbour Authority,

on Saturday the 10th of August a herring gull took a pasty out of my hand on the terrace of the lighthouse café.
I was told at the till that this happens to about thirty visitors a week and that the Authority keeps a stuffed owl
for the purpose, which that day had been lent to the school.

I ask for the price of the pasty, £4.20, and for the owl to be put back. My sketch of the bird is attached.

Yours faithfully,
Barnaby Quill
"""
COMPLAINT_ATTACHMENT = (
    "Suspect: herring gull, one leg yellow, other leg also yellow, ring number SK 4471 on the left.\n"
)

VOLUNTEERS = [
    (
        "Rota for the clock room",
        "Rhea Tarrant",
        "Who can wind the lens clockwork on Tuesdays? It takes twenty minutes and a strong left arm.",
    ),
    (
        "Re: Rota for the clock room",
        "Joss Okonjo",
        "I can do Tuesdays until the end of May. Mind that the third gear slips below five degrees.",
    ),
]

DEED = [
    "Deed of Gift",
    "I, Cordelia Tarrant of Corran House, give to the Skerry Bay Harbour Authority the drawings of the lighthouse "
    "made by my grandmother Ishbel Tarrant, eighty-three sheets in all, on condition that they are never folded "
    "and that a copy of sheet 31, the spiral stair, hangs in the parish school.",
    "Signed at Corran House on 9 June 1962.",
]

RECIPES_TITLE = "Recipes from the Keepers' Kitchen"
RECIPES: list[tuple[str, list[str]]] = [
    (
        "Amaranth lemon cake",
        [
            "Baked every January in memory of the wreck. Take six lemons, four eggs, 300 grams of flour and 250 grams "
            "of sugar. Bake for fifty minutes at 170 degrees and soak with the juice while hot.",
        ],
    ),
    (
        "Fog-horn soup",
        ["Split peas, a ham bone and black pepper. It is done when the spoon stands by itself for one full blast."],
    ),
]
LETTER: list[tuple[str, list[str]]] = [
    (
        "To all holders of winter berths",
        [
            "From the first of November the east pontoon is closed while its piles are replaced. Boats lying there "
            "move to the north wall, where electricity is metered at 31 pence the unit.",
            "Winter covers must be white or green. The orange ones were taken for a boat on fire last year, twice.",
        ],
    ),
]
FAIR_SLIDES = [
    ("Harbour Fair 2025", "Saturday 19 July, from noon until the tide closes the causeway."),
    ("Events", "Pilot gig race for the Tarrant Cup. Knot tying for under-tens. Lens turning for charity."),
]
STOCK = [
    ["Item", "Shelf", "Pieces", "Unit price"],
    ["Postcard, lens by night", "A1", 480, 0.9],
    ["Enamel mug", "B3", 62, 11.5],
    ["Brass model of the diaphone", "C2", 7, 89.0],
]

BOOK_TITLE = "Tales of the Sow Rock"
BOOK_AUTHOR = "Rhea Tarrant"
BOOK: list[tuple[str, list[str]]] = [
    (
        "The cat of the Amaranth",
        [
            "The cat that Tobias Renn carried up the east stair in his shirt lived at the light for sixteen years. The "
            "keepers named her Lisboa, and she is said to have caught a rat in every room but the lamp room.",
        ],
    ),
    (
        "The bell under the water",
        [
            "On still nights in October people in Marrow Quay hear a bell from the bay. The old men say that it is the "
            "bell of Saint Corran's chapel, which the sea took in 1607. The harbour master says that it is the Old "
            "Bell buoy, and that old men should go to bed.",
        ],
    ),
]

NOTEBOOK: list[tuple[str, str, str]] = [
    ("markdown", "# Visitors and weather\n\nDoes rain keep people from crossing the causeway?", ""),
    (
        "code",
        'rain = [0, 2, 5, 12, 20]\nvisitors = [412, 398, 301, 154, 61]\nslope = -17.4\nf"{slope} visitors per mm"',
        "'-17.4 visitors per mm'",
    ),
    ("markdown", "Each millimetre of rain costs about **seventeen visitors** a day.", ""),
]

SHIPS = {
    "title": "Register of vessels of Skerry Bay",
    "updated": "2024-10-01",
    "vessels": [
        {"name": "Petrel", "kind": "pilot boat", "length_m": 12.4, "built": 1997, "yard": "Corran"},
        {"name": "Constance II", "kind": "lifeboat", "length_m": 16.0, "built": 2011, "yard": "Poole"},
        {"name": "Corran Lass", "kind": "trawler", "length_m": 21.3, "built": 1984, "yard": "Peterhead"},
        {"name": "Dunlin", "kind": "workboat", "length_m": 9.8, "built": 2018, "yard": "Marrow Quay"},
    ],
    "owner": {"name": "Skerry Bay Harbour Authority", "address": {"street": "1 Capstan Row", "town": "Marrow Quay"}},
}
SIGHTINGS = [
    {"date": "2024-05-04", "species": "storm petrel", "count": 3, "place": "gallery", "observer": "D. Sandiford"},
    {"date": "2024-06-18", "species": "basking shark", "count": 1, "place": "Gannet buoy", "observer": "F. Oduya"},
    {"date": "2024-07-02", "species": "grey seal", "count": 27, "place": "Sow Rock", "observer": "J. Okonjo"},
]
CATALOGUE = """<?xml version="1.0" encoding="UTF-8"?>
<catalogue museum="Skerry Point">
  <exhibit number="12">
    <name>Keeper's gold watch</name>
    <origin>Given to Tobias Renn by the owners of the Amaranth, 1911</origin>
    <room>Oil store</room>
  </exhibit>
  <exhibit number="13">
    <name>Ship's figurehead, a heron</name>
    <origin>Washed ashore at Marrow Quay, 1889</origin>
    <room>Boat hall</room>
  </exhibit>
  <exhibit number="14">
    <name>Clockwork of the lens</name>
    <origin>Made in Birmingham by Chance and Sons</origin>
    <room>Clock room</room>
  </exhibit>
</catalogue>
"""
ARCHIVE = {
    "harbour-cat.txt": "The harbour cat is called Bosun. He is fed by the fish market on weekdays and by nobody on "
    "Sundays, which he resents.\n",
    "lost-property/list.csv": "found,item,where\n2024-07-14,left wellington boot,causeway\n2024-07-21,set of bagpipes,"
    "fog-signal room\n",
}
