"""Vision engine on this machine: rapidocr's bundled PP-OCR models on ONNX Runtime."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.errors import Code, CorpusError, Stage
from engine.ocr.layout import group_lines, mean_confidence
from engine.ocr.quality import SURE_LINE
from engine.records import OcrLine, OcrResult

_COVERED = 0.6  # share of a box under lines that were read surely, above which it is not read again
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
            lines = [self._line(pixels, box) for box in boxes if not _is_known(_bounds(box), known)]
        except (OSError, ValueError, RuntimeError) as error:
            message = (str(error).splitlines() or [type(error).__name__])[0][:150]
            raise CorpusError(
                f"the vision engine failed on a page: {message}", Code.OCR_FAILED, Stage.VISION
            ) from error
        read = group_lines([line for line in lines if line.text and line.confidence >= _LEAST_SCORE])
        return OcrResult(read, round(mean_confidence(read), 4), self.name)

    def _line(self, pixels: NDArray[np.uint8], box: NDArray[np.float32]) -> OcrLine:
        """Recognise the text in one quadrangle."""
        from rapidocr.utils.process_img import get_rotate_crop_image

        crop = get_rotate_crop_image(pixels, np.asarray(box, dtype=np.float32))
        found = self._engine(crop, use_det=False, use_cls=False, use_rec=True)
        text = str(found.txts[0]).strip() if found.txts else ""
        score = float(found.scores[0]) if found.scores else 0.0
        return OcrLine(text, score, *_bounds(box), engine=self.name)

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


def _bounds(box: NDArray[np.float32]) -> tuple[float, float, float, float]:
    corners = np.asarray(box, dtype=float)
    (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
    return float(x0), float(y0), float(x1), float(y1)


def _is_known(box: tuple[float, float, float, float], known: OcrResult | None) -> bool:
    """Whether a box lies over lines that were read surely, and over no other."""
    if known is None:
        return False
    x0, y0, x1, y1 = box
    covered = 0.0
    for line in known.lines:
        across = min(x1, line.x1) - max(x0, line.x0)
        if across <= 0 or not (y0 < (line.y0 + line.y1) / 2 < y1 or line.y0 < (y0 + y1) / 2 < line.y1):
            continue
        if line.confidence < SURE_LINE:
            return False
        covered += across
    return covered >= _COVERED * (x1 - x0)
