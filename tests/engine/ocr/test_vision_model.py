"""A vision-language model from a folder, behind the interface of the vision engines."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import ConfigError
from engine.ocr import vision_engine
from engine.ocr.vision_model import ModelVision
from engine.settings import Settings
from tests.engine.extract.pdf_files import text_picture


def tiny_model(folder: Path) -> None:
    """An untrained model that looks at a picture and writes tokens, as small as the library allows."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import (
        GPT2Config,
        PreTrainedTokenizerFast,
        TrOCRProcessor,
        VisionEncoderDecoderConfig,
        VisionEncoderDecoderModel,
        ViTConfig,
        ViTImageProcessor,
    )

    words = ["<s>", "</s>", "<pad>", "invoice", "total", "amount", "and", "number"]
    tokens = Tokenizer(models.WordLevel({w: n for n, w in enumerate(words)}, unk_token="<pad>"))
    tokens.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=tokens, bos_token="<s>", eos_token="</s>", pad_token="<pad>")
    sight = ViTConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, image_size=32)
    speech = GPT2Config(vocab_size=len(words), n_positions=64, n_embd=16, n_layer=1, n_head=2, bos_token_id=0)
    config = VisionEncoderDecoderConfig.from_encoder_decoder_configs(sight, speech)
    config.decoder_start_token_id, config.pad_token_id, config.eos_token_id = 0, 2, 1
    model = VisionEncoderDecoderModel(config=config)
    model.generation_config.decoder_start_token_id, model.generation_config.pad_token_id = 0, 2
    model.generation_config.suppress_tokens = [0, 1, 2]
    model.save_pretrained(folder)
    TrOCRProcessor(ViTImageProcessor(size={"height": 32, "width": 32}), tokenizer).save_pretrained(folder)


@pytest.mark.slow
def test_a_model_named_by_its_folder_writes_what_it_sees(tmp_path: Path) -> None:
    tiny_model(tmp_path / "tiny-vlm")
    text_picture("x", width=1200).save(tmp_path / "a.png")
    settings = Settings.model_validate({"ocr": {"vision_model": str(tmp_path / "tiny-vlm")}})
    engine = vision_engine(settings)
    assert engine.name == "model:tiny-vlm"
    assert isinstance(engine, ModelVision)
    engine.max_tokens = 6
    result = engine.read(tmp_path / "a.png")
    written = result.lines[0].text.split()
    assert len(written) == 6 and set(written) <= {"invoice", "total", "amount", "and", "number"}
    assert 0.0 < result.confidence < 1.0 and result.engine == "model:tiny-vlm"
    assert (result.lines[0].x0, result.lines[0].x1) == (0, 1200)


@pytest.mark.slow
def test_a_model_that_is_not_there_is_a_fault_of_the_settings(tmp_path: Path) -> None:
    text_picture("x").save(tmp_path / "a.png")
    with pytest.raises(ConfigError, match="rapidocr"):
        ModelVision(str(tmp_path / "nothing")).read(tmp_path / "a.png")
