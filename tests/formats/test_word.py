"""Real Word and OpenDocument text files: what their rows in the manifest ask for beyond strings.

Each check was worked out from the file itself and its printed pages.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest

from engine.errors import Code
from tests.formats.office_checks import (
    after,
    empty_table,
    encrypted,
    grid,
    items,
    losses,
    outline,
    reaches_nothing,
    spans,
)
from tests.formats.reading import FORMATS, document, elements, read, texts

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not FORMATS.exists(), reason="the shared documents are not there"),
]


# ---------------------------------------------------------------- Word
def table_merges_doc(name: str) -> None:
    (table,) = document(name).tables
    assert spans(table) == {"A": (1, 3), "B": (1, 2), "E": (1, 2), "H": (1, 2), "K": (1, 5)}
    assert [c.text for c in table.cells] == ["A", "B", "C", "D", "E", "F", "", "G", "H", "I\nJ", "K"]


def macros(name: str) -> None:
    assert "macro_removed" in losses(document(name))
    reaches_nothing(name)


def checkboxes(name: str) -> None:
    found = document(name)
    drinks, food = (row[0] for row in found.tables[0].rows[1:])
    assert re.findall("[☒☐]", drinks) == list("☒☐☒☐☒")
    assert re.findall("[☒☐]", food) == list("☒☐☒☒")
    tasks = [t for t in texts(found) if t[0] in "☒☐"]
    assert [t[:4] for t in tasks] == ["☒ De", "☒ Im", "☐ Do"]


def comments(name: str) -> None:
    found = document(name)
    first, second, third = elements(found, "comment")
    assert first.content == "John Reviewer: This is a sample reviewer comment on the first paragraph."
    assert second.content == "Jane Editor: Another comment by a different reviewer."
    assert third.content == "Anonymous feedback on this paragraph."
    assert after(found, "This is the first paragraph") is first
    assert not any("sample reviewer" in t for t in texts(found, "paragraph"))


def external_image(name: str) -> None:
    found = document(name)
    assert losses(found) & {"external_reference", "external_reference_removed"}
    assert texts(found, "paragraph")[1:] == ["This paragraph comes after the external image."]
    reaches_nothing(name)


def header_footer(name: str) -> None:
    found = document(name)
    assert texts(found, "page_header") == ["FIRST PAGE HEADER (page 1 only)", "REGULAR HEADER (page 2 onward)"]
    assert texts(found, "page_footer") == ["FIRST PAGE FOOTER (page 1 only)", "REGULAR FOOTER (page 2 onward)"]
    assert "PAGE HEADER" not in found.content
    assert "FOOTER" not in found.content


def rich_cells(name: str) -> None:
    found = document(name)
    outer = [e for e in elements(found, "table") if "inside" not in e.attributes]
    nested = [e for e in elements(found, "table") if "inside" in e.attributes]
    assert len(outer) == 7
    assert [e.attributes["inside"] for e in nested] == ["row 3, column 1", "row 3, column 2"]
    assert all(grid(e.table) == [["A", "B", "C"], ["Cell 1", "Cell 2", "Cell 3"]] for e in nested if e.table)
    assert outer[0].table is not None
    assert outer[0].table.rows[0][0].split("\n") == ["This is a list:", "- A First", "- A Second", "- A Third"]


def equations(name: str) -> None:
    text = document(name).content
    for latex in (
        "an inline equation: $A=πr^{2}$.",
        "The formula $a^{2}+b^{2}=c^{2}$ is the Pythagorean theorem.",
        r"\sum_{n=1}^{∞} (a_{n}\cos \frac{nπx}{L}+b_{n}\sin \frac{nπx}{L})",
        r"\sum_{k=0}^{n} \binom{n}{k}x^{k}a^{n-k}",
        r"\lim_{n} (1+\frac{1}{n})^{n}",
        r"\underbrace{S⋅T⋅G⋅(x+y+z)}_{group with underbraces}",
    ):
        assert latex in text
    line = text.index("$$a^{2}+b^{2}=c^{2}")
    assert text.index("I can do this:") < line < text.index("And that is an equation by itself")


def textbox(name: str) -> None:
    found = texts(document(name))
    for once in ("Student falls ill", "Health Bureau:", "Case closed.", "Whether the epidemic has eased."):
        assert sum(once in t for t in found) == 1
    assert found.index("Student falls ill") > 1  # after the two lines of the title


def numbered_headings(name: str) -> None:
    found = outline(document(name))
    assert found == [
        (1, "Test Document"), (1, "1. Section 1"), (2, "1.1. Section 1.1"), (2, "1.2. Section 1.2"),
        (3, "1.2.1. Section 1.2.3"), (1, "2. Section 2"), (3, "2.1.1. Section 2.1.1"), (2, "2.2. Section 2.1"),
        (2, "REFERENCES"),
    ]  # fmt: skip
    (second,) = [e for e in document(name).structure if e.content == "2. Section 2"]
    assert [c.content for c in second.children if c.type == "heading"] == [
        "2.1.1. Section 2.1.1", "2.2. Section 2.1", "REFERENCES",
    ]  # fmt: skip


def word_tables(name: str) -> None:
    """The manifest counts five; the file holds seven, the last two of two rows each."""
    tables = document(name).tables
    assert len(tables) == 7
    assert spans(tables[0]) == {}
    assert spans(tables[1]) == {"Merged Cell 1.1 1.2": (1, 2), "Merged Cell 2.1 2.2": (1, 2)}
    assert spans(tables[2]) == {"Merged Cell 1.1 1.2": (1, 2), "Merged Cell 2.1 2.2": (1, 2)}
    assert spans(tables[3]) == {"Merged Cell 1.1 2.1": (2, 1), "Merged Cell 3.1 4.1": (2, 1)}
    assert spans(tables[4])["Merged Cell 4.4 5.4"] == (2, 1)
    assert (1, 5) in {(c.rowspan, c.colspan) for c in tables[4].cells}
    assert len(grid(tables[4])) == 9
    assert grid(tables[5]) == [["Header 0.0", "Header 0.1"], ["", "Cell 1.1"]]
    assert spans(tables[6]) == {"Merged Cell 0.2 1.2": (2, 1)}
    assert all(sum(c.text == t for c in table.cells) == 1 for table in tables for t in spans(table))


def hyperlinks(name: str) -> None:
    assert texts(document(name)) == [
        "No hyperlinks",
        "One awesome hyperlink.",
        "Three hyperlinks: the first one here, the second one, and the third.",
    ]


def not_a_zip(name: str) -> None:
    failure = read(name)[0].failure
    assert failure is not None
    assert failure.code == Code.EXTRACTION_FAILED
    assert "plain text" in failure.message
    assert "Traceback" not in failure.message
    assert read(name)[0].chunks == []


def paper(name: str) -> None:
    found = document(name)
    (table,) = found.tables
    assert [len(row) for row in grid(table)] == [6] * 5
    assert table.rows[1][2] == "49e168b7-d2ae-407f-a055-2167576f39a1"
    assert after(found, "Here is a random table").table is table


def complex_lists(name: str) -> None:
    shown = items(document(name))
    assert shown[:7] == [
        "1. Entry #1", "2. Entry #2, with children", "a. 2-a", "b. 2-b", "c. 2-c", "3. Entry #3", "4. Entry #4",
    ]  # fmt: skip
    assert "10. Jump to new list at 10" in shown
    assert shown[-2:] == ["12. Carrying on @ 12", "13. Carrying on @ 13"]


def entity(name: str) -> None:
    found = document(name)
    assert texts(found) == ['Here should not be the POI web site: ""']
    assert "entity_ignored" in losses(found)
    reaches_nothing(name)


def clean_outcome(name: str) -> None:
    start = time.monotonic()
    failure = read.__wrapped__(name)[0].failure
    assert time.monotonic() - start < 30
    assert failure is None or failure.code in {Code.EXTRACTION_FAILED, Code.LIMIT_EXCEEDED}


def tracked_changes(name: str) -> None:
    found = document(name)
    assert "pendant worn" not in found.content
    assert "Tika Waylan" not in found.content
    assert "tracked_changes" in losses(found)
    assert "- A software module for extracting text" in found.content  # moved here


def headings_123(name: str) -> None:
    assert outline(document(name)) == [(1, "First paragraph"), (2, "Second paragraph"), (3, "Third paragraph")]


def soft_hyphen(name: str) -> None:
    assert "optionalhyphen" in document(name).content


def multi_level(name: str) -> None:
    shown = items(document(name))
    assert shown[:4] == ["1) This", "a) Is", "i) A multi", "ii) Level"]
    assert shown[4:8] == ["iii) List", "2) foo", "i) bar", "ii) baz"]
    for label in ("I. yet", "II. bar", "(1) baq", "6. six", "7. seven", "e. seven e", "A. A", "ii. A ii", "2. A ii 2"):
        assert label in shown
    assert "Some-α-CrazyFormat Greek numbering with crazy format - alpha" in shown
    assert shown[-6:] == [
        "1. 1", "1.1.1. 1.1.1", "1.1. 1.2->1.1  //set the value to 1 and “start new list”", "1.2. 1.3 -> 1.2",
        "2. 2.", "2.1. 2.1",
    ]  # fmt: skip
    assert "1. Within cell 1\na. Cell a\nb. Cell b" in re.sub(r"\n +", "\n", document(name).tables[0].headers[1])


def various_docx(name: str) -> None:
    found = document(name)
    assert grid(found.tables[0]) == [[f"Row {r} Col {c}" for c in (1, 2, 3)] for r in (1, 2)]
    assert sum(t == "Here is a text box" for t in texts(found)) == 1
    (note,) = elements(found, "note")
    assert (note.content, note.attributes["kind"]) == ("[^1]: This is a footnote.", "footnote")
    assert texts(found)[:3] == ["Footnote appears here", "Here is a text box", note.content]


def recursive(name: str) -> None:
    found = read(name)
    inside = {p.inner_path.rpartition("/")[2]: p.document.content for p in found[1:] if p.document}
    assert inside["embed1a.txt"] == "embed_1a"
    assert inside["embed2b.txt"] == "embed_2b"
    assert inside["embed3.txt"].startswith("embed_3")
    assert inside["embed4.txt"] == "embed_4"
    assert all(p.parent_id for p in found[1:])


def duplicates(name: str) -> None:
    assert texts(document(name)).count("some text") == 6


def grid_offset(name: str) -> None:
    (table,) = document(name).tables
    assert spans(table) == {"Merged B1-B3": (3, 1)}
    assert [c.text for c in table.cells if c.text] == ["A", "Merged B1-B3", "C"]


def handbook(name: str) -> None:
    start = time.process_time()
    found = document(name)
    assert time.process_time() - start < 20
    assert len(found.metadata.headings) > 100


def strict(name: str) -> None:
    assert document(name).content == "Some text"


# ---------------------------------------------------------------- OpenDocument text
def footnote_odt(name: str) -> None:
    found = document(name)
    assert [(e.type, e.content) for e in elements(found)] == [
        ("paragraph", "Some text with a footnote."),
        ("note", "[^1]: Footnote text"),
    ]


def hidden_odt(name: str) -> None:
    found = document(name)
    assert "hidden_text" in losses(found)  # left out, and said so
    assert found.content == ""


def tracked_odt(name: str) -> None:
    found = document(name)
    assert "deleted" not in found.content
    assert "inserted text" in found.content
    assert "tracked_changes" in losses(found)


CHECKS: dict[str, Callable[[str], None]] = {
    "po__table-merges.doc": table_merges_doc,
    "tk__testWORD_macros.docm": macros,
    "dl__Strict.docx": strict,
    "dl__docx_checkboxes.docx": checkboxes,
    "dl__docx_comments.docx": comments,
    "dl__docx_external_image.docx": external_image,
    "dl__docx_page_header_footer_first_page.docx": header_footer,
    "dl__docx_rich_cells.docx": rich_cells,
    "dl__equations.docx": equations,
    "dl__textbox.docx": textbox,
    "dl__unit_test_headers_numbered.docx": numbered_headings,
    "dl__word_tables.docx": word_tables,
    "dx__blk-containing-table.docx": empty_table,
    "dx__par-hyperlinks.docx": hyperlinks,
    "kr__document.docx": not_a_zip,
    "mk__test.docx": paper,
    "po__ComplexNumberedLists.docx": complex_lists,
    "po__ExternalEntityInText.docx": entity,
    "po__clusterfuzz-testcase-minimized-POIXWPFFuzzer-4791943399604224.docx": clean_outcome,
    "po__delins.docx": tracked_changes,
    "po__heading123.docx": headings_123,
    "po__truncated62886.docx": clean_outcome,
    "tk__testOptionalHyphen.docx": soft_hyphen,
    "tk__testWORD_numbered_list.docx": multi_level,
    "tk__testWORD_truncated.docx": clean_outcome,
    "tk__testWORD_various.docx": various_docx,
    "tk__test_recursive_embedded.docx": recursive,
    "un__duplicate-paragraphs.docx": duplicates,
    "un__grid_offset_error.docx": grid_offset,
    "un__handbook-872p.docx": handbook,
    "kr__footnote.odt": footnote_odt,
    "kr__hiddenTextByStyle.odt": hidden_odt,
    "kr__trackedChanges.odt": tracked_odt,
    "tk__testODTEncrypted.odt": encrypted,
}


@pytest.mark.parametrize("name", CHECKS)
def test_what_the_manifest_asks_for(name: str) -> None:
    CHECKS[name](name)
