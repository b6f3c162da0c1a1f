"""What the sample documents say: an invented lighthouse museum and harbour authority, in plain data.

Everything here is fiction written for this project. Facts are told once, each in the document where a reader
would look for it, so that a search has one right place to find it.
"""

from __future__ import annotations

GUIDE_TITLE = "Visitor Guide to Skerry Point Lighthouse"
GUIDE: list[tuple[str, list[str]]] = [
    (
        "Getting there",
        [
            "Skerry Point stands at the end of a causeway of 640 metres that the sea covers twice a day. The gate at "
            "the mainland end closes ninety minutes before high water and nobody is let across after that. Visitors "
            "who miss the last crossing sleep in the old fog-signal room, where twelve bunks are kept made up.",
            "The number 7 bus from Marrow Quay stops at the gate every forty minutes between April and October.",
        ],
    ),
    (
        "The tower",
        [
            "The tower is 41 metres high and has 197 steps. It was designed by Ishbel Tarrant and first lit on the "
            "third of November 1874. The walls are of grey Corran granite, three metres thick at the base.",
            "The first-order Fresnel lens weighs 2.7 tonnes and floats in a bath of mercury, so that a child can turn "
            "it with one finger. It has been covered since 2009, when the mercury was sealed.",
        ],
    ),
    (
        "Tickets",
        ["Tickets are sold at the gatehouse only. Children under six and lifeboat volunteers come in free."],
    ),
]
TICKETS = [
    ["Ticket", "Summer price", "Winter price", "Valid for"],
    ["Adult", "£9.50", "£7.00", "one crossing"],
    ["Concession", "£6.00", "£4.50", "one crossing"],
    ["Family of five", "£24.00", "£18.00", "one day"],
    ["Night tour", "£15.00", "not offered", "Fridays in July"],
]

BULLETIN_TITLE = "Skerry Bay Tide Bulletin"
BULLETIN_LEFT = [
    "The spring tides of March were the highest measured at the Marrow Quay gauge since it was put in. On the night "
    "of the twelfth the water stood at 6.84 metres above chart datum and came through the doors of the net store.",
    "Harbour engineers believe that a low of 958 hectopascals lifted the sea by about half a metre more than the "
    "tables foretold.",
]
BULLETIN_RIGHT = [
    "Masters of vessels drawing more than 3.2 metres are asked to wait for the pilot at the Gannet buoy. The pilot "
    "boat Petrel keeps watch on channel 12 from two hours before high water.",
    "Dredging of the inner basin begins in June. The spoil goes to the ground four miles south of Skerry Point.",
]

KEEPERS_LOG = [
    "KEEPER'S LOG - SKERRY POINT - JANUARY 1911",
    "",
    "14 Jan. Wind north-west, force nine. Lamp lit at",
    "4.10 in the afternoon. At two in the morning the",
    "schooner Amaranth struck the Sow Rock. Assistant",
    "keeper Tobias Renn went down the east stair with",
    "a line and brought off seven men and a cat.",
    "",
    "15 Jan. Sea still very high. The seven are in the",
    "oil store. Captain Oduya asks that the owners in",
    "Lisbon be told. Cargo was cork and lemons.",
    "",
    "16 Jan. Relief boat could not land. Flour for",
    "nine days. Lemons in every rock pool.",
]

STATUTES_TITLE = "Statutes of the Skerry Bay Harbour Authority"
STATUTES: list[tuple[str, list[str]]] = [
    (
        "Membership of the Board",
        [
            "The Board has nine members. Five are elected by the holders of berths, three are named by the parish "
            "council, and one is chosen by the crew of the lifeboat. A member serves four years and may serve twice.",
            "The harbour master attends every meeting of the Board but has no vote.",
        ],
    ),
    (
        "Harbour dues",
        [
            "Dues are paid by the length of the vessel, measured over all. A vessel that shelters from weather pays "
            "nothing for the first two nights.",
        ],
    ),
    (
        "Dissolution",
        [
            "Should the Authority be dissolved, its boats and moorings pass to the parish, and the lens of Skerry "
            "Point passes to the National Museum of Navigation.",
        ],
    ),
]
DUES = [
    ["Length over all", "Per night", "Per year"],
    ["up to 8 m", "£14", "£610"],
    ["8 m to 12 m", "£21", "£980"],
    ["12 m to 18 m", "£34", "£1,640"],
    ["over 18 m", "by agreement", "by agreement"],
]
STATUTES_NOTE = "The lifeboat seat was added by the resolution of 6 May 1953, after the loss of the lifeboat Constance."

SEASON_SLIDES: list[tuple[str, list[str], str]] = [
    (
        "Season 2024 in brief",
        ["31,480 visitors crossed the causeway", "Night tours sold out in nine days", "Two rescues, nobody hurt"],
        "Say that the number is up eleven per cent on the year before and thank the gatehouse team by name.",
    ),
    (
        "What visitors asked for",
        ["A lift to the gallery: not possible in a listed tower", "Longer café hours", "Signs in Welsh and French"],
        "The trustees already agreed to the signs. Do not promise the café hours before the budget meeting.",
    ),
    (
        "Plans for 2025",
        ["Open the keepers' garden", "Repaint the gallery rail in heritage red", "Replace the gate motor"],
        "The gate motor is the only item that cannot wait: the maker gives it one more winter.",
    ),
]

BUOYS = [
    ["name", "colour", "light", "latitude", "longitude", "depth_m", "last_serviced"],
    ["Gannet", "red and white", "Iso 4s", "54.6121", "-3.5904", "18.5", "2024-04-16"],
    ["Sow Rock", "black and red", "Fl(2) 10s", "54.6043", "-3.6017", "9.0", "2024-05-02"],
    ["Inner Spit", "green", "Q G", "54.6188", "-3.5731", "4.2", "2023-09-28"],
    ["Kittiwake", "yellow", "Fl Y 5s", "54.5990", "-3.6240", "27.0", "2024-05-03"],
    ["Old Bell", "red", "unlit, bell", "54.6202", "-3.5688", "3.1", "2022-08-11"],
]

POLICY = """---
title: Boat Hire Policy
author: Maud Ellery
date: 2024-02-19
tags: [boats, hire, safety]
---

# Boat Hire Policy

Rowing boats are hired by the hour from the slip at Marrow Quay.

## Who may hire

- Anyone of eighteen or over with a *deposit of £40*
- Younger people with an adult in the boat
  - at most two under twelve in one boat
  - life jackets worn, not carried
- Nobody after a glass at the Three Herons

## When hire stops

1. When the wind passes **force four**
2. When fog hides the Inner Spit buoy
3. One hour before sunset, whatever the weather

| Boat | Seats | Colour |
| --- | --- | --- |
| Puffin | 4 | blue |
| Sheldrake | 6 | ochre |
| Tern | 3 | white |

The hire clerk writes each departure in the book:

```text
time out | boat | name | souls aboard | time back
```
"""

SIGNALS = """\
===================
Fog Signal Handbook
===================

:Author: Workshop of the Harbour Authority
:Date: 2023-11-07

The diaphone
============

The diaphone gives one blast of four seconds every ninety seconds. It needs air at 2.4 bar, which the two
Hornsby engines make in eleven minutes from cold.

.. note::

   Never stand before the trumpet while the compressor runs. The blast has been heard at a distance of
   nineteen miles.

When it fails
-------------

1. Close the main valve.
2. Drain the receiver.
3. Ring the hand bell, five strokes a minute, until the engines are back.

.. code-block:: text

   valve A -> receiver -> diaphone
   valve B -> hand pump

+----------+--------------+
| Engine   | Oil change   |
+==========+==============+
| Hornsby 1| 200 hours    |
+----------+--------------+
| Hornsby 2| 150 hours    |
+----------+--------------+
"""

MINUTES = """\
#+TITLE: Minutes of the Friends of the Lighthouse
#+AUTHOR: Pell Anstey
#+DATE: 2024-09-30

* Present
  Pell Anstey (chair), Maud Ellery, Joss Okonjo, Rhea Tarrant

* The garden wall
  The north wall of the keepers' garden leans by eleven centimetres. Joss knows a mason in Corran who will rebuild
  it in lime for £3,850. Agreed, with one voice against.

* Actions
  - [X] Write to the mason (Joss)
  - [ ] Ask the parish for half of the cost (Maud)
  - [ ] Find a home for the goat (Rhea)

| Item        | Amount |
|-------------+--------|
| In the bank | £5,212 |
| Promised    | £1,400 |
"""

RADIO_LOG = """\
MARROW QUAY RADIO - WATCH LOG - 21 AUGUST 2024

08:02 Petrel reports on station at the Gannet buoy.
08:40 Yacht Windhover asks for a berth, 11 metres, two nights. Given berth C14.
10:15 Trawler Corran Lass: net round the propeller, drifting two miles west of Sow Rock.
10:19 Lifeboat Constance II launched, coxswain Freya Oduya.
11:26 Corran Lass in tow. No injuries.

13:05 School party of 28 stranded on the causeway by the tide table of the wrong year. Walked back dry.
15:50 Wind rising, south-west six. Small craft called in.

Watch closed 18:00. Relieved by D. Sandiford.
"""

NOTICE = [
    "NOTICE TO MARINERS No. 17",
    "The light at Skerry Point will show",
    "RED instead of WHITE from 1 October",
    "until the repair of the lens clockwork.",
    "Range reduced to 9 nautical miles.",
    "Harbour Master, Marrow Quay",
]
TELEGRAMS = [
    [
        "TELEGRAM  15 JANUARY 1911",
        "OWNERS AMARANTH LISBON",
        "SHIP LOST SOW ROCK ALL SAVED",
        "CARGO LOST CAT SAFE ODUYA",
    ],
    ["TELEGRAM  17 JANUARY 1911", "KEEPER SKERRY POINT", "OWNERS THANK RENN AND SEND", "GOLD WATCH BY NEXT PACKET"],
]
PLAQUE = ["IN MEMORY OF THE CREW", "OF THE LIFEBOAT CONSTANCE", "LOST 2 FEBRUARY 1953", "THEY PUT OUT THREE TIMES"]
