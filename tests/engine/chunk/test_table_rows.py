"""Tables over the limit: row groups under a repeated header, cells under their column's name."""

from __future__ import annotations

from engine.document import Builder
from engine.records import Chunk, ExtractedDocument
from engine.tables import table_from_rows

HEADER = "| id | product | remark |\n| --- | --- | --- |\n"


def row_cells(i: int) -> list[str]:
    return [str(i), f"product number {i}", f"a remark about the thing in row {i}"]


def document(builder: Builder, rows: list[list[str]], header: bool = True) -> ExtractedDocument:
    builder.table(table_from_rows(rows, header=header))
    return builder.finish()


def body(chunk: Chunk) -> str:
    return chunk.content[chunk.prefix_length :]


def test_every_row_group_repeats_the_header(builder: Builder, chunked) -> None:
    doc = document(builder, [["id", "product", "remark"], *(row_cells(i) for i in range(60))])
    chunks = chunked(doc)
    assert len(chunks) > 3
    for chunk in chunks:
        assert body(chunk).startswith(HEADER)
        assert body(chunk).count("---") == 3
        assert chunk.metadata.chunk_type == "table"
    covered = [row for c in chunks for row in range(c.metadata.table_rows[0], c.metadata.table_rows[1] + 1)]
    assert covered == list(range(60))


def test_the_span_points_at_the_rows_themselves(builder: Builder, chunked) -> None:
    doc = document(builder, [["id", "product", "remark"], *(row_cells(i) for i in range(60))])
    second = chunked(doc)[1]
    meta = second.metadata
    slice_ = doc.content[meta.char_start : meta.char_end]
    assert second.content == HEADER + slice_
    first_row, last_row = meta.table_rows
    assert slice_.startswith(f"| {first_row} |")
    assert f"in row {last_row} |" in slice_


def test_a_table_without_header_repeats_nothing(builder: Builder, chunked) -> None:
    chunks = chunked(document(builder, [row_cells(i) for i in range(60)], header=False))
    assert all(f"row {i} |" in "".join(c.content for c in chunks) for i in range(60))
    assert body(chunks[1]).startswith(f"| {chunks[1].metadata.table_rows[0]} |")


def test_a_row_over_the_limit_is_cut_by_cells_with_column_names(builder: Builder, chunked) -> None:
    names = [f"column{i}" for i in range(60)]
    values = [f"value number {i} of the row" for i in range(60)]
    chunks = chunked(document(builder, [names, values]))
    for i in range(60):
        (holder,) = [c for c in chunks if f"value number {i} of" in c.content]
        assert f"column{i}" in holder.content
        assert holder.metadata.table_rows == (0, 0)


def test_a_cell_over_the_limit_is_cut_by_sentences_with_its_column_name(builder: Builder, chunked) -> None:
    long = " ".join(f"This is sentence {i} of the very long remark." for i in range(60))
    doc = document(builder, [["id", "product", "remark"], ["1", "pen", long], row_cells(2)])
    chunks = chunked(doc)
    parts = [c for c in chunks if "sentence" in c.content]
    assert len(parts) > 2
    assert all(c.content.startswith("remark: ") for c in parts)
    assert all(c.content.rstrip(" |").endswith(".") for c in parts)
    assert [c.metadata.table_rows for c in parts] == [(0, 0)] * len(parts)
    assert "a remark about the thing in row 2" in chunks[-1].content


def test_a_header_over_the_limit_is_shortened_but_kept_once(builder: Builder, chunked) -> None:
    names = [f"the full and official designation of the measured quantity in column {i}" for i in range(12)]
    rows = [[str(r * 12 + c) for c in range(12)] for r in range(30)]
    chunks = chunked(document(builder, [names, *rows]))
    together = "\n".join(c.content for c in chunks)
    assert all(name in together for name in names)
    assert "| 359 |" in together


def test_bars_inside_cells_are_no_column_borders(builder: Builder, chunked) -> None:
    long = " ".join(f"a|b sentence {i} ends." for i in range(80))
    chunks = chunked(document(builder, [["x", "y"], [long, "tail"]]))
    assert all(c.content.startswith("x: ") for c in chunks if "sentence" in c.content and "tail" not in c.content)


def test_the_caption_of_a_cut_table_is_kept(builder: Builder, chunked) -> None:
    builder.table(table_from_rows([["id", "product", "remark"], *(row_cells(i) for i in range(60))], caption="List A"))
    builder.paragraph("Source: the office", type="caption")
    chunks = chunked(builder.finish())
    assert chunks[0].content.startswith(f"List A\n\n{HEADER}")
    assert "Source: the office" in chunks[-1].content
