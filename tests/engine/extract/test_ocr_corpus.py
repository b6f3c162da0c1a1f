"""Character accuracy of OCR on pictures with known transcripts, beside either engine alone."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections import defaultdict
from pathlib import Path

import pytest

from engine.ocr import installed_languages
from engine.plain_text import to_text
from engine.settings import Settings
from jobs.extract_file import extract_file

CORPUS = Path(__file__).resolve().parents[3] / "../shared/corpora/ocr"
# The better of the two engines alone, as measured on these pictures: Tesseract as this product runs it, or rapidocr.
ALONE = {
    "clean print": 0.9927,
    "handwriting": 0.4814,
    "historic print": 0.8344,
    "low quality": 0.9014,
    "mixed script": 0.9745,
    "multi-page": 1.0,
    "rotated": 1.0,
    "scene text": 0.8182,
    "table": 0.5993,
    "typewriter": 0.7706,
}
MEAN_ALONE = 0.7086
_MARGIN = 0.005


def folded(text: str) -> str:
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text).replace("\u017f", "s"))


def distance(a: str, b: str) -> int:
    """Levenshtein's edit distance."""
    row = list(range(len(b) + 1))
    for n, left in enumerate(a, 1):
        before, row[0] = row[0], n
        for m, right in enumerate(b, 1):
            before, row[m] = row[m], min(row[m] + 1, row[m - 1] + 1, before + (left != right))
    return row[-1]


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.exists(), reason="the shared corpora are not here")
@pytest.mark.skipif(not {"eng", "deu", "fra", "chi_sim", "kor"} <= installed_languages(), reason="languages missing")
def test_every_kind_is_read_at_least_as_well_as_by_the_better_engine_alone() -> None:
    settings = Settings.model_validate({"pipeline": {"isolation": False}})
    found: dict[str, list[float]] = defaultdict(list)
    for row in csv.DictReader((CORPUS / "manifest.csv").open(encoding="utf-8")):
        path = CORPUS / Path(row["path"]).name
        truth = folded(path.with_name(f"{path.name}.gt.txt").read_text("utf-8"))
        text = "".join(to_text(p.document) for p in extract_file(path, settings) if p.document)
        found[row["kind"]].append(max(0.0, 1 - distance(truth, folded(text)) / len(truth)))
    means = {kind: sum(values) / len(values) for kind, values in found.items()}
    worse = {kind: round(mean, 4) for kind, mean in means.items() if mean < ALONE.get(kind, 0.0) - _MARGIN}
    assert worse == {}
    every = [value for values in found.values() for value in values]
    assert sum(every) / len(every) > MEAN_ALONE + 0.1
