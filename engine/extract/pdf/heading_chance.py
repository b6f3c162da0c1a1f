"""How likely a block is a heading by its looks: a logistic regression over some fifteen figures.

`headings` decides by it; the `router` wants to know how far from certain that is; and beside the layout model it
gives geometry a voice of the right weight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from operator import attrgetter

from engine.extract.pdf.looks import Looks
from engine.extract.pdf.model import Line, Run

# Fitted by scripts/fit_headings.py on the blocks of 100 redrawn benchmark pages, in the order of Looks' fields
# but the first.
WEIGHTS = (-1.32, 0.64, 4.35, 0.74, -0.28, -0.27, -1.12, 0.41, -0.91, -0.79, 0.99, 1.53, 0.35, -0.02, 1.33)
BIAS = -4.493
LEAST = -0.85  # log-odds from which on a block is taken for a heading: missing one costs more than a false one
VETO = -4.0  # log-odds of what cannot be a heading by its looks
# Fitted by scripts/fit_router.py: of the odds by looks and of the layout model's, where it was asked; and the bias.
LOOKS, MODEL, BOTH_BIAS = 0.862, 0.689, 0.825
_figures = attrgetter(*(f.name for f in fields(Looks)[1:]))
_SURE = 0.01  # a probability is taken for no smaller and no larger (1 - this)


def looks_odds(looks: Looks) -> float:
    """Log-odds of being a heading by looks alone."""
    return weighed(looks, WEIGHTS, BIAS)


def weighed(looks: Looks, weights: Sequence[float], bias: float) -> float:
    """Log-odds by given weights, one for every field of Looks but the first."""
    if looks.vetoed:
        return VETO
    return bias + sum(w * float(x) for w, x in zip(weights, _figures(looks), strict=True))


def chance(looks: Looks) -> float:
    """Probability of being a heading by looks alone."""
    return 1 / (1 + math.exp(-looks_odds(looks)))


def model_odds(lines: Sequence[Line]) -> float | None:
    """Log-odds that the lines are a title or a heading, after the layout model; None when it was not asked."""
    runs = [run for line in lines for run in line.runs]
    if not any(run.region for run in runs):
        return None
    letters = sum(len(run.text) for run in runs)
    likely = sum(len(run.text) * _heading(run) for run in runs) / max(letters, 1)
    likely = min(max(likely, _SURE), 1 - _SURE)
    return math.log(likely / (1 - likely))


def _heading(run: Run) -> float:
    return run.region.heading if run.region else 0.0


def is_heading_by_both(looks: Looks, odds: float | None) -> bool:
    """Whether a block is a heading by looks and by the layout model; by looks alone where it was not asked."""
    return looks_odds(looks) > LEAST if odds is None else LOOKS * looks_odds(looks) + MODEL * odds + BOTH_BIAS > 0
