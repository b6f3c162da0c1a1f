"""Turns recognised lines into structure elements: paragraphs in reading order, boxes in page points."""

from __future__ import annotations

import re

from engine.document import page_box
from engine.ocr.order import reading_order
from engine.records import OcrLine, OcrResult, StructureElement

_HYPHEN_END = re.compile(r"[^\W\d_]{2,}[-\u2010]$")
_CJK = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")


def ocr_elements(
    result: OcrResult,
    page: int,
    points: tuple[float, float],
    pixels: tuple[int, int],
    method: str,
) -> list[StructureElement]:
    """Paragraph elements of one page.

    `points`: width and height of the page; `pixels`: of the picture that was read; `method`: ocr or vision.
    """
    across, down = points[0] / max(pixels[0], 1), points[1] / max(pixels[1], 1)
    elements: list[StructureElement] = []
    for lines in _paragraphs(result.lines):
        text = joined([line.text for line in lines])
        if not text:
            continue
        box = page_box(
            page,
            min(line.x0 for line in lines) * across,
            min(line.y0 for line in lines) * down,
            max(line.x1 for line in lines) * across,
            max(line.y1 for line in lines) * down,
        )
        elements.append(StructureElement("paragraph", None, text, page_number=page, box=box, method=method))
    return elements


def _paragraphs(lines: list[OcrLine]) -> list[list[OcrLine]]:
    groups: list[list[OcrLine]] = []
    for line in lines:
        if groups and groups[-1][-1].paragraph == line.paragraph:
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def joined(lines: list[str]) -> str:
    """Lines as running text; words divided at the line's end are joined, CJK lines without a space."""
    text = ""
    for line in filter(None, (part.strip() for part in lines)):
        if not text:
            text = line
        elif _HYPHEN_END.search(text) and line[0].islower():
            text = text[:-1] + line
        elif _CJK.match(text[-1]) and _CJK.match(line[0]):
            text += line
        else:
            text += f" {line}"
    return text


def group_lines(lines: list[OcrLine]) -> list[OcrLine]:
    """Lines in reading order, with paragraphs numbered by the white between them.

    For engines that return lines without layout.
    """
    ordered: list[OcrLine] = []
    number = 0
    for group in reading_order(lines):
        before: OcrLine | None = None
        for line in group:
            if before is None or line.y0 - before.y1 > 0.7 * (line.y1 - line.y0):
                number += 1
            line.paragraph = number
            ordered.append(line)
            before = line
    return ordered


def mean_confidence(lines: list[OcrLine]) -> float:
    """Mean over lines weighted by text length; 0 when nothing was read."""
    weight = sum(len(line.text) for line in lines)
    return sum(line.confidence * len(line.text) for line in lines) / weight if weight else 0.0
