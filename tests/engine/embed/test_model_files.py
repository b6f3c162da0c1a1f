"""Model folders: found offline, read without torch, identified by what is in them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.embed.make import model_info, model_limits
from engine.embed.model_files import find_folder, read_files, vector_name, weights_identity
from engine.errors import ConfigError
from engine.settings import Embedding, Settings


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The bundled model's small files, with a few bytes for weights."""
    folder = tmp_path / "My Model_v2"
    shutil.copytree(find_folder("all-MiniLM-L6-v2"), folder, ignore=shutil.ignore_patterns("*.safetensors"))
    (folder / "model.safetensors").write_bytes(b"w" * 5000)
    return folder


def test_the_bundled_model() -> None:
    info = model_info(Settings())
    assert (info.dimensions, info.max_tokens, info.vector_name) == (384, 256, "all-minilm-l6-v2")
    assert find_folder("sentence-transformers/all-MiniLM-L6-v2") == find_folder("all-MiniLM-L6-v2")
    limits = model_limits(Settings())
    assert limits.special == 2
    assert limits.count(["hello world", ""]) == [4, 2]
    assert limits.bare(["hello world", ""]) == [2, 0]


def test_limits_do_not_load_torch() -> None:
    code = (
        "import sys\nfrom engine.settings import Settings\nfrom engine.embed.make import model_limits, model_info\n"
        "model_limits(Settings()).count(['x']); model_info(Settings())\n"
        "print([m for m in ('torch', 'transformers', 'sentence_transformers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_folder_with_prompts(copy: Path) -> None:
    (copy / "config_sentence_transformers.json").write_text(
        json.dumps({"prompts": {"query": "query: ", "passage": "passage: "}})
    )
    info = model_info(Settings(embedding=Embedding(model=str(copy))))
    assert (info.query_prefix, info.document_prefix, info.vector_name) == ("query: ", "passage: ", "my-model-v2")
    assert model_limits(Settings(embedding=Embedding(model=str(copy)))).prefix == "passage: "
    own = Settings(embedding=Embedding(model=str(copy), query_prefix="Q ", document_prefix="D "))
    assert (model_info(own).query_prefix, model_info(own).document_prefix) == ("Q ", "D ")


def test_the_fingerprint_follows_weights_and_prefixes(copy: Path) -> None:
    def mark(**embedding: object) -> str:
        return model_info(Settings(embedding=Embedding(model=str(copy), **embedding))).fingerprint  # type: ignore[arg-type]

    first = mark()
    assert mark() == first
    assert mark(document_prefix="passage: ") != first
    assert mark(device="cpu", batch_tokens=512) == first
    (copy / "model.safetensors").write_bytes(b"w" * 4999 + b"x")
    assert mark() != first


def test_the_folder_may_stand_anywhere(copy: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere" / copy.name
    shutil.copytree(copy, moved)
    assert weights_identity(copy) == weights_identity(moved)
    here, there = (model_info(Settings(embedding=Embedding(model=str(p)))) for p in (copy, moved))
    assert here.fingerprint == there.fingerprint


def test_the_limit_is_the_smallest_stated(copy: Path) -> None:
    assert read_files(copy).max_tokens == 256
    (copy / "sentence_bert_config.json").unlink()
    assert read_files(copy).max_tokens == 512
    assert model_limits(Settings(embedding=Embedding(model=str(copy), max_tokens=100))).max_tokens == 100


def test_what_does_not_fit_is_named(copy: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no-such-model.*EMBEDDING_MODEL"):
        find_folder("no-such-model")
    with pytest.raises(ConfigError, match="someone/unknown"):
        find_folder("someone/unknown")
    with pytest.raises(ConfigError, match=r"embedding.dimensions is 768 but .* gives 384"):
        model_info(Settings(embedding=Embedding(model=str(copy), dimensions=768)))
    (copy / "tokenizer.json").unlink()
    with pytest.raises(ConfigError, match=r"tokenizer\.json"):
        model_limits(Settings(embedding=Embedding(model=str(copy))))
    (copy / "config.json").write_text("{broken")
    with pytest.raises(ConfigError, match=r"config\.json"):
        read_files(copy)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("BAAI/bge-M3", "bge-m3"),
        ("/models/My Model/", "my-model"),
        ("text-embedding-3-large", "text-embedding-3-large"),
    ],
)
def test_vector_names(model: str, name: str) -> None:
    assert vector_name(model) == name
