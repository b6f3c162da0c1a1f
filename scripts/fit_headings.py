"""Fits the weights of the PDF headings' odds by looks, and reports what they are worth on documents not seen.

    python -m scripts.fit_headings CORPUS SCORER [--json OUT]

CORPUS holds pages/pdfs/NAME.pdf and pages/gt/NAME.md, whose headings are the truth; SCORER is a Python file with the
function `score((truth_path, prediction_path, max_cells))`. Every document is read by geometry alone (profile `fast`).
The scores reported come from folds by document: each is written with weights that were fitted on the other folds.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from engine.document import to_markdown
from engine.extract import Context
from engine.extract.pdf import document as reader
from engine.extract.pdf import heading_chance, headings
from engine.extract.pdf.blocks import PageLayout, TextBlock
from engine.extract.pdf.looks import Looks, page_looks
from engine.extract.pdf.profile import DocumentProfile
from engine.settings import Settings

STRENGTH = 1.0  # inverse of the penalty on the weights
FOLDS, REPEATS = 5, 4
MAX_CELLS = 150
MEASURES = ("overall", "order", "headings")
Judged = tuple[Looks, bool]
Fit = tuple[tuple[float, ...], float]  # weights, bias


def fit_looks(judged: Sequence[Judged]) -> Fit:
    """Odds of being a heading by looks. What is vetoed has no say."""
    open_to_doubt = [(looks, is_heading) for looks, is_heading in judged if not looks.vetoed]
    inputs = np.array([astuple(looks)[1:] for looks, _ in open_to_doubt], dtype=float)
    model = LogisticRegression(C=STRENGTH, max_iter=5000).fit(inputs, [is_heading for _, is_heading in open_to_doubt])
    return tuple(round(float(w), 2) for w in model.coef_[0]), round(float(model.intercept_[0]), 3)


def named(fit: Fit) -> dict[str, float]:
    """The weights by the names of the fields of Looks, and the bias."""
    weights, bias = fit
    return {**{f.name: w for f, w in zip(fields(Looks)[1:], weights, strict=True)}, "bias": bias}


def titles_of(truth: Path) -> set[str]:
    """The headings of a Markdown file, to compare with by `is_title`."""
    return {_key(t) for t in re.findall(r"^#+ (.*)$", truth.read_text("utf-8"), re.MULTILINE)}


def is_title(text: str, titles: set[str]) -> bool:
    """Whether a text is one of the titles, or one begins or ends with the other: titles broken over two lines are
    cut in some truths, and numbers stand apart in others."""
    key = _key(text)
    return any(key == t or _shares(key, t) for t in titles)


def _shares(key: str, title: str) -> bool:
    if min(len(key), len(title)) <= 6 or len(title) < 0.3 * len(key):
        return False
    return key.startswith(title) or title.startswith(key) or key.endswith(title)


def _key(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


@dataclass(slots=True)
class _Reader:
    """Reads documents with weights of choice, and scores what comes out."""

    corpus: Path
    score: Any
    scratch: Path

    def read(self, name: str) -> str:
        settings = Settings.model_validate({"extraction": {"profile": "fast"}})
        path = self.corpus / "pages" / "pdfs" / f"{name}.pdf"
        return to_markdown(reader.extract(path, Context("pdf", path.name, settings, self.scratch)))

    def judged(self, name: str) -> list[Judged]:
        """Every block of a document, and whether it is a heading in truth."""
        seen: list[Judged] = []
        titles = titles_of(self.truth(name))

        def watch(layout: PageLayout, profile: DocumentProfile) -> list[Looks | None]:
            found = page_looks(layout, profile)
            for block, looks in zip(layout.blocks, found, strict=True):
                if looks is not None and isinstance(block, TextBlock):
                    seen.append((looks, is_title(block.text, titles)))
            return found

        headings.page_looks = watch
        self.read(name)
        headings.page_looks = page_looks
        return seen

    def truth(self, name: str) -> Path:
        return self.corpus / "pages" / "gt" / f"{name}.md"

    def scores(self, name: str, fit: Fit) -> dict[str, float]:
        heading_chance.WEIGHTS, heading_chance.BIAS = fit  # pyright: ignore[reportAttributeAccessIssue]
        written = self.scratch / f"{name}.md"
        written.write_text(self.read(name), "utf-8")
        return self.score((self.truth(name), written, MAX_CELLS))


def by_folds(reading: _Reader, judged: dict[str, list[Judged]]) -> dict[str, Any]:
    """Mean scores over folds and repeats; the spread over the folds of a repeat (mean) and of the repeats' means."""
    names = sorted(judged)
    rows: list[list[dict[str, float]]] = []
    for seed in range(REPEATS):
        parts: list[dict[str, float]] = []
        for train, test in KFold(FOLDS, shuffle=True, random_state=seed).split(names):
            fit = fit_looks([one for n in train for one in judged[names[n]]])
            parts.append(means([reading.scores(names[n], fit) for n in test]))
        rows.append(parts)
    return {
        measure: {
            "mean": round(statistics.fmean(p[measure] for parts in rows for p in parts), 4),
            "spread_over_folds": round(
                statistics.fmean(statistics.stdev(p[measure] for p in parts) for parts in rows), 4
            ),
            "spread_over_repeats": round(
                statistics.stdev(statistics.fmean(p[measure] for p in parts) for parts in rows), 4
            ),
        }
        for measure in MEASURES
    }


def means(scores: Sequence[dict[str, float]]) -> dict[str, float]:
    return {m: statistics.fmean(s[m] for s in scores if m in s) for m in MEASURES}


def load_scorer(path: Path) -> Any:
    """The function `score` of a Python file."""
    spec = importlib.util.spec_from_file_location("scorer", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"not a Python file: {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.score


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("scorer", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        reading = _Reader(options.corpus, load_scorer(options.scorer), Path(scratch))
        judged = {p.stem: reading.judged(p.stem) for p in sorted((options.corpus / "pages" / "gt").glob("*.md"))}
        fit = fit_looks([one for found in judged.values() for one in found])
        report = {
            "heading_chance.WEIGHTS, BIAS": named(fit),
            "in the constants' order": [*fit[0], fit[1]],
            "seen": means([reading.scores(name, fit) for name in judged]),
            "not seen": by_folds(reading, judged),
        }
    for name, value in report.items():
        sys.stdout.write(f"{name} {json.dumps(value)}\n")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1), "utf-8")


if __name__ == "__main__":
    main()
