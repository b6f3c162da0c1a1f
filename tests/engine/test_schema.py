"""Records survive their way through Arrow and JSON."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.document import Builder
from engine.records import Box, Chunk, ChunkMetadata, ExtractedImage, Failure, Outcome, Prepared, SourceItem
from engine.schema import (
    dump_document,
    items_of,
    items_table,
    load_document,
    outcomes_of,
    outcomes_table,
    prepared_of,
    prepared_table,
)
from engine.settings import Limits
from engine.tables import table_from_rows

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBER = st.integers(0, 2**62)
ITEMS = st.builds(SourceItem, TEXT, TEXT, TEXT, TEXT, NUMBER, TEXT, st.none() | st.floats(0, 1e12), NUMBER, TEXT, TEXT)
OUTCOMES = st.builds(
    Outcome, TEXT, TEXT, TEXT, TEXT, TEXT, st.none() | TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, NUMBER, NUMBER, NUMBER,
    NUMBER, NUMBER, NUMBER, NUMBER, st.dictionaries(TEXT, st.floats(0, 1e9), max_size=3), st.floats(0, 1e9),
)  # fmt: skip


@given(st.lists(ITEMS, max_size=5))
def test_manifest_rows_round_trip(items: list[SourceItem]) -> None:
    assert items_of(items_table(items)) == items


@given(st.lists(OUTCOMES, max_size=5))
def test_outcomes_round_trip(outcomes: list[Outcome]) -> None:
    assert outcomes_of(outcomes_table(outcomes)) == outcomes


def test_prepared_documents_round_trip() -> None:
    b = Builder("pdf", Limits())
    b.start_page(1, 595, 842)
    b.heading(1, "T")
    b.table(table_from_rows([["a"], ["b"]]))
    b.image(ExtractedImage(b"\x00\xff", "image/png", caption="fig"))
    document = b.finish()
    meta = ChunkMetadata([1], "T", ["T"], 0, 1, "table", "table", "pdf", "text", 0, 9, [Box(1, 0, 0, 5, 5)], (0, 0))
    p = Prepared("d", "p", "s", "k", "u", "f.pdf", 3, document=document, chunks=[Chunk("c", "d", "x", "h", 1, 3, meta)])
    broken = Prepared("e", "p", "s", "k2", "u", "g", 0, failure=Failure("OCR_FAILED", "ocr", "nothing read"))
    assert prepared_of(prepared_table([p, broken])) == [p, broken]
    assert load_document(dump_document(document)) == document
