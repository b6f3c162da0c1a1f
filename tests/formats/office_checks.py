"""What the checks on real office files have in common."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager

from engine.errors import Code
from engine.records import ExtractedDocument, ExtractedTable, StructureElement
from tests.formats.reading import document, elements, failure_code, read


def spans(table: ExtractedTable) -> dict[str, tuple[int, int]]:
    """(rowspan, colspan) of every cell with text that spans."""
    return {c.text: (c.rowspan, c.colspan) for c in table.cells if c.text and (c.rowspan, c.colspan) != (1, 1)}


def grid(table: ExtractedTable) -> list[list[str]]:
    return [table.headers, *table.rows] if table.headers else table.rows


def outline(found: ExtractedDocument) -> list[tuple[int, str]]:
    return [(e.level or 0, e.content) for e in elements(found, "heading")]


def items(found: ExtractedDocument) -> list[str]:
    """List items as shown, in order."""
    return [f"{e.attributes['marker']} {e.content}" for e in elements(found, "list_item")]


def losses(found: ExtractedDocument) -> set[str]:
    return {w.code for w in found.warnings}


def after(found: ExtractedDocument, text: str) -> StructureElement:
    """The element that follows the one beginning with `text`."""
    flat = elements(found)
    return flat[next(i for i, e in enumerate(flat) if e.content.startswith(text)) + 1]


@contextmanager
def watched() -> Generator[list[str]]:
    """What was asked of the network or of other programs inside the block."""
    seen: list[str] = []
    open_now = [True]

    def hook(event: str, _: object) -> None:
        if open_now[0] and event in {"socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system"}:
            seen.append(event)

    sys.addaudithook(hook)
    try:
        yield seen
    finally:
        open_now[0] = False


def reaches_nothing(name: str) -> None:
    with watched() as seen:
        read.__wrapped__(name)
    assert seen == []


def empty_table(name: str) -> None:
    found = document(name)
    assert found.tables == []
    assert "empty_table" in losses(found)


def encrypted(name: str) -> None:
    assert failure_code(name, password=False) == Code.ENCRYPTED_DOCUMENT
    assert read(name, False)[0].chunks == []
