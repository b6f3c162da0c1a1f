"""The strings that the shared documents are expected to give, and those they must not, over the whole corpus."""

from __future__ import annotations

import json
from collections import defaultdict

import pytest
from formats.reading import FORMATS, folded, markdown, missing, read, rows

pytestmark = [
    pytest.mark.shared,
    pytest.mark.slow,
    pytest.mark.skipif(not FORMATS.exists(), reason="needs the shared documents"),
]
OVERALL, PER_FORMAT = 0.98, 0.95


def test_expected_strings_are_found() -> None:
    """Counted as the corpus's own checker counts; passwords given, pages without a text layer read by OCR."""
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    lost: dict[str, list[str]] = {}
    for name, row in rows().items():
        wanted = len(json.loads(row["expect_contains"]))
        absent = missing(name)
        found[row["format"]][0] += wanted - len(absent)
        found[row["format"]][1] += wanted
        if absent:
            lost[name] = absent
        read.cache_clear()  # the whole corpus does not fit into memory
    shares = {name: good / wanted for name, (good, wanted) in found.items() if wanted}
    assert {name: share for name, share in shares.items() if share < PER_FORMAT} == {}, lost
    assert sum(good for good, _ in found.values()) >= OVERALL * sum(wanted for _, wanted in found.values()), lost


def test_no_forbidden_string_comes_out() -> None:
    """A forbidden sign that folding turns into ordinary letters is looked for as it is: its letters are the text."""
    caught: dict[str, list[str]] = {}
    for name, row in rows().items():
        unwanted = json.loads(row["expect_absent"])
        if not unwanted:
            continue
        text = markdown(name)
        quoted = QUOTED.get(name, "")
        text = text.replace(quoted, "") if quoted else text
        seen = [s for s in unwanted if s in text or (s.isascii() and folded(s) and folded(s) in folded(text))]
        if seen:
            caught[name] = seen
    assert caught == {}


# The page itself speaks of the forbidden string, in one sentence.
QUOTED = {"un__fake-bold-sample.pdf": "like 'BBOOLLDD' instead of 'BOLD'."}
