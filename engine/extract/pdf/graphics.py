"""Reads the drawn lines and the placed images of a page.

MuPDF's text page can hold the drawings too (as boxes: type 3 in its dictionary), so that one interpretation of
the page gives both. The box of a filled rectangle is exact. That of a stroke is wider than its path on every
side by the width of the pen (in user space, so it may be any size on the page): the box of a line tells the pen
and with it the line. A page with other strokes is interpreted once more for its exact paths, unless they outline
rectangles that are filled as well.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.extract.pdf.model import IDENTITY, PageModel, Picture, Rectangle, Rule, Transform, apply
from engine.extract.pdf.mupdf import MUPDF_ERRORS, Page

VECTOR = 3  # type of a drawing among the blocks of a text page
_MAX_CONTENT_BYTES = 4_000_000  # of drawing instructions as stored; a page with more is a map or a plan
_MAX_RULES = 6000
_MAX_REREAD = 20_000  # drawings; a page with more is not interpreted twice
_THIN = 3.0  # points; a filled rectangle thinner than this is a line
_SHORT = 1.5  # points; shorter strokes are no rules
_OUTLINE_STEPS = 8  # drawing steps that a shape other than a rectangle stands for
_LARGE = 12.0  # points; a bent stroke larger than this may hold rules


def has_many_drawings(page: Page) -> bool:
    """Whether the page has more drawing instructions than are looked at."""
    return not _is_small_file(page.parent.name) and _content_bytes(page) > _MAX_CONTENT_BYTES


def read_graphics(page: Page, vectors: Sequence[dict[str, Any]] | None, model: PageModel, to_frame: Transform) -> None:
    """Fill `model.rules`, `model.pictures` and `model.drawings`. No image is decoded.

    `vectors`: the page's drawings as boxes, None when they were not read with the text. What cannot be read is left
    out and marked (`graphics_skipped`): the text is worth having without it.
    """
    try:
        _read_pictures(page, model, to_frame)
        if vectors is not None and _read_vectors(vectors, model, to_frame):
            return
        if len(vectors or ()) > _MAX_REREAD or (vectors is None and has_many_drawings(page)):
            model.graphics_skipped, model.drawings = True, len(vectors or ())
        else:
            _read_paths(page, model, to_frame)
    except MUPDF_ERRORS:
        model.graphics_skipped = True


def _is_small_file(path: str | None) -> bool:
    if not path:  # opened from memory
        return False
    try:
        return Path(path).stat().st_size <= _MAX_CONTENT_BYTES
    except OSError:
        return False


def _content_bytes(page: Page) -> int:
    total = 0
    for xref in page.get_contents():
        kind, value = page.parent.xref_get_key(xref, "Length")
        total += int(value) if kind == "int" else 0
    return total


# ---------------------------------------------------------------- drawings as boxes
def _read_vectors(vectors: Sequence[dict[str, Any]], model: PageModel, to_frame: Transform) -> bool:
    """Fill `model.rules` and `model.drawings` from the boxes; False when they leave open what was drawn."""
    rules: list[Rule] = []
    steps, goes_on = 0, False
    filled: list[Rectangle] = []  # rectangles of the path painted last, which may be outlined as well
    thick: list[Rectangle] = []  # strokes that are lines by a thick pen, or else rectangles
    upright = to_frame == IDENTITY
    for vector in vectors:
        straight, stroked = vector["isrect"], vector["stroked"]
        steps += 1 if straight else _OUTLINE_STEPS
        if vector["alpha"] == 0 or len(rules) >= _MAX_RULES:
            continue
        box = vector["bbox"] if upright else apply(to_frame, vector["bbox"])
        if stroked and not straight:
            if max(box[2] - box[0], box[3] - box[1]) > _LARGE:
                return False
        elif stroked:
            inner = next((f for f in filled if _outlines(box, f)), None)
            if inner is not None:
                rules += _rectangle(inner, model.frame_width, model.frame_height, weak=False)
            elif _thickness(box) <= 2 * _THIN:
                rules += _line(box)
            else:
                thick.append(box)
        elif straight:
            rules += _rectangle(box, model.frame_width, model.frame_height, weak=True)
            filled = [*filled, box] if goes_on else [box]
        goes_on = vector["continues"] and not stroked
    pens = _pens(thick)
    if any(round(_thickness(box), 1) not in pens for box in thick):
        return False
    model.rules, model.drawings = rules + [rule for box in thick for rule in _line(box)], steps
    return True


def _thickness(box: Rectangle) -> float:
    return min(box[2] - box[0], box[3] - box[1])


def _pens(boxes: list[Rectangle]) -> set[float]:
    """Thicknesses that lines by thick pens have: two pieces of one line overlap by just that, cells never do."""
    found: set[float] = set()
    for along in (0, 1):
        across = 1 - along
        ordered = sorted(boxes, key=lambda box: (round(box[across], 1), box[along]))
        for first, second in itertools.pairwise(ordered):
            thick = first[across + 2] - first[across]
            level = abs(first[across] - second[across]) < 0.05 and abs(first[across + 2] - second[across + 2]) < 0.05
            if level and abs(first[along + 2] - second[along] - thick) < 0.05:
                found.add(round(thick, 1))
    return found


def _outlines(stroked: Rectangle, filled: Rectangle) -> bool:
    """Whether a stroke's box is that of a filled rectangle, widened evenly by a pen."""
    pen = filled[0] - stroked[0]
    even = (filled[1] - stroked[1], stroked[2] - filled[2], stroked[3] - filled[3])
    return pen >= 0 and all(abs(side - pen) < 0.02 for side in even)


def _line(box: Rectangle) -> list[Rule]:
    """The rule that a thin stroke with a pen of half the box's thickness is."""
    x0, y0, x1, y1 = box
    pen = min(x1 - x0, y1 - y0) / 2
    return _stroke((x0 + pen, y0 + pen, x1 - pen, y1 - pen))


# ---------------------------------------------------------------- drawings as exact paths
def _read_paths(page: Page, model: PageModel, to_frame: Transform) -> None:
    for drawing in page.get_cdrawings():
        model.drawings += len(drawing.get("items", ()))
        if len(model.rules) < _MAX_RULES:
            model.rules.extend(_rules(drawing, to_frame, model.frame_width, model.frame_height))


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
    wide, high = x1 - x0, y1 - y0
    if high <= _THIN and wide > _SHORT and wide > high:
        middle = (y0 + y1) / 2
        return [Rule(x0, middle, x1, middle)]
    if wide <= _THIN and high > _SHORT and high > wide:
        middle = (x0 + x1) / 2
        return [Rule(middle, y0, middle, y1)]
    if wide <= _THIN or high <= _THIN or (wide > 0.95 * width and high > 0.95 * height):
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
