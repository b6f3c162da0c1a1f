"""A document as plain text."""

from __future__ import annotations

from engine.document import Builder
from engine.plain_text import to_text
from engine.settings import Limits
from engine.tables import table_from_rows


def test_blocks_items_and_rows_without_markup() -> None:
    builder = Builder("docx", Limits.model_validate({}))
    builder.heading(2, "Prices")
    builder.paragraph("As of May.")
    builder.list_block([(1, "1.", "Milk"), (2, "-", "whole")])
    builder.table(table_from_rows([["Item", "Price"], ["Milk", "2.50"]], caption="Table 1"))
    builder.paragraph("page 3", "page_footer")
    assert to_text(builder.finish()) == "Prices\n\nAs of May.\n\n1. Milk\n\n- whole\n\nTable 1\nItem\tPrice\nMilk\t2.50"
