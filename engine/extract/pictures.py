"""Pictures inside office files as image blocks; the bytes are kept within bounds."""

from __future__ import annotations

import posixpath

from engine.document import Builder
from engine.errors import Code, InputError
from engine.extract.flow import image_block
from engine.records import StructureElement
from engine.sanitize.package import Package

MAX_IMAGE_BYTES = 8 << 20
MAX_IMAGES_BYTES = 64 << 20  # over all pictures of one document
_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".jfif": "image/jpeg",
    ".gif": "image/gif",
    ".bmp": "image/bmp",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
    ".emf": "image/x-emf",
    ".wmf": "image/x-wmf",
    ".wdp": "image/vnd.ms-photo",
}


def picture(package: Package, builder: Builder, part: str, alt_text: str | None) -> StructureElement:
    """The picture in a part. Too large, missing or damaged ones keep their place without bytes, and a warning."""
    mime_type = _TYPES.get(posixpath.splitext(part)[1].lower(), "application/octet-stream")
    return image_block(_bytes(package, builder, part), mime_type, alt_text or None)


def _bytes(package: Package, builder: Builder, part: str) -> bytes:
    size = package.size(part)
    if size > MAX_IMAGE_BYTES or package.picture_bytes + size > MAX_IMAGES_BYTES:
        builder.warn("image_skipped", "pictures beyond the size kept were left out", place=part)
        return b""
    try:
        data = package.read(part)
    except InputError as error:
        if error.code is Code.LIMIT_EXCEEDED:
            raise
        builder.warn("image_unreadable", error.message, place=part)
        return b""
    package.picture_bytes += size
    return data
