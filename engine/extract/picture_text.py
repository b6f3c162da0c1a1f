"""Reads the text on pictures inside documents, and hangs it below them, so that it can be found.

In a document that has text of its own, a picture is read once, by Tesseract, where it looks like letters on a ground,
and only text that reads like sentences is kept: a photograph or the ticks of a chart would add noise. A document of
pictures alone is read as its pages would be, by both engines. Everything is bounded in number and time.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
from PIL import Image

from engine.document import derive, walk
from engine.errors import CorpusError, InputError
from engine.ocr import OcrUnavailableError, VisionEngine, installed_languages, vision_engine
from engine.ocr.doubt import is_doubtful
from engine.ocr.fuse import fused
from engine.ocr.tesseract import read_upright
from engine.ocr.upright import Affine, Turn, composed, upright_copy
from engine.records import Box, ExtractedDocument, ExtractedImage, Loss, OcrResult, StructureElement
from engine.sanitize.image import one_frame, opened
from engine.settings import Settings

MOST_PICTURES = 24  # of one document that are read
MOST_SHARE = 0.3  # of limits.document_seconds that reading them may take
_LEAST_SIDE = 60  # pixels
_LEAST_PIXELS = 30_000
_GROUND = 0.3  # share of the pixels that an even ground takes; photographs have none
_GROUND_LEVELS = 12  # grey levels that an even ground varies by
_SURE = 0.75  # confidence from which on the text on one picture among others is kept
_WORDS = 8  # words in it, and no fewer; labels and ticks have fewer
_WORD = re.compile(r"[^\W\d_]{3,}")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
PICTURE_TEXT = "picture"  # origin of the elements read


def read_pictures(document: ExtractedDocument, scratch: Path, settings: Settings) -> None:
    """Read the document's pictures, in place. What is not read for want of time goes to the loss report.

    Pages that are themselves pictures are not looked at again. Nothing is read in the profile `fast` of a document
    that has text, or where OCR is off or not installed.
    """
    alone = not document.pending and not any(
        e.content.strip() or e.table is not None for e in walk(document.structure) if e.image is None
    )
    if not settings.ocr.enabled or not installed_languages() - {"osd"}:
        return
    if settings.extraction.profile == "fast" and not alone:
        return
    pictures = [e for e in walk(document.structure) if e.image is not None and e.image.data and not e.children]
    reader = _Reader(scratch, settings, alone)
    read = [element for element in pictures if reader.read(element)]
    for code, count in reader.losses.items():
        document.warnings.append(Loss(code, _LOSSES[code], count=count))
    if read:
        derive(document)


_LOSSES = {
    "pictures_unread": "pictures beyond what is read of one document may hold text that cannot be found",
    "picture_ocr_failed": "pictures whose text could not be read",
}


@dataclass(slots=True)
class _Reader:
    """What reading the pictures of one document has taken so far; equal bytes are read once."""

    scratch: Path
    settings: Settings
    alone: bool
    count: int = 0
    losses: Counter[str] = field(default_factory=lambda: Counter[str]())
    seen: set[int] = field(default_factory=lambda: set[int]())
    end: float = 0.0

    def read(self, element: StructureElement) -> bool:
        """Hang the text on a picture below it; whether there was any."""
        image = element.image
        assert image is not None
        self.end = self.end or time.monotonic() + MOST_SHARE * self.settings.limits.document_seconds
        key = hash(image.data)
        if key in self.seen:
            return False
        self.seen.add(key)
        picture = self.scratch / f"picture-{len(self.seen):05d}.png"
        if not self._is_worth_it(image, picture):
            return False
        if self.count >= MOST_PICTURES or time.monotonic() > self.end:
            self.losses["pictures_unread"] += 1
            return False
        self.count += 1
        try:
            found = read_picture(picture, self.settings, self.alone)
        except OcrUnavailableError:
            return False
        except CorpusError:
            self.losses["picture_ocr_failed"] += 1
            return False
        finally:
            picture.unlink(missing_ok=True)
        if found is None:
            return False
        element.children = _below(found, element, picture.with_suffix(".upright.png"))
        return bool(element.children)

    def _is_worth_it(self, image: ExtractedImage, picture: Path) -> bool:
        """Whether a picture may hold text; then it is written to `picture`."""
        try:
            with opened(image.data) as source:
                width, height = source.size
                if min(width, height) < _LEAST_SIDE or width * height < _LEAST_PIXELS:
                    return False
                plain, _ = one_frame(source, 1, self.settings.limits, [])
        except InputError:
            return False  # said by whoever keeps the pictures
        if not self.alone and not has_even_ground(plain):
            return False
        plain.save(picture, compress_level=1)
        return True


def has_even_ground(image: Image.Image) -> bool:
    """Whether much of a picture is of one tone, as what letters stand on is, and something stands out from it."""
    small = image.convert("L")
    small.thumbnail((500, 500), Image.Resampling.BOX)
    levels = np.bincount(np.asarray(small).ravel(), minlength=256)
    ground = int(levels.argmax())
    near = levels[max(ground - _GROUND_LEVELS, 0) : ground + _GROUND_LEVELS + 1].sum() / max(levels.sum(), 1)
    return _GROUND <= near < 0.998


@dataclass(slots=True, frozen=True)
class PictureText:
    """What was read on a picture: the reading, in pixels of `upright`, and how that was turned."""

    reading: OcrResult
    upright: Path
    turn: Turn


def read_picture(picture: Path, settings: Settings, alone: bool = False) -> PictureText | None:
    """The text on one picture file; None where there is none worth keeping. The upright copy lies beside it.

    `alone`: the picture is what the document consists of, so both engines look, and little text counts as well.
    Raises OcrUnavailableError, or InputError where the program fails.
    """
    reading, turn = read_upright(picture, settings)
    upright = upright_copy(picture, turn, picture.with_suffix(".upright.png"))
    if alone and settings.ocr.vision == "local" and is_doubtful(upright, reading, settings):
        reading = _second_look(upright, reading, settings)
    if alone:
        return PictureText(reading, upright, turn) if reading.lines else None
    text = " ".join(line.text for line in reading.lines)
    words = len(_WORD.findall(text)) + len(_CJK.findall(text)) // 2
    return PictureText(reading, upright, turn) if reading.confidence >= _SURE and words >= _WORDS else None


def _second_look(upright: Path, reading: OcrResult, settings: Settings) -> OcrResult:
    found = _engine(settings.ocr.vision_model).read(upright, reading)
    if any(line.engine for line in found.lines):
        return fused(reading, found)
    return found if found.confidence > reading.confidence else reading


@lru_cache(maxsize=1)
def _engine(model: str) -> VisionEngine:
    return vision_engine(Settings.model_validate({"ocr": {"vision": "local", "vision_model": model}}))


def _below(found: PictureText, element: StructureElement, upright: Path) -> list[StructureElement]:
    """The elements read, placed where the picture stands on its page. Its headings are none of the document's."""
    from engine.extract.scan_layout import ReadPage, scan_blocks  # brings the PDF geometry

    place = _place(found.turn, element.box)
    blocks = list(walk(scan_blocks(found.reading, ReadPage(upright, element.page_number or 1, place))))
    upright.unlink(missing_ok=True)
    kept: list[StructureElement] = []
    for block in blocks:
        block.page_number = element.page_number
        block.box = block.box if element.box else None
        block.attributes["origin"] = PICTURE_TEXT
        if block.type == "heading":
            block.type, block.level, block.children = "paragraph", None, []
        if block.table is not None:
            block.table.page_number, block.table.box = block.page_number, block.box
        if block.type != "list_item":
            kept.append(block)
    return kept


def _place(turn: Turn, box: Box | None) -> Affine:
    """From pixels of the upright picture to points of the page that shows it."""
    if box is None:
        return turn.back()
    across = (box.x1 - box.x0) / max(turn.width, 1)
    down = (box.y1 - box.y0) / max(turn.height, 1)
    return composed(turn.back(), (across, 0.0, 0.0, down, box.x0, box.y0))
