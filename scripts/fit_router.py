"""Fits the weights of the PDF headings' odds and of the router that sends pages to the layout model.

    python -m scripts.fit_router CORPUS SCORER [--json OUT] [--cache FILE] [--threshold T]

CORPUS holds pages/ and tables/, each with pdfs/NAME.pdf and gt/NAME.md; SCORER is a Python file with the function
`score((truth_path, prediction_path, max_cells))`, which gives "overall" (or "tables") between 0 and 1.

1. Every document is read by geometry alone and with the model on every page. From their blocks come the odds of being
   a heading by looks (logistic, truth: the headings of the Markdown), and those odds' weight beside the model's, from
   odds that other folds of the documents gave: constants of `engine/extract/pdf/heading_chance.py`.
2. Every document is read again, its odds by looks from the other folds, as a new document would be. The difference
   that the model makes then is what the router learns to foretell (ridge): constants of `router.py`.

The scores reported are those of step 2, the router's from folds by document too. --cache keeps the model's answers,
which do not depend on the geometry; --json writes everything, with quality over cost as the threshold moves.
"""

from __future__ import annotations

import argparse
import json
import pickle
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold

from engine.extract.pdf import heading_chance
from engine.extract.pdf.confidence import Doubts, doubts_of
from engine.extract.pdf.heading_chance import VETO
from engine.extract.pdf.looks import Looks
from engine.extract.pdf.router import model_cost
from scripts.layout_samples import MEASURE, Sample, samples

STRENGTH = 1.0  # inverse of the penalty on the weights of the odds
RIDGE = 3.0  # on standardised inputs
FOLDS, REPEATS = 5, 4


# ---------------------------------------------------------------- the fits
@dataclass(slots=True)
class ByLooks:
    """Odds of being a heading by looks, as `heading_chance` computes them."""

    weights: np.ndarray
    bias: float

    def odds(self, looks: Sequence[Looks]) -> np.ndarray:
        free = _figures(looks) @ self.weights + self.bias
        return np.where([x.vetoed for x in looks], VETO, free)


def _figures(looks: Sequence[Looks]) -> np.ndarray:
    """All but the veto, which is no matter of weight."""
    return np.array([astuple(x)[1:] for x in looks], dtype=float).reshape(len(looks), len(fields(Looks)) - 1)


def fit_looks(found: Sequence[Sample]) -> ByLooks:
    blocks = [b for s in found for b in s.blocks if s.has_truth and not b.looks.vetoed]
    model = LogisticRegression(C=STRENGTH, max_iter=5000)
    model.fit(_figures([b.looks for b in blocks]), [b.is_heading for b in blocks])
    return ByLooks(model.coef_[0], float(model.intercept_[0]))


def fit_looks_by_fold(found: Sequence[Sample]) -> dict[str, ByLooks]:
    """For each document the odds that the other folds give."""
    fits: dict[str, ByLooks] = {}
    for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(found):
        by_looks = fit_looks([found[n] for n in train])
        fits.update({found[n].name: by_looks for n in test})
    return fits


def fit_both(found: Sequence[Sample], fits: Mapping[str, ByLooks]) -> list[float]:
    """Weights of the odds by looks and of the model's odds, and bias."""
    judged = [(b, fits[s.name].odds([b.looks])[0]) for s in found for b in s.guided if s.has_truth]
    inputs = np.array([[odds, b.odds] for b, odds in judged])
    model = LogisticRegression(max_iter=5000).fit(inputs, [b.is_heading for b, _ in judged])
    return [round(float(v), 3) for v in (*model.coef_[0], model.intercept_[0])]


def read_as_new(
    options: argparse.Namespace, cache: dict[Any, Any], fits: Mapping[str, ByLooks], both: list[float]
) -> list[Sample]:
    """The documents read with weights of other folds; those without a truth about headings, with the module's own."""
    own = (heading_chance.WEIGHTS, heading_chance.BIAS)
    heading_chance.LOOKS, heading_chance.MODEL, heading_chance.BOTH_BIAS = both

    def prepare(name: str) -> None:
        heading_chance.WEIGHTS, heading_chance.BIAS = own
        if name in fits:
            heading_chance.WEIGHTS, heading_chance.BIAS = tuple(fits[name].weights), fits[name].bias

    found = samples(options.corpus, options.scorer, cache, prepare)
    heading_chance.WEIGHTS, heading_chance.BIAS = own
    return found


def inputs_of(found: Sequence[Sample], by_looks: ByLooks) -> np.ndarray:
    """The router's inputs, one row a page that reached it; documents here have one such page."""
    rows: list[tuple[float, ...]] = []
    for sample in found:
        seen = [b.looks for b in sample.blocks]
        chances = 1 / (1 + np.exp(-by_looks.odds(seen))) if seen else []
        rows.append(doubts_of(sample.layout, seen, [float(p) for p in chances]).values())
    return np.array(rows)


def fit_gain(inputs: np.ndarray, gains: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights on the raw inputs, and bias."""
    mean, spread = inputs.mean(axis=0), inputs.std(axis=0) + 1e-9
    model = Ridge(alpha=RIDGE).fit((inputs - mean) / spread, gains)
    weights = model.coef_ / spread
    return weights, float(model.intercept_ - weights @ mean)


# ---------------------------------------------------------------- what it is worth
def foretold(found: Sequence[Sample], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """For every document the gain per cost foretold by fits on other documents, and the fold it was in."""
    gains = np.array([s.gain for s in found])
    costs = np.array([model_cost(s.lines) for s in found])
    worth, fold = np.zeros(len(found)), np.zeros(len(found), dtype=int)
    for number, (train, test) in enumerate(KFold(FOLDS, shuffle=True, random_state=seed).split(gains)):
        inputs = inputs_of(found, fit_looks([found[n] for n in train]))
        weights, bias = fit_gain(inputs[train], gains[train])
        worth[test], fold[test] = (inputs[test] @ weights + bias) / costs[test], number
    return worth, fold


def outcome(found: Sequence[Sample], routed: Sequence[bool]) -> dict[str, float]:
    """Mean scores, CPU over plain text, and share of documents with the model, per folder."""
    result: dict[str, float] = {}
    for folder in MEASURE:
        of = [(s, r) for s, r in zip(found, routed, strict=True) if s.folder == folder]
        plain = sum(s.seconds[0] for s, _ in of)
        result[folder] = statistics.fmean(s.with_model if r else s.without for s, r in of)
        result[f"{folder}_cost"] = sum(s.seconds[1] + (s.seconds[2] if r else 0.0) for s, r in of) / plain
        result[f"{folder}_routed"] = statistics.fmean(float(r) for _, r in of)
    return {name: round(value, 4) for name, value in result.items()}


def curve(found: Sequence[Sample], worth: np.ndarray) -> list[dict[str, float]]:
    """Quality over cost as the threshold goes from nothing routed to everything."""
    thresholds = [9.0, *(float(t) for t in np.quantile(worth, np.linspace(1, 0, 21)))]
    return [{"threshold": round(t, 5), **outcome(found, [bool(w >= t) for w in worth])} for t in thresholds]


def by_fold(found: Sequence[Sample], threshold: float) -> dict[str, Any]:
    """Mean over folds and repeats, the spread over the folds of one repeat (mean) and of the repeats' means."""
    rows: list[list[dict[str, float]]] = []
    for seed in range(REPEATS):
        worth, fold = foretold(found, seed)
        parts = [[n for n in range(len(found)) if fold[n] == number] for number in range(FOLDS)]
        rows.append([outcome([found[n] for n in part], [bool(worth[n] >= threshold) for n in part]) for part in parts])
    return {
        name: {
            "mean": round(statistics.fmean(r[name] for row in rows for r in row), 4),
            "spread_over_folds": round(statistics.fmean(statistics.stdev(r[name] for r in row) for row in rows), 4),
            "spread_over_repeats": round(statistics.stdev(statistics.fmean(r[name] for r in row) for row in rows), 4),
        }
        for name in rows[0][0]
    }


def _named(names: Sequence[Any], values: np.ndarray) -> dict[str, float]:
    return {f.name: round(float(v), 4) for f, v in zip(names, values, strict=True)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("scorer", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--threshold", type=float, default=0.006, help="expected gain for the cost of a page")
    options = parser.parse_args()
    cache: dict[Any, Any] = {}
    if options.cache and options.cache.is_file():
        cache = pickle.loads(options.cache.read_bytes())
    first = samples(options.corpus, options.scorer, cache)
    by_looks, fits = fit_looks(first), fit_looks_by_fold(first)
    both = fit_both(first, fits)
    found = read_as_new(options, cache, fits, both)
    if options.cache:
        options.cache.write_bytes(pickle.dumps(cache))
    used = ByLooks(np.array(heading_chance.WEIGHTS), heading_chance.BIAS)
    weights, bias = fit_gain(inputs_of(found, used), np.array([s.gain for s in found]))
    report = {
        "heading_chance.WEIGHTS": _named(fields(Looks)[1:], by_looks.weights),
        "heading_chance.BIAS": round(by_looks.bias, 3),
        "heading_chance.LOOKS, MODEL, BOTH_BIAS": both,
        "router.WEIGHTS": _named(fields(Doubts), weights),
        "router.BIAS": round(bias, 4),
        "fast_as_tuned": outcome(first, [False] * len(first)),
        "accurate_as_tuned": outcome(first, [True] * len(first)),
        "fast": outcome(found, [False] * len(found)),
        "accurate": outcome(found, [True] * len(found)),
        "balanced": by_fold(found, options.threshold),
        "curve": curve(found, foretold(found, 0)[0]),
        "gains": {s.name: round(s.gain, 4) for s in found if abs(s.gain) > 0.005},
    }
    for name, value in report.items():
        for line in value if name == "curve" else [value]:
            sys.stdout.write(f"{name} {json.dumps(line)}\n")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1), "utf-8")


if __name__ == "__main__":
    main()
