"""All real office files together: every row of the manifest has its check, every string is found, memory is bounded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.formats import test_sheets, test_slides, test_word
from tests.formats.reading import FORMATS, forbidden, missing, rows_of

OFFICE = ("docx", "docm", "doc", "pptx", "ppt", "xlsx", "xls", "xlsb", "ods", "odt", "odp")
CHECKED = {*test_word.CHECKS, *test_slides.CHECKS, *test_sheets.CHECKS}
# The sheet shows "12,553", and what a sheet shows is what is kept.
DISPUTED = {("un__2023-half-year-analyses-by-segment.xlsx", "12553")}

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not FORMATS.exists(), reason="the shared documents are not there"),
]


def test_every_row_that_asks_for_more_than_strings_is_checked() -> None:
    assert {name for name, row in rows_of(*OFFICE).items() if row["expect_other"]} == CHECKED


def test_expected_strings_are_found_and_forbidden_ones_not() -> None:
    lacking = {(name, text) for name in rows_of(*OFFICE) for text in missing(name)}
    assert lacking <= DISPUTED
    assert [(name, text) for name in rows_of(*OFFICE) for text in forbidden(name)] == []


@pytest.mark.slow
def test_hostile_and_large_files_stay_small_in_memory() -> None:
    """The entity bomb, the repeated strings, the inflated sheet, the merges and the 872 pages: below 500 MB."""
    names = [
        "po__poc-xmlbomb.xlsx", "po__poc-shared-strings.xlsx", "dl__xlsx_04_inflated.xlsx",
        "po__57893-many-merges.xlsx", "un__handbook-872p.docx",
    ]  # fmt: skip
    program = (
        "import resource, sys; from tests.formats.reading import read\n"
        "for name in sys.argv[1:]: read(name)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", program, *names], cwd=root, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 500
