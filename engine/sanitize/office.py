"""Takes macros, OLE objects that are no documents, DDE links and external references out of office files.

Embedded documents stay: they become documents of their own and pass through here again. Hyperlinks stay:
they are text to be read, never followed.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import olefile

from engine.errors import InputError
from engine.records import Loss
from engine.sanitize import odf_active, ooxml_active
from engine.sanitize.ole import NATIVE, OLE_ERRORS, is_executable, is_macro_stream, unwrap_native
from engine.sanitize.package import OLE_MAGIC, Package
from engine.settings import Limits


def sanitize_office(path: Path, out: Path, limits: Limits | None = None) -> list[Loss]:
    """What had to be taken out of an OOXML, OpenDocument or OLE file; empty when nothing had.

    Only then a cleaned copy is at `out`; `path` is never changed. A file that cannot be opened is left to
    its extractor, which says why. Raises InputError(LIMIT_EXCEEDED) as `Package` does.
    """
    with path.open("rb") as file:
        head = file.read(8)
    if head == OLE_MAGIC:
        return _clean_ole(path, out)
    if not head.startswith(b"PK"):
        return []
    return _clean_package(path, out, limits or Limits())  # pyright: ignore[reportCallIssue]


def _clean_package(path: Path, out: Path, limits: Limits) -> list[Loss]:
    losses: list[Loss] = []
    try:
        package = Package(path, limits, lambda code, message, place: None)
    except InputError as error:
        if error.code == "LIMIT_EXCEEDED":
            raise
        return []
    with package:
        if "[Content_Types].xml" in package:
            changes = ooxml_active.changes(package, losses)
        elif "content.xml" in package:
            changes = odf_active.changes(package, losses)
        else:
            return []
        if losses:
            _rewrite(package, out, changes)
    return losses


def _rewrite(package: Package, out: Path, changes: dict[str, bytes | None]) -> None:
    """A copy with parts changed, or left out where the change is None."""
    by_key = {name.lower().lstrip("/"): data for name, data in changes.items()}
    seen: set[str] = set()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for info in package.file.infolist():
            key = info.filename.lower().lstrip("/")
            if info.is_dir() or key in seen:
                continue
            seen.add(key)
            data = by_key.get(key, b"") if key in by_key else package.read(info.filename)
            if data is not None:
                target.writestr(info.filename, data, compress_type=info.compress_type)


# ---------------------------------------------------------------- OLE
def _clean_ole(path: Path, out: Path) -> list[Loss]:
    """Streams of macros and packaged programs are overwritten with zeros, so that the file's layout stays."""
    try:
        with olefile.OleFileIO(str(path)) as ole:
            doomed = list(_active_streams(ole))
    except OLE_ERRORS:
        return []
    if not doomed:
        return []
    shutil.copyfile(path, out)
    losses: dict[str, Loss] = {}
    with olefile.OleFileIO(str(out), write_mode=True) as ole:
        for stream, code, message in doomed:
            ole.write_stream(stream, b"\0" * ole.get_size(stream))
            losses.setdefault(code, Loss(code, message, count=0)).count += 1
    if "macro_removed" in losses:
        losses["macro_removed"].count = 1  # one project, many streams
    return list(losses.values())


def _active_streams(ole: Any) -> Iterable[tuple[list[str], str, str]]:
    for stream in ole.listdir():
        if is_macro_stream(stream):
            yield stream, "macro_removed", "macros were removed"
        elif stream[-1] == NATIVE:
            packaged = unwrap_native(ole.openstream(stream).read())
            if packaged is not None and is_executable(*packaged):
                yield stream, "ole_object_removed", "an embedded program or script was removed"
