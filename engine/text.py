"""Text as it may be kept: valid UTF-8, without control characters and soft hyphens."""

from __future__ import annotations

import re

_SURROGATES = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")


def clean_text(text: str) -> str:
    """Text that is valid UTF-8 and free of control characters and soft hyphens.

    Lone surrogates become U+FFFD; every line ending becomes a line feed.
    """
    if text.isprintable():  # the usual case, and much cheaper to see
        return text
    text = _SURROGATES.sub("\ufffd", text).replace("\u00ad", "")
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n\n")
    return _CONTROL.sub("", text)
