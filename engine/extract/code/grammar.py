"""Parses source code with the grammars that tree-sitter-language-pack carries; never downloads one.

Releases from 1.0 on carry none and fetch them at first use, which parsing must not do: they count as absent.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any, TypeAlias

Node: TypeAlias = Any  # tree_sitter.Node

MAX_BYTES = 5 * 1024 * 1024
_SECONDS = 20.0
_BLOCK = 65_536
# A grammar whose scanner does not end on some inputs, and data, which has no functions to find.
UNPARSED = {"cobol", "json", "json5", "yaml", "toml", "ini", "properties", "csv", "xml"}


def parse(source: bytes, language: str) -> Node | None:
    """The root of the syntax tree; None without a grammar, for data formats, and past size or time bounds."""
    if language in UNPARSED or len(source) > MAX_BYTES:
        return None
    parser = _parser(language)
    if parser is None:
        return None
    deadline = time.monotonic() + _SECONDS

    def read(at: int, _: object) -> bytes:
        return source[at : at + _BLOCK]

    try:
        # The progress callback, which only a reading parse has, returns True to stop.
        tree = parser.parse(read, progress_callback=lambda *_: time.monotonic() > deadline)
    except ValueError:  # stopped by the callback
        return None
    return tree.root_node if tree is not None else None


def is_available(language: str) -> bool:
    """Whether a grammar for this language is carried."""
    return language not in UNPARSED and _parser(language) is not None


@lru_cache(maxsize=64)
def _parser(language: str) -> Any | None:
    try:
        import tree_sitter_language_pack as pack
    except ImportError:
        return None
    if hasattr(pack, "download"):
        return None
    try:
        return pack.get_parser(language)  # pyright: ignore[reportArgumentType]
    except LookupError:
        return None
