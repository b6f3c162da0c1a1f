"""Reads the drawn lines and the placed images of a page."""

from __future__ import annotations

from typing import Any

from engine.extract.pdf.model import PageModel, Picture, Rule, Transform, apply
from engine.extract.pdf.mupdf import MUPDF_ERRORS, Page

_MAX_CONTENT_BYTES = 4_000_000  # of drawing instructions as stored; a page with more is a map or a plan
_MAX_RULES = 6000
_THIN = 3.0  # points; a filled rectangle thinner than this is a line
_SHORT = 1.5  # points; shorter strokes are no rules


def read_graphics(page: Page, model: PageModel, to_frame: Transform) -> None:
    """Fill `model.rules`, `model.pictures` and `model.drawings`. No image is decoded.

    What cannot be read is left out and marked (`graphics_skipped`): the text is worth having without it.
    """
    try:
        _read_pictures(page, model, to_frame)
        _read_drawings(page, model, to_frame)
    except MUPDF_ERRORS:
        model.graphics_skipped = True


def _read_drawings(page: Page, model: PageModel, to_frame: Transform) -> None:
    if _content_bytes(page) > _MAX_CONTENT_BYTES:
        model.graphics_skipped = True
        return
    for drawing in page.get_cdrawings():
        model.drawings += len(drawing.get("items", ()))
        if len(model.rules) < _MAX_RULES:
            model.rules.extend(_rules(drawing, to_frame, model.frame_width, model.frame_height))


def _content_bytes(page: Page) -> int:
    total = 0
    for xref in page.get_contents():
        kind, value = page.parent.xref_get_key(xref, "Length")
        total += int(value) if kind == "int" else 0
    return total


def _rules(drawing: dict[str, Any], to_frame: Transform, width: float, height: float) -> list[Rule]:
    if drawing.get("fill_opacity") == 0 and drawing.get("stroke_opacity", 0) == 0:
        return []
    weak = drawing.get("type") == "f"
    found: list[Rule] = []
    for item in drawing.get("items", ()):
        if item[0] == "l":
            (x0, y0), (x1, y1) = item[1], item[2]
            found.extend(_stroke(apply(to_frame, (x0, y0, x1, y1))))
        elif item[0] == "re":
            found.extend(_rectangle(apply(to_frame, tuple(item[1])), width, height, weak))
        elif item[0] == "qu":
            points = item[1]
            xs, ys = [p[0] for p in points], [p[1] for p in points]
            found.extend(_rectangle(apply(to_frame, (min(xs), min(ys), max(xs), max(ys))), width, height, weak))
    return found


def _stroke(box: tuple[float, float, float, float]) -> list[Rule]:
    x0, y0, x1, y1 = box
    if y1 - y0 <= 1 and x1 - x0 > _SHORT:
        middle = (y0 + y1) / 2
        return [Rule(x0, middle, x1, middle)]
    if x1 - x0 <= 1 and y1 - y0 > _SHORT:
        middle = (x0 + x1) / 2
        return [Rule(middle, y0, middle, y1)]
    return []


def _rectangle(box: tuple[float, float, float, float], width: float, height: float, weak: bool) -> list[Rule]:
    """A thin rectangle is a rule, a larger one has four; one as large as the page is its background."""
    x0, y0, x1, y1 = box
    if y1 - y0 <= _THIN and x1 - x0 > max(_SHORT, y1 - y0):
        middle = (y0 + y1) / 2
        return [Rule(x0, middle, x1, middle)]
    if x1 - x0 <= _THIN and y1 - y0 > max(_SHORT, x1 - x0):
        middle = (x0 + x1) / 2
        return [Rule(middle, y0, middle, y1)]
    if x1 - x0 <= _THIN or y1 - y0 <= _THIN or (x1 - x0 > 0.95 * width and y1 - y0 > 0.95 * height):
        return []
    return [
        Rule(x0, y0, x1, y0, weak),
        Rule(x0, y1, x1, y1, weak),
        Rule(x0, y0, x0, y1, weak),
        Rule(x1, y0, x1, y1, weak),
    ]


def _read_pictures(page: Page, model: PageModel, to_frame: Transform) -> None:
    listed = page.get_images()
    if not listed and not (model.characters == 0 and _has_inline_images(page)):
        return
    # Asked for object numbers, PyMuPDF would decode every image to compare digests; sizes tell them apart here.
    by_size: dict[tuple[int, int], list[int]] = {}
    for xref, _, width, height, *_ in listed:
        by_size.setdefault((width, height), []).append(xref)
    for info in page.get_image_info():
        box = apply(to_frame, tuple(info["bbox"]))
        x0, y0 = max(box[0], 0.0), max(box[1], 0.0)
        x1, y1 = min(box[2], model.frame_width), min(box[3], model.frame_height)
        same = by_size.get((info["width"], info["height"]), [0])
        xref = same.pop(0) if len(same) > 1 else same[0]
        if x1 > x0 and y1 > y0:
            model.pictures.append(Picture(x0, y0, x1, y1, xref, info["width"] * info["height"]))


def _has_inline_images(page: Page) -> bool:
    """Inline images have no object of their own; only the log of painted boxes shows them."""
    return any(kind == "fill-image" for kind, *_ in page.get_bboxlog())
