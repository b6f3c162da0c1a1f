"""A run of RTF text being collected: the body, a note, a header, a text box, a list marker."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.extract.flow import text_block
from engine.extract.rtf.table import Row, RowDefinition, build_table
from engine.records import StructureElement

_LONGEST_HEADING = 400


def paired(text: str) -> str:
    """UTF-16 surrogates, which RTF writes one by one, joined into characters; lone ones become U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@dataclass(slots=True)
class Paragraph:
    """Properties in force for the current paragraph; \\pard resets them."""

    in_table: bool = False
    nesting: int = 1
    heading: int | None = None
    depth: int = 1


@dataclass(slots=True)
class Flow:
    """Collects blocks. `kind` says what to do with them when the group that opened it closes."""

    kind: str = "body"
    blocks: list[StructureElement] = field(default_factory=lambda: list[StructureElement]())
    parts: list[str] = field(default_factory=lambda: list[str]())
    anchored: list[StructureElement] = field(default_factory=lambda: list[StructureElement]())
    marker: str = ""
    rows: dict[int, list[Row]] = field(default_factory=lambda: dict[int, list[Row]]())  # by nesting level
    cells: dict[int, list[list[StructureElement]]] = field(
        default_factory=lambda: dict[int, list[list[StructureElement]]]()
    )
    cell: dict[int, list[StructureElement]] = field(default_factory=lambda: dict[int, list[StructureElement]]())

    def end_paragraph(self, paragraph: Paragraph) -> None:
        """Close the paragraph: into the open cell when it is in a table, else into the flow."""
        found = self._take(paragraph)
        if paragraph.in_table:
            self._end_tables(paragraph.nesting)
            self.cell.setdefault(paragraph.nesting, []).extend(found)
        elif found or self.rows:
            self._end_tables(0)
            self.blocks.extend(found)

    def end_cell(self, paragraph: Paragraph, level: int) -> None:
        """Close the open cell of a table at a nesting level."""
        found = self._take(paragraph)
        self._end_tables(level)
        content = self.cell.pop(level, []) + found
        self.cells.setdefault(level, []).append(content)

    def end_row(self, definition: RowDefinition, level: int) -> None:
        """Close the open row of a table at a nesting level."""
        cells = self.cells.pop(level, [])
        if cells:
            self.rows.setdefault(level, []).append(Row(definition, cells))

    def finish(self, paragraph: Paragraph) -> list[StructureElement]:
        """Everything collected; open paragraphs, cells and tables are closed."""
        self.blocks.extend(self._take(paragraph) if not paragraph.in_table else [])
        for level in sorted(set(self.cells) | set(self.cell), reverse=True):
            if level in self.cell or paragraph.in_table:
                self.end_cell(paragraph, level)
            self.end_row(RowDefinition(), level)
        self._end_tables(0)
        return self.blocks

    def _end_tables(self, level: int) -> None:
        """Close tables nested deeper than `level`; each becomes part of the cell around it."""
        for deeper in sorted((n for n in self.rows if n > level), reverse=True):
            built = build_table(self.rows.pop(deeper))
            if deeper > 1:
                self.cell.setdefault(deeper - 1, []).extend(built)
            else:
                self.blocks.extend(built)

    def _take(self, paragraph: Paragraph) -> list[StructureElement]:
        text = paired("".join(self.parts)).replace("\t", " ").strip()
        marker, self.marker = self.marker, ""
        anchored, self.anchored, self.parts = self.anchored, [], []
        if not text:
            return anchored
        if paragraph.heading is not None and len(text) <= _LONGEST_HEADING:
            number = marker if any(c.isalnum() for c in marker) else ""
            block = text_block("heading", f"{number} {text}".strip(), paragraph.heading)
        elif marker:
            shown = marker if any(c.isalnum() for c in marker) else "-"
            block = text_block("list_item", text, paragraph.depth, marker=shown)
        else:
            block = text_block("paragraph", text)
        return [block, *anchored]
