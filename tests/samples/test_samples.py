"""The sample documents: complete, small, made by the code beside them, and readable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.detect import detect
from engine.errors import Code, InputError
from engine.extract import Context, extract
from engine.records import ExtractedDocument
from engine.settings import load

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
DOCUMENTS = sorted((SAMPLES / "documents").iterdir())
SETTINGS = load({}, environ={})
QUESTIONS = [json.loads(line) for line in (SAMPLES / "questions.jsonl").read_text("utf-8").splitlines()]
# One fact of every document that a reader must find in it.
FACTS = {
    "accounts-2024.xlsx": "£4,310.50", "boat-hall.html": "212 metres long", "boat-hire-policy.md": "deposit of £40",
    "buoys.csv": "2022-08-11", "catalogue.xml": "Keeper's gold watch", "complaint.eml": "£4.20",
    "deed-of-gift.rtf": "never folded", "fog-signal-handbook.rst": "2.4 bar", "friends-minutes.org": "£3,850",
    "harbour-fair.odp": "Pilot gig race", "keepers-log-1911.pdf": "Tobias Renn", "lamp.js": "four seconds",
    "notice-to-mariners.png": "RED instead of WHITE", "odds-and-ends.zip": "harbour-cat.txt", "plaque.jpg": "CONSTANCE",
    "plaque.webp": "CONSTANCE", "radio-log.txt": "berth C14", "recipes.odt": "six lemons",
    "season-2024.pptx": "one more winter", "shop-stock.ods": "Enamel mug", "sightings.jsonl": "basking shark",
    "statutes.docx": "6 May 1953", "tales.epub": "Lisboa", "telegrams.tiff": "CAT SAFE",
    "tide-bulletin.pdf": "6.84 metres",
    "tide.py": "causeway_closes", "vessels.json": "Marrow Quay", "visitor-guide.pdf": "£18.00",
    "visitors-and-weather.ipynb": "seventeen visitors", "volunteers.mbox": "Rota for the clock room",
    "winter-berths.doc": "31 pence",
}  # fmt: skip


def opened(path: Path, scratch: Path) -> ExtractedDocument:
    kind = detect(path, path.name, SETTINGS).format
    return extract(path, Context(kind, path.name, SETTINGS, scratch))


def test_the_folder_is_small_and_complete() -> None:
    assert {p.name for p in DOCUMENTS} == set(FACTS)
    assert sum(p.stat().st_size for p in SAMPLES.rglob("*") if p.is_file()) < 1_500_000
    assert len(QUESTIONS) == 20 and {q["file"] for q in QUESTIONS} <= set(FACTS)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_every_sample_says_its_fact(path: Path, tmp_path: Path) -> None:
    assert FACTS[path.name] in opened(path, tmp_path).content


@pytest.mark.parametrize(
    ("name", "code"), [("encrypted.pdf", Code.ENCRYPTED_DOCUMENT), ("truncated.docx", Code.EXTRACTION_FAILED)]
)
def test_the_bad_ones_fail_with_their_code(name: str, code: Code, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        opened(SAMPLES / "bad" / name, tmp_path)
    assert caught.value.code is code


def test_the_generator_writes_these_files(tmp_path: Path) -> None:
    from samples.make import make

    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "winter-berths.doc").touch()  # LibreOffice's work is not repeated
    make(tmp_path / "documents", tmp_path / "bad")
    assert {p.name for p in (tmp_path / "documents").iterdir()} == set(FACTS)
    for name in ("statutes.docx", "tales.epub", "complaint.eml", "vessels.json", "visitor-guide.pdf", "telegrams.tiff"):
        assert (tmp_path / "documents" / name).read_bytes() == (SAMPLES / "documents" / name).read_bytes(), name
