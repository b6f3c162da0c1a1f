"""What each RTF control word does to the reader: paragraphs, tables, styles, fonts, Unicode, dates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from engine.extract.rtf.flow import Paragraph
from engine.extract.rtf.state import Font, Reader
from engine.extract.rtf.table import CellDefinition, RowDefinition
from engine.extract.rtf.tokens import CHARSETS, SYMBOL_CHARSET, codepage

_BREAKS = ("page", "sect", "column", "softpage")


def end_paragraph(reader: Reader, number: int | None) -> None:
    """Close the paragraph of the current flow."""
    flow = reader.group.flow
    if reader.group.skip:
        return
    if flow.kind in {"stylesheet", "fonttbl", "pict", "marker"}:
        return
    flow.end_paragraph(reader.paragraph)


def _end_cell(reader: Reader, number: int | None) -> None:
    reader.group.flow.end_cell(reader.paragraph, 1)


def _end_nested_cell(reader: Reader, number: int | None) -> None:
    reader.group.flow.end_cell(reader.paragraph, max(reader.paragraph.nesting, 2))


def _end_row(reader: Reader, number: int | None) -> None:
    reader.group.flow.end_row(reader.row, 1)


def _end_nested_row(reader: Reader, number: int | None) -> None:
    reader.group.flow.end_row(reader.nested_row, max(reader.paragraph.nesting, 2))
    reader.nested_row = RowDefinition()


def _row_of(reader: Reader) -> RowDefinition:
    return reader.nested_row if reader.in_nested_properties else reader.row


def _start_row(reader: Reader, number: int | None) -> None:
    if reader.in_nested_properties:
        reader.nested_row = RowDefinition()
    else:
        reader.row = RowDefinition()


def _row_left(reader: Reader, number: int | None) -> None:
    _row_of(reader).left = number or 0


def _row_header(reader: Reader, number: int | None) -> None:
    _row_of(reader).header = True


def _cell_edge(reader: Reader, number: int | None) -> None:
    row = _row_of(reader)
    if len(row.cells) < 1000:
        row.cells.append(replace(row.next, right=number or 0))
    row.next = CellDefinition()


def _cell_flag(name: str) -> Callable[[Reader, int | None], None]:
    return lambda reader, number: setattr(_row_of(reader).next, name, True)


def _reset_paragraph(reader: Reader, number: int | None) -> None:
    if reader.group.flow.kind != "marker":
        reader.paragraph = Paragraph()


def _in_table(reader: Reader, number: int | None) -> None:
    reader.paragraph.in_table = True


def _nesting(reader: Reader, number: int | None) -> None:
    reader.paragraph.nesting = min(max(number or 1, 1), 20)
    reader.paragraph.in_table = reader.paragraph.in_table or (number or 0) > 0


def _outline(reader: Reader, number: int | None) -> None:
    level = (number or 0) + 1 if (number or 0) < 9 else None
    if reader.group.flow.kind == "stylesheet":
        if level is not None:
            reader.headings[reader.style] = level
    else:
        reader.paragraph.heading = level


def _style(reader: Reader, number: int | None) -> None:
    reader.style = number or 0
    if reader.group.flow.kind != "stylesheet":
        reader.paragraph.heading = reader.headings.get(reader.style, reader.paragraph.heading)


def _list_level(reader: Reader, number: int | None) -> None:
    reader.paragraph.depth = min((number or 0) + 1, 9)


def _font(reader: Reader, number: int | None) -> None:
    reader.font = number or 0
    if reader.group.flow.kind == "fonttbl":
        reader.fonts.setdefault(reader.font, Font())
        return
    font = reader.fonts.get(reader.font, Font())
    reader.group.codec = font.codec or reader.default_codec
    reader.group.font_symbols = "symbol" if font.symbol_charset else ""


def _font_charset(reader: Reader, number: int | None) -> None:
    font = reader.fonts.setdefault(reader.font, Font())
    font.symbol_charset = number == SYMBOL_CHARSET
    font.codec = CHARSETS.get(number or 0) if number != 0 else None
    if number == 0:
        font.codec = "cp1252"


def _font_codepage(reader: Reader, number: int | None) -> None:
    reader.fonts.setdefault(reader.font, Font()).codec = codepage(number or 1252)


def _default_codepage(reader: Reader, number: int | None) -> None:
    reader.default_codec = codepage(number or 1252)
    reader.group.codec = reader.default_codec


def _fixed_codec(codec: str) -> Callable[[Reader, int | None], None]:
    def read(reader: Reader, number: int | None) -> None:
        reader.default_codec = reader.group.codec = codec

    return read


def _unicode(reader: Reader, number: int | None) -> None:
    unit = (number or 0) % 65_536
    reader.write(chr(unit))
    reader.to_skip = reader.group.unicode_skip


def _unicode_skip(reader: Reader, number: int | None) -> None:
    reader.group.unicode_skip = max(number or 0, 0)


def _hidden(reader: Reader, number: int | None) -> None:
    reader.group.hidden = number != 0


def _deleted(reader: Reader, number: int | None) -> None:
    reader.group.deleted = number != 0


def _revised(reader: Reader, number: int | None) -> None:
    if number != 0:
        reader.builder.warn("tracked_changes", "tracked changes were read as accepted")


def _raised(reader: Reader, number: int | None) -> None:
    reader.group.raised = number != 0


def _not_raised(reader: Reader, number: int | None) -> None:
    reader.group.raised = False


def _plain(reader: Reader, number: int | None) -> None:
    reader.group.hidden = reader.group.deleted = reader.group.raised = False
    reader.group.codec, reader.group.font_symbols = reader.default_codec, ""


def _picture_kind(name: str) -> Callable[[Reader, int | None], None]:
    return lambda reader, number: setattr(reader, "picture_kind", name)


def _date_part(name: str) -> Callable[[Reader, int | None], None]:
    def read(reader: Reader, number: int | None) -> None:
        reader.date[name] = number or 0
        _store_date(reader)

    return read


def _date_start(name: str) -> Callable[[Reader, int | None], None]:
    def read(reader: Reader, number: int | None) -> None:
        reader.date = {name: 1}

    return read


def _store_date(reader: Reader) -> None:
    parts = reader.date
    if not {"yr", "mo", "dy"} <= set(parts):
        return
    try:
        moment = datetime(parts["yr"], parts["mo"], parts["dy"], parts.get("hr", 0), parts.get("min", 0), tzinfo=UTC)
    except ValueError:
        return
    if "creatim" in parts:
        reader.builder.metadata.created_date = moment
    elif "revtim" in parts:
        reader.builder.metadata.modified_date = moment


HANDLERS: dict[str, Callable[[Reader, int | None], None]] = {
    "par": end_paragraph,
    **dict.fromkeys(_BREAKS, end_paragraph),
    "cell": _end_cell,
    "nestcell": _end_nested_cell,
    "row": _end_row,
    "nestrow": _end_nested_row,
    "trowd": _start_row,
    "trleft": _row_left,
    "trhdr": _row_header,
    "cellx": _cell_edge,
    "clmgf": _cell_flag("merge_start"),
    "clmrg": _cell_flag("merged"),
    "clvmgf": _cell_flag("vertical_start"),
    "clvmrg": _cell_flag("vertical"),
    "pard": _reset_paragraph,
    "intbl": _in_table,
    "itap": _nesting,
    "outlinelevel": _outline,
    "s": _style,
    "ilvl": _list_level,
    "f": _font,
    "fcharset": _font_charset,
    "cpg": _font_codepage,
    "ansicpg": _default_codepage,
    "mac": _fixed_codec("mac_roman"),
    "pc": _fixed_codec("cp437"),
    "pca": _fixed_codec("cp850"),
    "u": _unicode,
    "uc": _unicode_skip,
    "v": _hidden,
    "deleted": _deleted,
    "revised": _revised,
    "plain": _plain,
    "super": _raised,
    "sub": _not_raised,
    "nosupersub": _not_raised,
    "pngblip": _picture_kind("pngblip"),
    "jpegblip": _picture_kind("jpegblip"),
    "creatim": _date_start("creatim"),
    "revtim": _date_start("revtim"),
    **{name: _date_part(name) for name in ("yr", "mo", "dy", "hr", "min")},
}
