"""Tables put together again from chunks are the tables that were cut."""

from __future__ import annotations

import random

import pytest

from engine.document import Builder
from engine.nav.tables import tables_of
from engine.records import ExtractedTable, TableCell
from engine.tables import table_from_cells, table_from_rows


def grid(rows: int, columns: int = 3, words: int = 3) -> list[list[str]]:
    draw = random.Random(rows)
    return [[" ".join(f"w{draw.randrange(99)}" for _ in range(words)) for _ in range(columns)] for _ in range(rows)]


def facts(table: ExtractedTable) -> tuple[object, ...]:
    return table.table_id, table.headers, table.rows, table.caption, table.page_number


@pytest.mark.parametrize("strategy", ["semantic", "recursive", "fixed", "sliding"])
@pytest.mark.parametrize("rows", [1, 4, 60])
def test_long_and_short_tables_come_back_row_by_row(builder: Builder, viewed, rows: int, strategy: str) -> None:
    builder.start_page(2)
    builder.heading(1, "Prices")
    builder.paragraph("What things cost.")
    builder.table(table_from_rows([["Name", "a | b", ""], *grid(rows)], caption="Table 1: prices"))
    builder.paragraph("Between | the two.")
    builder.table(table_from_rows(grid(rows, 2), header=False))
    builder.table(table_from_rows([["Only", "header"], ["x", "y"]]))
    document = builder.finish()
    view = viewed(document, strategy=strategy, max_tokens=120, overlap_tokens=30 if strategy == "sliding" else 0)
    found = tables_of(view, None)
    assert found.rebuilt
    if strategy in ("semantic", "recursive"):  # the others cut tables anywhere
        assert found.incomplete == []
        assert [facts(t) for t in found.tables] == [facts(t) for t in document.tables]
    else:
        wrong = [t.table_id for t, own in zip(found.tables, document.tables, strict=True) if facts(t) != facts(own)]
        assert set(wrong) <= set(found.incomplete)


def test_the_kept_tree_wins_with_its_spans(builder: Builder, viewed) -> None:
    cells = [TableCell(0, 0, "wide", colspan=2, header=True), TableCell(1, 0, "a"), TableCell(1, 1, "b")]
    builder.table(table_from_cells(cells))
    document = builder.finish()
    view = viewed(document)
    found = tables_of(view, document)
    assert (found.rebuilt, found.tables[0].cells[0].colspan) == (False, 2)
    assert tables_of(view, None).tables[0].rows == [["a", "b"]]


def test_a_row_that_was_cut_apart_is_said_to_be_incomplete(builder: Builder, viewed) -> None:
    long = " ".join(f"word{n}" for n in range(400))
    builder.table(table_from_rows([["Name", "Text"], ["a", long], ["b", "short"]]))
    document = builder.finish()
    assert tables_of(viewed(document, max_tokens=100), None).incomplete == ["table-1"]


def test_a_table_with_a_hidden_part_is_not_shown_at_all(builder: Builder, viewed) -> None:
    builder.table(table_from_rows([["Name", "Text", "More"], *grid(60)]))
    builder.heading(1, "Open")
    builder.table(table_from_rows([["Open", "table"], ["1", "2"]]))
    document = builder.finish()
    parts = [p["chunk_index"] for p in viewed(document, max_tokens=120).chunks if p["chunk_index"] < 3]
    view = viewed(document, max_tokens=120, hidden={parts[1]})
    for tree in (document, None):
        assert [t.table_id for t in tables_of(view, tree).tables] == ["table-2"]
