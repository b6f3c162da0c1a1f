"""Finds characters that people do not see but machines read, as hidden instructions use them.

Nothing is rewritten: the loss report says what is there and how much of it, so that a reader can be warned.
"""

from __future__ import annotations

import re

from engine.records import ExtractedDocument, Loss

_TAG = "[\U000e0020-\U000e007e]"
_KINDS = (
    # Tag characters spell ASCII invisibly; up to six after a black flag are an emoji (Unicode TS #51, annex C).
    (
        re.compile(f"(?<!\U0001f3f4)(?<!{_TAG})(?:\U000e0001|{_TAG}){_TAG}*|\U0001f3f4{_TAG}{{7,}}"),
        "invisible tag characters",
    ),
    (re.compile("[\u202d\u202e]"), "characters that force the reading direction"),
    (re.compile("[\u200b\u2060-\u2064\ufeff]{4,}"), "runs of characters without width"),
    (re.compile("[\U000e0100-\U000e01ef]{4,}|[\ufe00-\ufe0f]{4,}"), "runs of variation selectors"),
)


def flag_suspicious(document: ExtractedDocument) -> int:
    """Add a loss `suspicious_text` for every kind of hidden characters in the content; how many places there are."""
    total = 0
    for pattern, message in _KINDS:
        count = sum(1 for _ in pattern.finditer(document.content))
        if count:
            total += count
            document.warnings.append(Loss("suspicious_text", f"the text holds {message}; it was kept", count=count))
    return total
