"""Turns values (mappings, lists, scalars) into blocks: records as tables, the rest as headed `key: value` lists."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.document import Builder
from engine.extract.text import bounded
from engine.tables import table_from_rows

MAX_LEVEL = 6
TABLE_ROWS = 200  # rows of one table; longer runs of records become several
_MAX_COLUMNS = 40
_LONG = 200  # characters; a value beyond is a text of its own, and too long for a table's cell on average
_LABELS = ("title", "name", "headline", "subject", "label", "question", "id", "_id", "key", "code")

Record = dict[str, str]


def add_value(builder: Builder, value: Any, name: str = "", level: int = 1) -> None:
    """Add a value under a heading `name` of `level` (none for the outermost)."""
    if level > MAX_LEVEL:
        _add_flat(builder, value, name)
    elif isinstance(value, dict):
        builder.heading(level, name)
        _add_mapping(builder, value, level + bool(name))
    elif isinstance(value, list):
        _add_list(builder, value, name, level)
    else:
        _add_text(builder, _labelled(name, scalar(value)))


def _add_mapping(builder: Builder, value: dict[str, Any], level: int) -> None:
    """Scalars in a row make one list; long texts are paragraphs; the rest gets headings."""
    items: list[tuple[int, str, str]] = []
    for key, inner in value.items():
        line = _one_line(inner)
        if line is not None and len(line) <= _LONG:
            items.append((1, "-", _labelled(str(key), line)))
            continue
        builder.list_block(items)
        items = []
        if line is not None:
            _add_text(builder, _labelled(str(key), line))
        else:
            add_value(builder, inner, str(key), level)
    builder.list_block(items)


def _one_line(value: Any) -> str | None:
    """A scalar, or a list of scalars by commas; None for what needs structure."""
    if isinstance(value, dict):
        return None if value else "{}"
    if isinstance(value, list):
        if any(isinstance(v, (dict, list)) for v in value):
            return None
        joined = ", ".join(map(scalar, value))
        return joined if len(joined) <= _LONG or all(len(scalar(v)) < 30 for v in value) else None
    return scalar(value)


def scalar(value: Any) -> str:
    """A scalar as JSON writes it, text without quotes."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _labelled(name: str, text: str) -> str:
    return f"{name}: {text}" if name else text


def _add_text(builder: Builder, text: str) -> None:
    for piece in bounded(text):
        builder.paragraph(piece)


def _add_list(builder: Builder, values: list[Any], name: str, level: int) -> None:
    if all(not isinstance(v, (dict, list)) for v in values):
        builder.heading(level, name)
        builder.list_block([(1, "-", scalar(v)) for v in values])
    elif _is_grid(values):
        builder.heading(level, name)
        _add_rows(builder, [[scalar(v) for v in row] for row in values], header=False)
    else:
        inner = level
        if name:
            builder.heading(level, name)
            inner = level + 1
        add_records(builder, values, name or "record", inner)


def _is_grid(values: list[Any]) -> bool:
    """Lists of scalars, all of one length: a table without names."""
    widths = {len(v) if isinstance(v, list) else 0 for v in values}
    return (
        len(widths) == 1
        and 0 < widths.pop() <= _MAX_COLUMNS
        and not any(isinstance(cell, (dict, list)) for row in values for cell in row)
    )


def add_records(builder: Builder, values: list[Any], name: str, level: int, start: int = 1) -> None:
    """Records of one kind: a table when they are flat and short, else a headed section each.

    `start` numbers the first one.
    """
    flat = [_flat_record(v) for v in values]
    records = [f for f in flat if f is not None]
    if len(values) > 1 and len(records) == len(values) and fits_table(records):
        add_table(builder, records)
        return
    for number, value in enumerate(values, start):
        if isinstance(value, dict) and value:
            add_value(builder, value, _label(value) or f"{name} {number}", level)
        elif isinstance(value, list):
            add_value(builder, value, f"{name} {number}", level)
        else:
            _add_text(builder, scalar(value))


def fits_table(records: list[Record]) -> bool:
    """Few columns, mostly filled, and no long texts in the cells."""
    columns = {key for record in records for key in record}
    cells = [text for record in records for text in record.values()]
    if not columns or len(columns) > _MAX_COLUMNS or len(cells) < 0.3 * len(columns) * len(records):
        return False
    widest = max((len(c) for c in cells), default=0)
    per_row = sum(map(len, cells)) / max(1, len(records))
    return widest <= 5 * _LONG and per_row <= 3 * _LONG and "\n\n" not in "".join(cells)


def add_table(builder: Builder, records: list[Record]) -> None:
    """Records as tables of bounded length, columns in order of first appearance."""
    columns = list(dict.fromkeys(key for record in records for key in record))
    _add_rows(builder, [columns, *([record.get(c, "") for c in columns] for record in records)], header=True)


def _add_rows(builder: Builder, rows: list[list[str]], header: bool) -> None:
    head, body = (rows[:1], rows[1:]) if header else ([], rows)
    for at in range(0, len(body), TABLE_ROWS):
        builder.table(table_from_rows([*head, *body[at : at + TABLE_ROWS]], header=header))


def _flat_record(value: Any) -> Record | None:
    """A mapping of scalars, one level of nesting as dotted names; None when there is more structure."""
    if not isinstance(value, dict):
        return None
    record: Record = {}
    for key, inner in value.items():
        if isinstance(inner, dict):
            for name, deep in inner.items():
                line = _one_line(deep)
                if line is None:
                    return None
                record[f"{key}.{name}"] = "" if deep is None else line
            continue
        line = _one_line(inner)
        if line is None:
            return None
        record[str(key)] = "" if inner is None else line
    return record


def _label(value: dict[str, Any]) -> str:
    lowered = {str(k).lower(): v for k, v in value.items()}
    for key in _LABELS:
        found = lowered.get(key)
        if isinstance(found, str) and 0 < len(found.strip()) <= 120:
            return found
    return ""


def _add_flat(builder: Builder, value: Any, name: str) -> None:
    """Below the deepest heading: a line per scalar, its path before it."""
    builder.list_block([(1, "-", _labelled(path, text)) for path, text in _leaves(value, name)])


def _leaves(value: Any, name: str) -> Iterable[tuple[str, str]]:
    stack: list[tuple[str, Any]] = [(name, value)]
    while stack:
        path, inner = stack.pop()
        if isinstance(inner, dict) and inner:
            stack.extend((f"{path}.{k}"[-200:], v) for k, v in reversed(inner.items()))
        elif isinstance(inner, list) and any(isinstance(v, (dict, list)) for v in inner):
            stack.extend((f"{path}[{i}]"[-200:], v) for i, v in reversed(list(enumerate(inner))))
        else:
            yield path, ", ".join(map(scalar, inner)) if isinstance(inner, list) else scalar(inner)
