"""Content negotiation by the Accept header (RFC 9110, section 12.5.1), as far as two media types need it."""

from __future__ import annotations

import re

_QUALITY = re.compile(r"(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)")


def prefers(accept: str, wanted: str, usual: str) -> bool:
    """Whether a client with this Accept header is to get `wanted` instead of `usual`: it must name `wanted` itself
    and must not like `usual` better. Wildcards, which clients add to everything, stand for `usual`."""
    ranges = _ranges(accept)
    named = ranges.get(wanted, 0.0)
    return named > 0 and named >= ranges.get(usual, 0.0)


def _ranges(accept: str) -> dict[str, float]:
    """Media range without parameters → quality; what cannot be read is left out."""
    found: dict[str, float] = {}
    for part in accept.split(","):
        media_range, *parameters = (piece.strip().lower() for piece in part.split(";"))
        quality = _weight(parameters)
        if media_range and quality is not None:
            found[media_range] = max(quality, found.get(media_range, 0.0))
    return found


def _weight(parameters: list[str]) -> float | None:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            value = value.strip()
            return float(value) if _QUALITY.fullmatch(value) else None
    return 1.0
