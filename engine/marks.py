"""What is to be drawn over the picture of a page: the elements of a document's tree that have a place on it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from engine.document import FURNITURE, walk
from engine.records import ExtractedDocument, StructureElement


@dataclass(slots=True)
class Mark:
    """One element on a page. Corners in points from the page's top left as seen; `number` in reading order, 0 for
    elements that are not read with the page (its header and footer)."""

    type: str
    number: int
    x0: float
    y0: float
    x1: float
    y1: float
    label: str = ""  # what to write instead of the number alone, such as "3 h2"


def marks_of(document: ExtractedDocument) -> dict[int, list[Mark]]:
    """Page → its elements in reading order. A list is shown by its items, a page read by OCR by what was read."""
    found: dict[int, list[Mark]] = {}
    numbers: Counter[int] = Counter()
    for element in walk(document.structure):
        box = element.box
        if box is None or _shown_by_its_children(element):
            continue
        read = element.type not in FURNITURE
        numbers[box.page] += read
        number = numbers[box.page] if read else 0
        mark = Mark(element.type, number, box.x0, box.y0, box.x1, box.y1, _label(element, number))
        found.setdefault(box.page, []).append(mark)
    return found


def _shown_by_its_children(element: StructureElement) -> bool:
    return element.type != "heading" and any(child.box is not None for child in element.children)


def _label(element: StructureElement, number: int) -> str:
    return f"{number} h{element.level or 1}" if element.type == "heading" else ""
