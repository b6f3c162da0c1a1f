"""Identity and limits of a model behind a gateway: from a short table of known models, else from the settings."""

from __future__ import annotations

from dataclasses import dataclass

from engine.embed import ModelInfo
from engine.embed.limits import ModelLimits, from_encoding, from_tokenizer_file, load_tokenizer
from engine.embed.model_files import find_folder, fingerprint, vector_name
from engine.errors import ConfigError
from engine.settings import Embedding


@dataclass(frozen=True, slots=True)
class Known:
    dimensions: int
    max_tokens: int
    tokenizer: str


# As OpenAI documents its models.
KNOWN = {
    "text-embedding-3-large": Known(3072, 8191, "cl100k_base"),
    "text-embedding-3-small": Known(1536, 8191, "cl100k_base"),
    "text-embedding-ada-002": Known(1536, 8191, "cl100k_base"),
}
TIKTOKEN = {"cl100k_base", "o200k_base", "p50k_base", "p50k_edit", "r50k_base", "gpt2"}


def _known(model: str) -> Known | None:
    return KNOWN.get(model.rsplit("/", 1)[-1])


def model_facts(embedding: Embedding) -> Known:
    """Dimensions, limit and tokenizer of the gateway model. Raises ConfigError naming the setting that is missing."""
    known = _known(embedding.model)
    dimensions = embedding.dimensions or (known.dimensions if known else None)
    max_tokens = embedding.max_tokens or (known.max_tokens if known else None)
    tokenizer = embedding.tokenizer or (known.tokenizer if known else None)
    if dimensions is None or max_tokens is None or tokenizer is None:
        stated = {"dimensions": dimensions, "max_tokens": max_tokens, "tokenizer": tokenizer}
        missing = [f"embedding.{name}" for name, value in stated.items() if value is None]
        raise ConfigError(f"the gateway model {embedding.model!r} is not known here: set {', '.join(missing)}")
    return Known(dimensions, min(max_tokens, known.max_tokens) if known else max_tokens, tokenizer)


def gateway_info(embedding: Embedding) -> ModelInfo:
    """The identity of the gateway model. Its weights cannot be seen: the fingerprint covers its name."""
    facts = model_facts(embedding)
    query, document = embedding.query_prefix, embedding.document_prefix
    identity = ["gateway", embedding.model, str(facts.dimensions), query, document, "l2"]
    return ModelInfo(
        embedding.model,
        vector_name(embedding.model),
        facts.dimensions,
        facts.max_tokens,
        query,
        document,
        fingerprint(identity),
    )


def gateway_limits(embedding: Embedding) -> ModelLimits:
    """The gateway model's limit, counted with the tokenizer named in the settings."""
    facts = model_facts(embedding)
    prefix = embedding.document_prefix
    if facts.tokenizer in TIKTOKEN:
        return from_encoding(facts.tokenizer, facts.max_tokens, prefix)
    try:
        folder = find_folder(facts.tokenizer)
    except ConfigError as error:
        raise ConfigError(
            f"embedding.tokenizer {facts.tokenizer!r} is neither a tiktoken encoding, nor a folder with "
            "tokenizer.json, nor in the local model cache"
        ) from error
    return from_tokenizer_file(load_tokenizer(folder), str(folder), facts.max_tokens, prefix)
