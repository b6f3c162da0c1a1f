"""Files embedded in office documents (packages and OLE objects) as child documents in scratch."""

from __future__ import annotations

import posixpath
from pathlib import Path

from engine.document import Builder
from engine.errors import Code, InputError
from engine.extract import Context
from engine.records import ChildDocument
from engine.sanitize.ole import extension_of, is_executable, open_object
from engine.sanitize.package import OLE_MAGIC, Package


def attach_part(package: Package, part: str, program: str, builder: Builder, context: Context) -> None:
    """Attach the file in a part of a package. `program`: the object's ProgID, for its extension.

    What cannot be read, holds no file, or is a program goes to the loss report instead.
    """
    try:
        data = package.read(part)
    except InputError as error:
        if error.code is Code.LIMIT_EXCEEDED:
            raise
        builder.warn("embedded_unreadable", error.message, place=part)
        return
    name = posixpath.basename(part)
    if data.startswith(OLE_MAGIC):
        opened = open_object(data, name)
        if opened is None:
            builder.warn("ole_object_skipped", f"an embedded {program or 'OLE'} object holds no document", place=part)
            return
        name, data = opened
    elif not posixpath.splitext(name)[1] or name.lower().endswith(".bin"):
        name = posixpath.splitext(name)[0] + extension_of(program, data)
    if is_executable(name, data):
        builder.warn("executable_skipped", "an embedded program or script was left out", place=part)
        return
    attach(part, name, data, builder, context)


def attach(inner_path: str, name: str, data: bytes, builder: Builder, context: Context) -> None:
    """Write a child's bytes to scratch and list it; over the limits it is listed with its error."""
    limits = context.settings.limits
    same = sum(1 for child in builder.attached if child.inner_path.partition("#")[0] == inner_path)
    inner_path = f"{inner_path}#{same + 1}" if same else inner_path
    spent = sum(Path(child.path).stat().st_size for child in builder.attached if child.path)
    over = ""
    if len(builder.attached) >= limits.container_members:
        over = f"more than {limits.container_members} embedded files (setting limits.container_members)"
    elif spent + len(data) > limits.container_mb << 20:
        over = f"embedded files of more than {limits.container_mb} MiB (setting limits.container_mb)"
    if over:
        builder.warn("embedded_skipped", over)
        builder.attached.append(ChildDocument(inner_path, name, "", Code.LIMIT_EXCEEDED, over))
        return
    folder = context.scratch / "embedded"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{len(builder.attached):04d}{posixpath.splitext(name)[1][:12]}"
    target.write_bytes(data)
    builder.attached.append(ChildDocument(inner_path, name, str(target)))
