"""What text a database column can hold: checks for keys and ids, cleaning for everything else.

PostgreSQL takes no NUL, neither database takes lone surrogates (undecodable bytes of file names), and
one such value would fail the whole batch it stands in.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import cast
from uuid import UUID

from engine.errors import Code, InputError

MAX_KEY_BYTES = 2000  # an entry of PostgreSQL's B-tree holds at most 2704 bytes; object stores stop at 1024
MAX_MESSAGE = 4000

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_CANONICAL = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}").fullmatch


def clean(text: str) -> str:
    """The text with every character a column cannot hold replaced by U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


def message(text: str) -> str:
    """An error message fit to be stored: clean, and cut at 4,000 characters with a mark."""
    cleaned = clean(text)
    return cleaned if len(cleaned) <= MAX_MESSAGE else cleaned[: MAX_MESSAGE - 1] + "…"


def key_problem(key: str) -> str:
    """Why the registry cannot hold this key, as a sentence; empty when it can.

    Keys are compared with listings byte for byte, so they are never changed: whoever lists a source gives
    such an object a failure of its own instead of a claim.
    """
    if _UNSTORABLE.search(key):
        return f"the name {key!a} holds characters that are not text"
    if len(key.encode()) > MAX_KEY_BYTES:
        return f"the name {key[:80]}… is longer than {MAX_KEY_BYTES} bytes"
    return ""


def canonical(value: str) -> str | None:
    """The lower-case dashed form of a UUID, None when the value is none."""
    if _CANONICAL(value):
        return value
    try:
        return str(UUID(value))
    except ValueError:
        return None


def known_ids(values: Iterable[str]) -> list[str]:
    """The values that are UUIDs, canonical, each once, ascending: the order in which rows are locked."""
    return sorted({uuid for value in values if (uuid := canonical(value))})


def required_id(value: str) -> str:
    """The canonical form of an id that must be a UUID. Raises InputError."""
    uuid = canonical(value)
    if uuid is None:
        raise InputError(f"{value!r} is not a UUID", Code.INVALID_REQUEST)
    return uuid


def encode_json(value: object) -> str:
    """JSON both databases take: ASCII, dates as text, NaN and infinities (which JSON lacks) as null."""
    try:
        return json.dumps(value, allow_nan=False, default=str)
    except ValueError:
        return json.dumps(_finite(value), allow_nan=False, default=str)


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(k): _finite(v) for k, v in cast("Mapping[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in cast("list[object]", value)]
    return value
