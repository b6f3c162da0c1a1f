"""The configured embedder, its identity and its limits: one function each.

`model_info` and `model_limits` are cheap (no torch, no network); `make_embedder` loads the model.
"""

from __future__ import annotations

from functools import lru_cache

from engine.embed import Embedder, ModelInfo
from engine.embed.limits import ModelLimits, from_tokenizer_file, load_tokenizer
from engine.embed.model_files import find_folder, local_info, read_files
from engine.settings import Embedding, Settings


def make_embedder(settings: Settings) -> Embedder:
    """The embedder of the settings, ready to use. Raises ConfigError."""
    if settings.embedding.backend == "gateway":
        from engine.embed.gateway import GatewayEmbedder

        return GatewayEmbedder(settings)
    from engine.embed.local import LocalEmbedder

    return LocalEmbedder(settings)


def model_info(settings: Settings) -> ModelInfo:
    """The identity of the configured model, from its files or the settings alone. Raises ConfigError."""
    if settings.embedding.backend == "gateway":
        from engine.embed.gateway_model import gateway_info

        return gateway_info(settings.embedding)
    return local_info(read_files(find_folder(settings.embedding.model)), settings.embedding)


def model_limits(settings: Settings) -> ModelLimits:
    """The configured model's input limit and token counts: the same object for the same settings, because
    token costs are remembered with it. Raises ConfigError."""
    return _limits(settings.embedding.model_dump_json())


@lru_cache(maxsize=8)
def _limits(embedding_json: str) -> ModelLimits:
    embedding = Embedding.model_validate_json(embedding_json)
    if embedding.backend == "gateway":
        from engine.embed.gateway_model import gateway_limits

        return gateway_limits(embedding)
    files = read_files(find_folder(embedding.model))
    limit = min(files.max_tokens, embedding.max_tokens or files.max_tokens)
    prefix = embedding.document_prefix or files.document_prompt
    return from_tokenizer_file(load_tokenizer(files.folder), str(files.folder), limit, prefix)
