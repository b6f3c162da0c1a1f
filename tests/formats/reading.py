"""Reads the shared documents of many formats through the product's own path, each once a session."""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from functools import cache
from pathlib import Path

from engine.document import walk
from engine.records import ExtractedDocument, Prepared, StructureElement
from engine.settings import Settings
from jobs.extract_file import extract_file, markdown_of

FORMATS = Path(__file__).resolve().parents[2] / "../shared/corpora/formats"
Row = dict[str, str]


@cache
def rows() -> dict[str, Row]:
    """The manifest's rows by file name; none where the documents are not there."""
    if not FORMATS.exists():
        return {}
    with (FORMATS / "manifest.csv").open(encoding="utf-8") as file:
        return {row["path"]: row for row in csv.DictReader(file)}


def rows_of(*formats: str) -> dict[str, Row]:
    return {name: row for name, row in rows().items() if row["format"] in formats}


@cache
def read(name: str, password: bool = True) -> list[Prepared]:
    """The document and those inside it, outer first: detected, sanitised, extracted, chunked.

    `password=False` withholds the password that the manifest names.
    """
    named = re.match(r"password:? (\w+)", rows()[name]["expect_other"])
    settings = Settings.model_validate(
        {"pipeline": {"isolation": False}, "password": [named[1]] if named and password else []}
    )
    return extract_file(FORMATS / name, settings)


def document(name: str, password: bool = True) -> ExtractedDocument:
    """The outer document's tree. An assertion fails, with the reason, when it could not be read."""
    outer = read(name, password)[0]
    assert outer.failure is None, outer.failure
    assert outer.document is not None, outer.skip_reason
    return outer.document


def failure_code(name: str, password: bool = True) -> str:
    """The code of the outer document's failure, "" when it was read."""
    failure = read(name, password)[0].failure
    return str(failure.code) if failure else ""


def markdown(name: str, password: bool = True) -> str:
    """What `corpus extract NAME --markdown` prints."""
    return markdown_of(read(name, password))


def elements(found: ExtractedDocument, *types: str) -> list[StructureElement]:
    """Every element (of these types) in source order."""
    return [e for e in walk(found.structure) if not types or e.type in types]


def texts(found: ExtractedDocument, *types: str) -> list[str]:
    return [e.content for e in elements(found, *types) if e.content]


def folded(text: str) -> str:
    """As the corpus's own checker compares: compatible forms alike, no white space, no hyphens."""
    text = unicodedata.normalize("NFKC", text).replace("\u017f", "s")
    return re.sub(r"[\s\u00ad\u2010-\u2015\u2212-]+", "", text)


def missing(name: str) -> list[str]:
    """The strings that the manifest expects and the text lacks."""
    got = folded(markdown(name))
    return [s for s in json.loads(rows()[name]["expect_contains"]) if folded(s) not in got]


def forbidden(name: str) -> list[str]:
    """The strings that the manifest forbids and the text has."""
    got, plain = folded(markdown(name)), markdown(name)
    return [s for s in json.loads(rows()[name]["expect_absent"]) if (folded(s) in got if folded(s) else s in plain)]
