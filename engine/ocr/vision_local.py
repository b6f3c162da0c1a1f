"""Vision engine on this machine: rapidocr's bundled PP-OCR models on ONNX Runtime."""

from __future__ import annotations

import itertools
import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.errors import Code, CorpusError, Stage
from engine.ocr.doubt import is_sure
from engine.ocr.layout import group_lines, mean_confidence
from engine.records import OcrLine, OcrResult

Quad = NDArray[np.float32]  # four corners, from the top left clockwise
Bounds = tuple[float, float, float, float]
_COVERED = 0.85  # share of a box under lines that were read surely, above which it is not read again
_LINE_HEIGHT = 56  # pixels; the recognition model's input has 48
_GUTTER = 0.8  # of a line's height; wider white between two lines parts columns
_CREDIBLE = 0.7  # confidence of a line whose ends may mark the end of a column
_NEIGHBOURS = 4  # times a line's height: how far a gutter must go on
_LEAST_SCORE = 0.5  # of a line; below, it is picture, not text


@dataclass
class LocalVision:
    """Loads its models (about 35 MB) at the first picture. `threads`: of one inference."""

    threads: int = 1
    name: str = "rapidocr"
    _engine: Any = field(default=None, repr=False)

    def read(self, image_path: Path, known: OcrResult | None = None) -> OcrResult:
        """Read one upright picture; boxes in its pixels. `known`: what is read of it already; places where that is
        sure are passed over. Raises CorpusError (OCR_FAILED) when the engine fails on the picture."""
        try:
            engine = self._loaded()
            with Image.open(image_path) as image:
                pixels = np.asarray(image.convert("RGB"))[:, :, ::-1]  # the models expect blue first
            found = engine(pixels, use_det=True, use_cls=False, use_rec=False)
            boxes = [] if found is None or found.boxes is None else list(found.boxes)
            known_lines = known.lines if known else []
            pieces = [piece for box in boxes for piece in _parted(np.asarray(box, dtype=np.float32), known_lines)]
            lines = self._lines(pixels, [piece for piece in pieces if not _is_known(_bounds(piece), known_lines)])
        except (OSError, ValueError, RuntimeError) as error:
            message = (str(error).splitlines() or [type(error).__name__])[0][:150]
            raise CorpusError(
                f"the vision engine failed on a page: {message}", Code.OCR_FAILED, Stage.VISION
            ) from error
        read = group_lines([line for line in lines if line.text and line.confidence >= _LEAST_SCORE])
        return OcrResult(read, round(mean_confidence(read), 4), self.name)

    def _lines(self, pixels: NDArray[np.uint8], boxes: list[Quad]) -> list[OcrLine]:
        """Recognise the text in quadrangles, several at once: the model reads the last letters of a line better
        where the batch's longest line leaves it some room."""
        if not boxes:
            return []
        from rapidocr.ch_ppocr_rec import TextRecInput
        from rapidocr.utils.process_img import get_rotate_crop_image

        crops = [_shrunk(get_rotate_crop_image(pixels, box)) for box in boxes]
        self._engine._load_rec_model()  # loaded at first use; its own call takes one picture at a time
        found = self._engine.text_rec(TextRecInput(img=crops, return_word_box=False))
        read = zip(boxes, found.txts, found.scores, strict=True)
        return [OcrLine(str(text).strip(), float(score), *_bounds(box), engine=self.name) for box, text, score in read]

    def _loaded(self) -> Any:
        if self._engine is None:
            from rapidocr import RapidOCR

            logging.getLogger("RapidOCR").setLevel(logging.ERROR)
            self._engine = RapidOCR(
                params={
                    "Global.log_level": "error",
                    "EngineConfig.onnxruntime.intra_op_num_threads": self.threads,
                    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                }
            )
        return self._engine


def _shrunk(crop: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A line's picture no higher than the model makes good use of; it would shrink it without smoothing."""
    height, width = crop.shape[:2]
    if height <= _LINE_HEIGHT:
        return crop
    size = (max(1, round(width * _LINE_HEIGHT / height)), _LINE_HEIGHT)
    return np.asarray(Image.fromarray(crop).resize(size, Image.Resampling.BOX))


def _bounds(box: Quad) -> Bounds:
    """The quadrangle as an upright box about its middle, with its own width and height."""
    x, y = box.mean(axis=0)
    across = float(np.linalg.norm(box[1] - box[0]) + np.linalg.norm(box[2] - box[3])) / 4
    down = float(np.linalg.norm(box[3] - box[0]) + np.linalg.norm(box[2] - box[1])) / 4
    return float(x) - across, float(y) - down, float(x) + across, float(y) + down


def _beside(box: Bounds, lines: list[OcrLine]) -> list[OcrLine]:
    """The lines at the box's height that share some of its width, from left to right."""
    x0, y0, x1, y1 = box
    found = [line for line in lines if min(x1, line.x1) - max(x0, line.x0) > 0]
    found = [n for n in found if y0 < (n.y0 + n.y1) / 2 < y1 or n.y0 < (y0 + y1) / 2 < n.y1]
    return sorted(found, key=lambda line: line.x0)


def _is_known(box: Bounds, lines: list[OcrLine]) -> bool:
    """Whether a box lies over lines that were read surely, and over no other."""
    over = _beside(box, lines)
    covered = sum(min(box[2], line.x1) - max(box[0], line.x0) for line in over)
    return all(map(is_sure, over)) and covered >= _COVERED * (box[2] - box[0])


def _parted(box: Quad, lines: list[OcrLine]) -> list[Quad]:
    """The box cut where the first reading has white between two lines side by side: columns run together."""
    bounds = _bounds(box)
    if not lines or bounds[2] <= bounds[0]:
        return [box]
    cuts = [0.0]
    reach = float("-inf")
    for line in _beside(bounds, [line for line in lines if line.confidence >= _CREDIBLE]):
        if line.x0 - reach > _GUTTER * (bounds[3] - bounds[1]) and _is_gutter((reach + line.x0) / 2, bounds, lines):
            cuts.append(((reach + line.x0) / 2 - bounds[0]) / (bounds[2] - bounds[0]))
        reach = max(reach, line.x1)
    shares = [*(c for c in cuts if 0 <= c < 1), 1.0]
    return [_slice(box, a, b) for a, b in itertools.pairwise(shares)]


def _is_gutter(x: float, box: Bounds, lines: list[OcrLine]) -> bool:
    """Whether no line close above or below the box goes across `x`, and some stand on either side of it."""
    reach = _NEIGHBOURS * (box[3] - box[1])
    near = [n for n in lines if n.y0 < box[3] + reach and n.y1 > box[1] - reach and n not in _beside(box, lines)]
    across = any(n.x0 < x < n.x1 for n in near)
    return not across and any(n.x1 <= x for n in near) and any(n.x0 >= x for n in near)


def _slice(box: Quad, start: float, end: float) -> Quad:
    """The part of a quadrangle between two shares of its width."""
    top, bottom = box[1] - box[0], box[2] - box[3]
    corners = [box[0] + start * top, box[0] + end * top, box[3] + end * bottom, box[3] + start * bottom]
    return np.asarray(corners, dtype=np.float32)
