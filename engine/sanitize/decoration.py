"""Takes the pictures out of a document that are only decoration.

Three signs tell: few pixels, a single colour, the same picture on most pages (a logo). What an author named or
captioned is no decoration.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from PIL import Image

from engine.document import derive, walk
from engine.errors import InputError
from engine.records import ExtractedDocument, ExtractedImage, Loss, StructureElement
from engine.sanitize.image import opened, plain
from engine.settings import Settings

_REPEATS = 3  # pages; a picture on fewer is not taken for a logo
_ONE_COLOUR = 8  # of 256 levels, the most that a channel varies in a picture of a single colour
_DENSE_BITS = 1.0  # per pixel as stored; what takes more is not of a single colour
_RAW = ("BMP", "TIFF")  # stored with or without packing, so that their size says nothing
_MOST_LOOKED = 8_000_000  # pixels of one picture that is decoded to see whether it has one colour
_MOST_LOOKED_ALL = 100_000_000  # over one document


@dataclass(slots=True)
class _Picture:
    """One picture file of the document: where it stands, and what its header says."""

    digest: bytes
    elements: list[StructureElement] = field(default_factory=lambda: list[StructureElement]())
    pages: set[int] = field(default_factory=lambda: set[int]())


def drop_decoration(document: ExtractedDocument, settings: Settings) -> None:
    """Take decoration out of the tree, in place, and say so in the loss report.

    A document without any text keeps all its pictures: they are what it shows.
    """
    if not document.content.strip():
        return
    found = _pictures(document)
    doomed: set[int] = set()
    losses: Counter[str] = Counter()
    looked = 0
    for picture in found:
        image = picture.elements[0].image
        assert image is not None
        unnamed = [e for e in picture.elements if not named(e.image)]
        reason, pixels = _decoration(image, settings, _MOST_LOOKED_ALL - looked) if unnamed else ("", 0)
        looked += pixels
        gone = unnamed if reason else _repeats(picture, len(document.pages))
        losses[reason or "image_repeated"] += len(gone)
        doomed.update(map(id, gone))
    if not doomed:
        return
    _prune(document, doomed)
    derive(document)
    messages = {
        "image_small": f"pictures of fewer than {settings.extraction.image_min_pixels} pixels that nothing names",
        "image_blank": "pictures of a single colour",
        "image_repeated": "pictures that most pages repeat, but for the first of each",
    }
    document.warnings += [Loss(c, f"{messages[c]} were left out", "", n) for c, n in sorted(losses.items()) if n]


def named(image: ExtractedImage | None) -> bool:
    """Whether an author says something of the picture."""
    return image is not None and bool((image.caption or "").strip() or (image.alt_text or "").strip())


def _pictures(document: ExtractedDocument) -> list[_Picture]:
    """The document's picture files in the order they first occur."""
    found: dict[bytes, _Picture] = {}
    for element in walk(document.structure):
        if element.image is not None and element.image.data:
            digest = hashlib.sha256(element.image.data).digest()
            picture = found.setdefault(digest, _Picture(digest))
            picture.elements.append(element)
            if element.page_number is not None:
                picture.pages.add(element.page_number)
    return list(found.values())


def _decoration(image: ExtractedImage, settings: Settings, budget: int) -> tuple[str, int]:
    """(why it is decoration by itself, or empty; pixels decoded to find out)."""
    try:
        with opened(image.data) as shown:
            pixels = shown.width * shown.height
            if pixels < settings.extraction.image_min_pixels:
                return "image_small", 0
            dense = shown.format not in _RAW and len(image.data) * 8 > _DENSE_BITS * pixels
            if dense or pixels > min(_MOST_LOOKED, budget, settings.limits.image_pixels):
                return "", 0
            shown.draft("RGB", (64, 64))
            return ("image_blank" if _one_colour(plain(shown)) else ""), pixels
    except InputError:  # vector graphics, damaged ones: what cannot be looked at is not judged
        return "", 0


def _one_colour(frame: Image.Image) -> bool:
    values = np.asarray(frame.convert("RGB"))
    return bool((values.max((0, 1)).astype(int) - values.min((0, 1)) <= _ONE_COLOUR).all())


def _repeats(picture: _Picture, pages: int) -> list[StructureElement]:
    """The later occurrences of a picture that stands on most pages, where they say nothing the first does not."""
    if len(picture.pages) < _REPEATS or 2 * len(picture.pages) <= pages:
        return []
    first, *rest = picture.elements
    return [element for element in rest if not named(element.image) or element.content == first.content]


def _prune(document: ExtractedDocument, doomed: set[int]) -> None:
    for siblings in (document.structure, *(element.children for element in list(walk(document.structure)))):
        siblings[:] = [element for element in siblings if id(element) not in doomed]
