"""Files embedded in office documents (packages and OLE objects) as child documents in scratch."""

from __future__ import annotations

import posixpath

from engine.errors import Code, InputError
from engine.extract.children import Children
from engine.sanitize.ole import extension_of, is_executable, open_object
from engine.sanitize.package import OLE_MAGIC, Package


def attach_part(package: Package, part: str, program: str, children: Children) -> None:
    """Attach the file in a part of a package. `program`: the object's ProgID, for its extension.

    What cannot be read, holds no file, or is a program goes to the loss report instead.
    """
    warn = children.builder.warn
    try:
        data = package.read(part)
    except InputError as error:
        if error.code is Code.LIMIT_EXCEEDED:
            raise
        warn("embedded_unreadable", error.message, place=part)
        return
    name = posixpath.basename(part)
    if data.startswith(OLE_MAGIC):
        opened = open_object(data, name)
        if opened is None:
            warn("ole_object_skipped", f"an embedded {program or 'OLE'} object holds no document", place=part)
            return
        name, data = opened
    elif not posixpath.splitext(name)[1] or name.lower().endswith(".bin"):
        name = posixpath.splitext(name)[0] + extension_of(program, data)
    if is_executable(name, data):
        warn("executable_skipped", "an embedded program or script was left out", place=part)
        return
    children.add(part, data, name)
