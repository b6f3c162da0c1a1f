"""Form field values and comments of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice

from engine.extract.pdf.model import PageModel, Rectangle, Transform, Widget, apply
from engine.extract.pdf.mupdf import Page, pymupdf

_COMMENTS = {
    pymupdf.PDF_ANNOT_TEXT, pymupdf.PDF_ANNOT_FREE_TEXT, pymupdf.PDF_ANNOT_HIGHLIGHT, pymupdf.PDF_ANNOT_UNDERLINE,
    pymupdf.PDF_ANNOT_SQUIGGLY, pymupdf.PDF_ANNOT_STRIKE_OUT, pymupdf.PDF_ANNOT_CARET, pymupdf.PDF_ANNOT_SQUARE,
    pymupdf.PDF_ANNOT_CIRCLE, pymupdf.PDF_ANNOT_POLYGON, pymupdf.PDF_ANNOT_LINE, pymupdf.PDF_ANNOT_INK,
    pymupdf.PDF_ANNOT_STAMP,
}  # fmt: skip
_COMB = 1 << 24  # of a text field: its letters stand in equal cells (ISO 32000-1, table 228)
_MAX_ANNOTATIONS = 5000  # per page


def read_annotations(page: Page, model: PageModel, to_frame: Transform) -> None:
    """Fill `model.widgets` with field values and comments that the page's text does not show already."""
    entries = page.annot_xrefs()
    if not entries:
        return
    kinds = {kind for _, kind, *_ in entries}
    fields = list(_fields(page)) if pymupdf.PDF_ANNOT_WIDGET in kinds else []
    for kind, text, box in fields:
        if kind == "comb":
            _take_letters(model, text, apply(to_frame, box))
    shown = _squeezed(" ".join(run.text for run in (*model.runs, *model.asides)))
    comments = _comments(page) if kinds & _COMMENTS else ()
    for kind, text, box in islice(chain(fields, comments), _MAX_ANNOTATIONS):
        if _squeezed(text) not in shown:
            model.widgets.append(Widget("comment" if kind == "comment" else "field", text, *apply(to_frame, box)))


def _take_letters(model: PageModel, text: str, box: Rectangle) -> None:
    """Take the spread letters of a comb field off the page: they are one word, which the field has whole."""
    x0, y0, x1, y1 = box
    wanted = _squeezed(text)
    model.runs = [
        run
        for run in model.runs
        if not (
            x0 <= (run.x0 + run.x1) / 2 <= x1 and y0 <= (run.y0 + run.y1) / 2 <= y1 and _squeezed(run.text) in wanted
        )
    ]


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _fields(page: Page) -> Iterator[tuple[str, str, Rectangle]]:
    for widget in page.widgets():
        value = widget.field_value
        if widget.field_type in (pymupdf.PDF_WIDGET_TYPE_CHECKBOX, pymupdf.PDF_WIDGET_TYPE_RADIOBUTTON):
            if value in (None, False, "", "Off"):
                continue
            value = f"[x] {widget.field_label or ''}".strip()
            if value == "[x]":
                continue
        elif widget.field_type in (pymupdf.PDF_WIDGET_TYPE_BUTTON, pymupdf.PDF_WIDGET_TYPE_SIGNATURE):
            continue
        text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value or "")
        if text.strip():
            kind = "comb" if int(widget.field_flags or 0) & _COMB else "field"
            yield kind, text.strip(), tuple(widget.rect)


def _comments(page: Page) -> Iterator[tuple[str, str, Rectangle]]:
    for annotation in page.annots(types=list(_COMMENTS)):
        text = str(annotation.info.get("content") or "").strip()
        if text:
            author = str(annotation.info.get("title") or "").strip()
            yield "comment", f"{author}: {text}" if author else text, tuple(annotation.rect)
