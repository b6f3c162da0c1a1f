"""Vision engine on this machine: a vision-language model of the transformers library, from a folder or its cache."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image

from engine.errors import Code, ConfigError, CorpusError, Stage
from engine.ocr.transcript import PROMPT, transcript, unfenced
from engine.records import OcrResult


@dataclass
class ModelVision:
    """`model`: a folder, or the id of a model already in the local cache; nothing is downloaded, no code of the
    model's own is run. Loads at the first picture. `threads`: of one inference."""

    model: str
    threads: int = 1
    max_tokens: int = 4096
    _parts: tuple[Any, Any] | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        return f"model:{Path(self.model).name}"

    def read(self, image_path: Path, known: OcrResult | None = None) -> OcrResult:
        """Read one picture, whatever is `known` of it. Lines carry the whole page as their box.

        The confidence is the geometric mean of the probabilities of the tokens written, times the share of words
        that look like words. Raises ConfigError when the model cannot be loaded, CorpusError (OCR_FAILED) when it
        fails on the picture.
        """
        processor, model = self._loaded()
        try:
            with Image.open(image_path) as opened:
                image = opened.convert("RGB")
            text, certainty = self._written(processor, model, image)
        except (OSError, ValueError, RuntimeError, IndexError, KeyError) as error:
            message = (str(error).splitlines() or [type(error).__name__])[0][:150]
            raise CorpusError(f"the vision model failed on a page: {message}", Code.OCR_FAILED, Stage.VISION) from error
        return transcript(unfenced(text), image.size, self.name, certainty)

    def _written(self, processor: Any, model: Any, image: Image.Image) -> tuple[str, float]:
        """The model's text, and how sure it was of it."""
        import torch

        inputs = _inputs(processor, image).to(model.device)
        with torch.inference_mode():
            made = model.generate(
                **inputs,
                max_new_tokens=self.max_tokens,
                do_sample=False,
                num_beams=1,
                return_dict_in_generate=True,
                output_scores=True,
            )
            steps = model.compute_transition_scores(made.sequences, made.scores, normalize_logits=True)
        written = made.sequences[0][-steps.shape[1] :]
        decoder = getattr(processor, "tokenizer", processor)
        text = str(decoder.decode(written, skip_special_tokens=True))
        finite = steps[0][torch.isfinite(steps[0])]
        return text, float(finite.mean().exp()) if len(finite) else 0.0

    def _loaded(self) -> tuple[Any, Any]:
        if self._parts is None:
            import torch
            from transformers import AutoModelForImageTextToText, AutoProcessor
            from transformers.utils.logging import disable_progress_bar

            disable_progress_bar()
            torch.set_num_threads(self.threads)
            try:
                processor: Any = AutoProcessor.from_pretrained(self.model, local_files_only=True)
                model: Any = AutoModelForImageTextToText.from_pretrained(self.model, local_files_only=True)
            except (OSError, ValueError, KeyError, ImportError) as error:
                reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
                raise ConfigError(
                    f"ocr.vision_model {self.model!r} is neither 'rapidocr' nor a vision-language model that can be "
                    f"loaded here: {reason}"
                ) from error
            device = "cuda" if torch.cuda.is_available() else "cpu"
            self._parts = processor, model.to(device).eval()
        return self._parts


def _inputs(processor: Any, image: Image.Image) -> Any:
    """A chat with the picture for models that chat, the picture alone for those that only transcribe."""
    if getattr(processor, "chat_template", None):
        asked = [{"role": "user", "content": [{"type": "image", "image": image}, {"type": "text", "text": PROMPT}]}]
        return processor.apply_chat_template(
            asked, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
        )
    return processor(images=image, return_tensors="pt")
