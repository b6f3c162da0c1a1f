"""Front matter (YAML between `---`, TOML between `+++`) at the top of a text becomes metadata."""

from __future__ import annotations

import re
import tomllib
from datetime import UTC, date, datetime

import yaml

from engine.document import Builder
from engine.extract.html.head import in_utc, parse_date

MAX_CHARACTERS = 64 * 1024
_MAX_VALUE = 2000
_BLOCK = re.compile(
    r"\A\ufeff?(?P<fence>---|\+\+\+)[ \t]*\r?\n(?P<body>.*?)(?:\r?\n)(?P=fence)[ \t]*(?:\r?\n|\Z)", re.DOTALL
)


def split_front_matter(text: str, builder: Builder) -> str:
    """Read front matter into the builder's metadata; the text after it. Broken front matter stays text."""
    match = _BLOCK.match(text[:MAX_CHARACTERS])
    if match is None:
        return text
    values = _read(match["fence"], match["body"])
    if values is None:
        if _is_rule(match["body"]):
            return text
        builder.warn("front_matter_unreadable", "the front matter could not be read and was kept as text")
        builder.code(match["body"], "toml" if match["fence"] == "+++" else "yaml")  # prose rules would mangle it
        return text[match.end() :]
    _fill(values, builder)
    return text[match.end() :]


def _read(fence: str, body: str) -> dict[str, object] | None:
    try:
        if fence == "+++":
            return dict(tomllib.loads(body))
        if re.search(r"(?m)[:\s-]\s*[*&]\w+\s*$", body):  # anchors and aliases can grow without bound
            return None
        loaded = yaml.safe_load(body)
    except (yaml.YAMLError, tomllib.TOMLDecodeError, ValueError, RecursionError):
        return None
    return {str(k): v for k, v in loaded.items()} if isinstance(loaded, dict) else None  # pyright: ignore[reportUnknownVariableType]


def _is_rule(body: str) -> bool:
    """Between two rules stands ordinary text, not `key: value` lines."""
    return not re.match(r"\s*[\w-]+\s*[:=]", body)


def _fill(values: dict[str, object], builder: Builder) -> None:
    metadata = builder.metadata
    lower = {key.lower(): value for key, value in values.items()}
    if lower.get("title"):
        metadata.title = plain(lower["title"])
    author = lower.get("author") or lower.get("authors")
    if author:
        metadata.author = plain(author)
    metadata.created_date = as_datetime(lower.get("date") or lower.get("created"))
    metadata.modified_date = as_datetime(lower.get("lastmod") or lower.get("updated") or lower.get("modified"))
    metadata.extra.update({key: plain(value) for key, value in values.items() if plain(value)})


def plain(value: object, depth: int = 0) -> str:
    """A value in one line: lists by commas, mappings as `key: value`, bounded in depth and length."""
    if value is None or depth > 3:
        return ""
    if isinstance(value, (list, tuple)):
        return ", ".join(p for v in value if (p := plain(v, depth + 1)))[:_MAX_VALUE]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return ", ".join(f"{k}: {plain(v, depth + 1)}" for k, v in value.items())[:_MAX_VALUE]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    try:
        return str(value)[:_MAX_VALUE]
    except ValueError:  # an integer of more digits than Python writes out
        return ""


def as_datetime(value: object) -> datetime | None:
    if isinstance(value, datetime):
        try:
            return in_utc(value)
        except OverflowError:
            return None
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    return parse_date(value) if isinstance(value, str) else None
