"""Decides which pages are worth the layout model: those where it is expected to gain more than it costs.

The expected gain is a linear function of `confidence.Doubts`, fitted by `scripts/fit_router.py`: scores of pages
read with and without the model, cross-validated by document. The cost of a page grows with its lines.
"""

from __future__ import annotations

from engine.extract.pdf.confidence import Doubts
from engine.extract.pdf.layout_model import MAX_LINES
from engine.extract.pdf.model import IDENTITY, PageModel

# Fitted on 164 pages (100 redrawn benchmark pages, 64 real pages with tables), in the order of Doubts' fields.
WEIGHTS = (0.0337, 0.0112, 0.0031, -0.0025, 0.0014)
BIAS = -0.0118
THRESHOLDS = {"balanced": 0.006, "accurate": float("-inf")}  # least expected gain for the cost of an ordinary page
_PAGE_LINES = 45.0  # of an ordinary page
_MIN_WORDS = 5
_MAX_DRAWINGS = 20_000  # beyond, a map or a plan, which costs the model's text page too much time


def admits(model: PageModel) -> bool:
    """Whether the model can look at the page: upright text, not a scan's, and a bounded number of objects."""
    lines = len(model.runs) + len(model.asides)
    words = sum(len(run.words) for run in model.runs)
    turned = model.vertical or model.frame_to_page[:4] != IDENTITY[:4] or len(model.asides) > len(model.runs)
    scanned = 2 * model.hidden_characters > model.characters
    crowded = model.graphics_skipped or model.drawings > _MAX_DRAWINGS or lines > MAX_LINES
    return words >= _MIN_WORDS and not (turned or scanned or crowded)


def expected_gain(doubts: Doubts) -> float:
    """Quality (0-1, mean of order, table and heading scores) that the model is expected to add to the page."""
    return BIAS + sum(w * x for w, x in zip(WEIGHTS, doubts.values(), strict=True))


def wants_model(profile: str, doubts: Doubts, lines: int) -> bool:
    """Whether the page goes to the model. `profile`: fast, balanced, accurate; `lines`: of text on the page."""
    if profile not in THRESHOLDS:
        return False
    return expected_gain(doubts) >= THRESHOLDS[profile] * model_cost(lines)


def model_cost(lines: int) -> float:
    """CPU of the model for a page of so many lines, 1 for an ordinary page."""
    return 0.4 + 0.6 * lines / _PAGE_LINES
