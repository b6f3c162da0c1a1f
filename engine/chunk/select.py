"""Which strategy chunks a document: the table of strategies, and what "auto" picks."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Protocol

from engine.chunk import Piece
from engine.chunk.ruler import Ruler
from engine.errors import ConfigError
from engine.plugins import announced
from engine.records import ChunkConfig, ExtractedDocument
from engine.settings import Settings


class Chunker(Protocol):
    def __call__(self, document: ExtractedDocument, config: ChunkConfig, ruler: Ruler) -> list[Piece]: ...


# strategy → module:function, imported at first use.
STRATEGIES = {
    "semantic": "engine.chunk.semantic:chunk",
    "fixed": "engine.chunk.fixed:chunk",
    "sliding": "engine.chunk.sliding:chunk",
    "recursive": "engine.chunk.recursive:chunk",
}
ENTRY_POINTS = "corpus.chunkers"
_STRUCTURE = {"heading", "table", "list_item", "code", "caption"}
_LOG_LINE = re.compile(
    r"\s*[\[(<]?(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d?[:.]\d\d[:.]\d\d|\w{3} +\d\d? \d\d:\d\d:\d\d|\d{9,13}\b"
    r"|\d\d/\w{3}/\d{4}|\d{4}/\d\d/\d\d|\S+ \S+ \S+ \[\d\d/\w{3}/\d{4}"
    r"|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b)"
)
_LOG_SAMPLE = 200  # lines looked at
_LOG_SHARE = 0.5


def plugins(settings: Settings) -> dict[str, str]:
    """Chunkers of the user's own, strategy name → import path; settings win over entry points."""
    return {**announced(ENTRY_POINTS), **settings.chunkers}


def strategies(settings: Settings) -> list[str]:
    """Every name a caller may give."""
    return sorted({"auto", *STRATEGIES, *plugins(settings)})


def strategy_for(document: ExtractedDocument, name: str) -> str:
    """`name`, or for "auto" what suits the document: semantic where there is structure, sliding for logs,
    recursive otherwise."""
    if name != "auto":
        return name
    if any(span.type in _STRUCTURE for span in document.spans):
        return "semantic"
    return "sliding" if looks_like_log(document.content) else "recursive"


def looks_like_log(text: str) -> bool:
    """Whether most of the first lines begin with a time or a severity."""
    lines = [line for line in text[: _LOG_SAMPLE * 400].split("\n")[:_LOG_SAMPLE] if line.strip()]
    if len(lines) < 5:
        return False
    return sum(_LOG_LINE.match(line) is not None for line in lines) >= _LOG_SHARE * len(lines)


def chunker_for(strategy: str, settings: Settings) -> Chunker:
    """The function of a strategy. Raises ConfigError naming the strategies there are."""
    reference = plugins(settings).get(strategy) or STRATEGIES.get(strategy)
    if reference is None:
        raise ConfigError(f"no chunking strategy {strategy!r}; there are {', '.join(strategies(settings))}")
    return _load(reference)


def _load(reference: str) -> Chunker:
    module, _, name = reference.partition(":")
    try:
        function: Callable[..., list[Piece]] = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(f"cannot load the chunker {reference!r}: {error}") from error
    return function
