"""Predicts the time of high water at Marrow Quay from the moon's transit."""

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
