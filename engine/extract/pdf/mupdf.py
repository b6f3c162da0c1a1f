"""The only place that imports PyMuPDF: opening documents, and the errors it raises.

Importing `pymupdf` also imports its optional packages when they are installed: one loads a neural model (0.6 CPU
seconds, 55 MB), the other ONNX Runtime (25 MB). Marking them as absent beforehand avoids it, and nothing changes
where they are not installed. `layout_model` loads what it needs of the first when a page is sent to it.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

from engine.errors import Code, InputError, Stage

for _optional in ("pymupdf.layout", "pymupdf4llm"):
    sys.modules.setdefault(_optional, None)  # pyright: ignore[reportArgumentType]

# PyMuPDF's own annotations are partial and partly wrong (None for values that are never None), so it is untyped here.
pymupdf: Any = import_module("pymupdf")
_bindings: Any = import_module("pymupdf.mupdf")
Document = Any
Page = Any

pymupdf.no_recommend_layout()
pymupdf.TOOLS.mupdf_display_errors(False)
pymupdf.TOOLS.mupdf_display_warnings(False)

# What MuPDF raises on broken input, depending on the layer that notices.
MUPDF_ERRORS: tuple[type[Exception], ...] = (
    RuntimeError,
    ValueError,
    LookupError,
    TypeError,
    _bindings.FzErrorBase,
)
_MAX_OBJECTS = 200_000
_KEPT_BYTES = 32 << 20  # of growth that are left with the process between two documents
_STATM = Path("/proc/self/statm")
_CALLS_BETWEEN_LOOKS = 8
_calls = count(1)
_resident_after_release = 0.0
TEXT_FLAGS = (
    pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
)  # ligatures expand to letters; glyphs without Unicode become U+FFFD, which marks a garbage text layer
VECTOR_FLAG: int = pymupdf.TEXT_COLLECT_VECTORS  # drawings become blocks of the text page


def open_document(path: Path, passwords: Iterable[str]) -> Document:
    """Open a PDF, repaired by MuPDF where its structure is broken.

    The empty password is tried first, then `passwords`. Raises InputError: ENCRYPTED_DOCUMENT when none
    fits, EXTRACTION_FAILED when it is no PDF or has no pages.
    """
    try:
        document = pymupdf.open(str(path), filetype="pdf")
    except MUPDF_ERRORS as error:
        raise InputError(f"not a readable PDF: {_first_line(error)}", Code.EXTRACTION_FAILED, Stage.EXTRACT) from error
    if document.needs_pass and not any(document.authenticate(word) for word in ["", *passwords]):
        document.close()
        raise InputError(
            "the PDF is encrypted and needs a password (none of those given fits)",
            Code.ENCRYPTED_DOCUMENT,
            Stage.EXTRACT,
        )
    if _pages(document) < 1:
        document = _with_new_page_tree(document)
    if _pages(document) < 1:
        document.close()
        raise InputError("the PDF has no pages that can be read", Code.EXTRACTION_FAILED, Stage.EXTRACT)
    return document


def _pages(document: Document) -> int:
    try:
        return document.page_count
    except MUPDF_ERRORS:  # an impossible count in the page tree
        return 0


def _with_new_page_tree(document: Document) -> Document:
    """The document with a page tree made of the page objects found in it, for trees beyond repair."""
    try:
        objects = range(1, min(document.xref_length(), _MAX_OBJECTS))
        pages = [xref for xref in objects if document.xref_get_key(xref, "Type")[1] == "/Page"]
        kind, root = document.xref_get_key(document.pdf_catalog(), "Pages")
        if not pages or kind != "xref":
            return document
        tree = int(root.split()[0])
        document.xref_set_key(tree, "Kids", "[" + " ".join(f"{xref} 0 R" for xref in pages) + "]")
        document.xref_set_key(tree, "Count", str(len(pages)))
        for xref in pages:
            document.xref_set_key(xref, "Parent", f"{tree} 0 R")
        mended = pymupdf.open(stream=document.tobytes(), filetype="pdf")
    except MUPDF_ERRORS:  # nothing to save: the caller reports a document without pages
        return document
    document.close()
    return mended


def release_memory() -> None:
    """Give MuPDF's cache of decoded objects back to the system, when the process has grown since it last was.

    Closing a document drops its fonts and objects but keeps decoded images and the links between colour
    spaces. Only the images weigh anything, and making the links anew costs as much as reading a page does. Even
    to look costs, so it is done for some documents only; MuPDF itself bounds the cache at 256 MB.
    """
    global _resident_after_release
    if next(_calls) % _CALLS_BETWEEN_LOOKS or _resident_bytes() < _resident_after_release + _KEPT_BYTES:
        return
    pymupdf.TOOLS.store_shrink(100)
    _resident_after_release = _resident_bytes()


def _resident_bytes() -> float:
    """Resident memory of this process; infinite where the system does not tell, so that all is given back."""
    try:
        with _STATM.open("rb", buffering=0) as statm:
            return int(statm.read(100).split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return math.inf


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
