"""Embeds with a sentence-transformers model in this process, offline.

Each text is tokenised once, for the check against the model's limit and for the model alike. Texts are sorted by
length and packed into batches under a budget of padded tokens, so that little padding is computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from engine.embed import ModelInfo
from engine.embed.limits import from_tokenizer_file, load_tokenizer, longest_fitting
from engine.embed.model_files import find_folder, local_info, read_files, stay_offline
from engine.errors import ConfigError, EmbeddingError, Stage
from engine.settings import Settings

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

CPU_BATCH_TOKENS = 1536  # measured: larger batches fall out of the caches and lose up to 15 %


class LocalEmbedder:
    """An `Embedder` over a model folder. Not thread-safe; one per worker."""

    def __init__(self, settings: Settings) -> None:
        embedding = settings.embedding
        files = read_files(find_folder(embedding.model))
        self.info: ModelInfo = local_info(files, embedding)
        self._tokenizer = load_tokenizer(files.folder)
        self._limits = from_tokenizer_file(
            self._tokenizer, str(files.folder), self.info.max_tokens, self.info.document_prefix
        )
        device = _device(embedding.device)
        if embedding.threads is not None:
            torch.set_num_threads(embedding.threads)
        self._model = _load(str(files.folder), device)
        self._device = torch.device(device)
        on_cpu = self._device.type == "cpu"
        self._batch_tokens = min(embedding.batch_tokens, CPU_BATCH_TOKENS) if on_cpu else embedding.batch_tokens
        self._pad = int(getattr(self._model.tokenizer, "pad_token_id", None) or 0)

    def count_tokens(self, texts: list[str]) -> list[int]:
        return [len(ids) for ids in self._encode(self.info.document_prefix, texts)]

    def embed_documents(self, texts: list[str]) -> NDArray[np.float32]:
        encoded = self._encode(self.info.document_prefix, texts)
        over = [i for i, ids in enumerate(encoded) if len(ids) > self.info.max_tokens]
        if over:
            raise EmbeddingError(
                f"{len(over)} of {len(texts)} texts are over the {self.info.max_tokens} tokens that "
                f"{self.info.model} takes; nothing is cut silently",
                stage=Stage.EMBED,
                details={"positions": over[:20], "longest": max(len(encoded[i]) for i in over)},
            )
        return self._forward(encoded)

    def embed_queries(self, texts: list[str]) -> NDArray[np.float32]:
        prefix = self.info.query_prefix
        return self._forward(self._encode(prefix, [longest_fitting(text, prefix, self._limits) for text in texts]))

    def _encode(self, prefix: str, texts: list[str]) -> list[list[int]]:
        batch = [prefix + text for text in texts] if prefix else texts
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(batch)]

    def _forward(self, encoded: list[list[int]]) -> NDArray[np.float32]:
        """(n, dimensions) unit vectors of the token ids, in order."""
        out = np.empty((len(encoded), self.info.dimensions), np.float32)
        with torch.inference_mode():
            for batch in batches([len(ids) for ids in encoded], self._batch_tokens):
                features = self._features([encoded[i] for i in batch])
                vectors = self._model(features)["sentence_embedding"]
                out[batch] = vectors.float().cpu().numpy()
        return unit_vectors(out, self.info.model)

    def _features(self, rows: list[list[int]]) -> dict[str, Any]:
        """Padded tensors of one batch, as the model's first module takes them."""
        width = max(map(len, rows))
        ids = np.full((len(rows), width), self._pad, np.int64)
        mask = np.zeros((len(rows), width), np.int64)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = row
            mask[at, : len(row)] = 1
        features = {"input_ids": ids, "attention_mask": mask}
        if "token_type_ids" in getattr(self._model.tokenizer, "model_input_names", ()):
            features["token_type_ids"] = np.zeros_like(ids)
        return {name: torch.from_numpy(value).to(self._device) for name, value in features.items()}


def batches(lengths: list[int], budget: int) -> Iterator[list[int]]:
    """Positions of texts in batches, longest first, each under `budget` padded tokens (or a single text)."""
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    at = 0
    while at < len(order):
        size = max(1, budget // max(lengths[order[at]], 1))
        yield order[at : at + size]
        at += size


def unit_vectors(vectors: NDArray[np.float32], model: str) -> NDArray[np.float32]:
    """The rows at length one. Raises EmbeddingError when a row is not finite or zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or (norms == 0).any():
        raise EmbeddingError(f"{model} gave a vector that is not finite or is zero", stage=Stage.EMBED)
    return vectors / norms


def _device(name: str) -> str:
    if name != "auto":
        return name
    return "cuda" if torch.cuda.is_available() else "cpu"


def _load(folder: str, device: str) -> SentenceTransformer:
    """The model, in half precision on a GPU. Raises ConfigError when it cannot be loaded."""
    stay_offline()  # must stand before the imports, which read it once
    from sentence_transformers import SentenceTransformer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # noise in a worker's log
    try:
        model = SentenceTransformer(folder, device=device, local_files_only=True)
    except (OSError, ValueError, RuntimeError) as error:
        raise ConfigError(f"cannot load the embedding model in {folder} on {device}: {error}") from error
    model.eval()
    if torch.device(device).type == "cuda":
        model.to(torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16)
    return model
