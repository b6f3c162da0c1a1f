"""Vision engine on this machine: rapidocr's bundled PP-OCR models on ONNX Runtime."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from engine.errors import Code, CorpusError, Stage
from engine.ocr.layout import group_lines, mean_confidence
from engine.records import OcrLine, OcrResult


@dataclass
class LocalVision:
    """Loads its models (about 35 MB) at the first picture. `threads`: of one inference."""

    threads: int = 1
    name: str = "rapidocr"
    _engine: Any = field(default=None, repr=False)

    def read(self, image_path: Path) -> OcrResult:
        """Read one picture; boxes in its pixels. Raises CorpusError (OCR_FAILED) when the engine fails on it."""
        engine = self._loaded()
        try:
            with Image.open(image_path) as image:
                pixels = np.asarray(image.convert("RGB"))[:, :, ::-1]  # the models expect blue first
            found = engine(pixels)
        except (OSError, ValueError, RuntimeError) as error:
            message = (str(error).splitlines() or [type(error).__name__])[0][:150]
            raise CorpusError(
                f"the vision engine failed on a page: {message}", Code.OCR_FAILED, Stage.VISION
            ) from error
        if found is None or found.txts is None or found.boxes is None:
            return OcrResult([], 0.0, self.name)
        lines = [
            OcrLine(
                str(text),
                float(score),
                float(min(p[0] for p in box)),
                float(min(p[1] for p in box)),
                float(max(p[0] for p in box)),
                float(max(p[1] for p in box)),
            )
            for text, score, box in zip(found.txts, found.scores, found.boxes, strict=True)
            if str(text).strip()
        ]
        lines = group_lines(lines)
        return OcrResult(lines, round(mean_confidence(lines), 4), self.name)

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
