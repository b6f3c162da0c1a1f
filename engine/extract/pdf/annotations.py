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
_MAX_ANNOTATIONS = 5000  # per page


def read_annotations(page: Page, model: PageModel, to_frame: Transform) -> None:
    """Fill `model.widgets` with field values and comments that the page's text does not show already."""
    entries = page.annot_xrefs()
    if not entries:
        return
    shown = _squeezed(" ".join(run.text for run in (*model.runs, *model.asides)))
    kinds = {kind for _, kind, *_ in entries}
    fields = _fields(page) if pymupdf.PDF_ANNOT_WIDGET in kinds else ()
    comments = _comments(page) if kinds & _COMMENTS else ()
    for kind, text, box in islice(chain(fields, comments), _MAX_ANNOTATIONS):
        if _squeezed(text) not in shown:
            model.widgets.append(Widget(kind, text, *apply(to_frame, box)))


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
            yield "field", text.strip(), tuple(widget.rect)


def _comments(page: Page) -> Iterator[tuple[str, str, Rectangle]]:
    for annotation in page.annots(types=list(_COMMENTS)):
        text = str(annotation.info.get("content") or "").strip()
        if text:
            author = str(annotation.info.get("title") or "").strip()
            yield "comment", f"{author}: {text}" if author else text, tuple(annotation.rect)
