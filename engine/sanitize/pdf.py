"""Finds what a PDF could do beside showing pages (scripts, launch actions, media) and takes it out of a copy.

Reading a PDF for its text runs nothing of this; the copy is for whoever opens the stored file later.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

from engine.records import Loss

_MAX_OBJECTS = 300_000
# Names that a file without active content lacks; objects may hide in object streams, names be written in hex.
_SUSPECT = re.compile(
    rb"/(?:JS|JavaScript|Launch|OpenAction|AA|RichMedia|SubmitForm|ImportData|GoTo[RE]|EmbeddedFile|ObjStm|XFA"
    rb"|Rendition|Movie|\w*#[0-9a-fA-F]{2})"
)
# Action types (ISO 32000-1, table 198) that reach outside the document, and how they are reported.
_ACTIONS = {
    "/JavaScript": ("script_removed", "JavaScript"),
    "/Launch": ("launch_action_removed", "an action that starts a program"),
    "/SubmitForm": ("external_action_removed", "an action that sends data out"),
    "/ImportData": ("external_action_removed", "an action that reads files"),
    "/GoToR": ("external_action_removed", "a link into another file"),
    "/GoToE": ("external_action_removed", "a link into an embedded file"),
    "/Rendition": ("media_removed", "an action that plays media"),
    "/Movie": ("media_removed", "an action that plays media"),
}
_EXECUTABLE = re.compile(
    r"\.(?:exe|dll|com|scr|bat|cmd|ps1|vbs?|vbe|jse?|wsf|hta|msi|jar|lnk|reg|sh|app|pif|cpl|apk)$", re.IGNORECASE
)


def sanitize_pdf(path: Path, out: Path, passwords: list[str] | None = None) -> list[Loss]:
    """Report active content of `path`; when there is some, write a copy without it to `out`.

    `out` exists afterwards only if something was taken out. A file that cannot be opened gives an empty
    list: the extractor reports what is wrong with it.
    """
    if not _SUSPECT.search(path.read_bytes()):
        return []
    sys.modules.setdefault("pymupdf.layout", None)  # pyright: ignore[reportArgumentType]
    pymupdf: Any = import_module("pymupdf")
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    errors = (RuntimeError, ValueError, LookupError, pymupdf.mupdf.FzErrorBase)
    try:
        document = pymupdf.open(str(path), filetype="pdf")
    except errors:
        return []
    try:
        if document.needs_pass and not any(document.authenticate(word) for word in ["", *(passwords or [])]):
            return []
        found: Counter[tuple[str, str]] = Counter()
        for xref in range(1, min(document.xref_length(), _MAX_OBJECTS)):
            found.update(_strip_object(document, xref, errors))
        found.update(_strip_files(document))
        if found:
            document.save(str(out), encryption=pymupdf.PDF_ENCRYPT_KEEP)
    except errors:  # an object that cannot be rewritten; what was found is still reported
        out.unlink(missing_ok=True)
        found = Counter({("active_content_kept", "active content that could not be removed"): 1})
    finally:
        document.close()
    return [Loss(code, f"{what} was taken out of the PDF", count=count) for (code, what), count in found.items()]


def _strip_object(document: Any, xref: int, errors: tuple[type[Exception], ...]) -> list[tuple[str, str]]:
    """Empty one object's actions; what they were."""
    try:
        keys = document.xref_get_keys(xref)
    except errors:
        return []
    if not keys:
        return []
    found: list[tuple[str, str]] = []
    own = document.xref_get_key(xref, "S")[1] if "S" in keys else ""
    if own in _ACTIONS:
        document.update_object(xref, "<<>>")
        return [_ACTIONS[own]]
    if "JS" in keys and own != "/JavaScript":
        document.xref_set_key(xref, "JS", "null")
        found.append(_ACTIONS["/JavaScript"])
    for key in ("OpenAction", "AA", "A", "Names"):
        if key in keys:
            found += _strip_key(document, xref, key)
    for key, report in (("XFA", ("xfa_removed", "an XFA form")), ("RichMedia", ("media_removed", "rich media"))):
        if key in keys:
            document.xref_set_key(xref, key, "null")
            found.append(report)
    return found


def _strip_key(document: Any, xref: int, key: str) -> list[tuple[str, str]]:
    """Remove an entry that holds an action of its own; references are met at the object they point to."""
    kind, value = document.xref_get_key(xref, key)
    if kind == "null":
        return []
    if key == "AA":
        document.xref_set_key(xref, key, "null")
        return [("automatic_action_removed", "an action that runs by itself")]
    actions = [report for name, report in _ACTIONS.items() if kind == "dict" and re.search(rf"/S\s*{name}\b", value)]
    if key == "Names":
        if kind == "dict" and "/JavaScript" in value:
            document.xref_set_key(xref, "Names/JavaScript", "null")
            return [_ACTIONS["/JavaScript"]]
        return []
    if actions:
        document.xref_set_key(xref, key, "null")
    return actions


def _strip_files(document: Any) -> list[tuple[str, str]]:
    """Remove embedded programs; other embedded files are documents and stay."""
    names = [name for name in document.embfile_names() if _EXECUTABLE.search(_file_name(document, name))]
    for name in names:
        document.embfile_del(name)
    return [("embedded_program_removed", "an embedded program")] * len(names)


def _file_name(document: Any, name: str) -> str:
    info = document.embfile_info(name)
    return str(info.get("ufilename") or info.get("filename") or name)
