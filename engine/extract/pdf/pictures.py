"""Places the images of a page into its reading order, with captions and, within bounds, their bytes."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.document import Builder
from engine.extract.pdf.model import Picture
from engine.extract.pdf.mupdf import MUPDF_ERRORS, Document, pymupdf
from engine.records import ExtractedImage

_MIN_SIDE = 24.0  # points; smaller images are ornaments
_MIN_PIXELS = 1024
_BACKGROUND = 0.85  # share of the page; an image this large is the page's background or the scan itself
_MAX_BYTES = 48_000_000  # of image data kept per document
_MAX_RECODED_PIXELS = 4_000_000  # images not stored as JPEG are decoded once to be kept as PNG
_MAX_RECODED_TOTAL = 30_000_000


@dataclass(slots=True)
class PictureStore:
    """Reads image bytes of one document under a budget; every image once."""

    document: Document
    builder: Builder
    seen: set[int] = field(default_factory=lambda: set[int]())
    kept_bytes: int = 0
    recoded: int = 0

    def shown(self, pictures: list[Picture], width: float, height: float) -> list[Picture]:
        """Those worth listing: neither ornament nor background, and each image once per document."""
        kept: list[Picture] = []
        for picture in pictures:
            across, down = picture.x1 - picture.x0, picture.y1 - picture.y0
            if across * down > _BACKGROUND * width * height:
                continue
            if across < _MIN_SIDE or down < _MIN_SIDE or picture.pixels < _MIN_PIXELS:
                self.builder.warn("image_skipped", "very small images were left out")
            elif picture.xref and picture.xref in self.seen:
                self.builder.warn("image_repeated", "images that repeat were kept once")
            else:
                self.seen.add(picture.xref)
                kept.append(picture)
        return kept

    def image(self, picture: Picture, caption: str | None) -> ExtractedImage:
        data, mime = self._bytes(picture)
        return ExtractedImage(data, mime, caption=caption)

    def _bytes(self, picture: Picture) -> tuple[bytes, str]:
        """The image's bytes and type; empty where they are too large or not readable."""
        if not picture.xref or picture.pixels > self.builder.limits.image_pixels:
            return b"", "image/png"
        try:
            kind = self.document.xref_get_key(picture.xref, "Filter")[1]
            if kind in ("/DCTDecode", "[/DCTDecode]"):
                data, mime = without_metadata(self.document.xref_stream_raw(picture.xref)), "image/jpeg"
            else:
                data, mime = self._recoded(picture), "image/png"
        except MUPDF_ERRORS as error:
            self.builder.warn("image_unreadable", f"an image cannot be decoded: {str(error)[:100]}")
            return b"", "image/png"
        if self.kept_bytes + len(data) > _MAX_BYTES:
            self.builder.warn("image_data_left_out", "image data above the budget of one document was left out")
            return b"", mime
        self.kept_bytes += len(data)
        return data, mime

    def _recoded(self, picture: Picture) -> bytes:
        if picture.pixels > _MAX_RECODED_PIXELS or self.recoded + picture.pixels > _MAX_RECODED_TOTAL:
            self.builder.warn("image_data_left_out", "image data above the budget of one document was left out")
            return b""
        self.recoded += picture.pixels
        pixmap = pymupdf.Pixmap(self.document, picture.xref)
        if pixmap.colorspace is None or pixmap.colorspace.n > 3:
            pixmap = pymupdf.Pixmap(pymupdf.csRGB, pixmap)
        return pixmap.tobytes("png")


def without_metadata(jpeg: bytes) -> bytes:
    """A JPEG stream without its APP1-APP13, APP15 and comment segments (EXIF, XMP, IPTC; ITU-T T.81 B.1.1).

    APP0 (density) and APP14 (Adobe colour transform) decide how it looks and stay.
    """
    if jpeg[:2] != b"\xff\xd8":
        return jpeg
    parts = [jpeg[:2]]
    at = 2
    while at + 4 <= len(jpeg) and jpeg[at] == 0xFF:
        marker = jpeg[at + 1]
        if marker == 0xDA:
            break
        length = 2 + int.from_bytes(jpeg[at + 2 : at + 4], "big")
        if not (0xE1 <= marker <= 0xED or marker in (0xEF, 0xFE)):
            parts.append(jpeg[at : at + length])
        at += length
    return b"".join([*parts, jpeg[at:]])
