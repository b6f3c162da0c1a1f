"""Takes everything active out of a parsed HTML tree: scripts, handlers, frames, hidden text, references outside.

Nothing here fetches anything; the extractor reads only text and attributes that stay.
"""

from __future__ import annotations

import re
from collections import Counter

from selectolax.lexbor import LexborHTMLParser, LexborNode

from engine.records import Loss

ACTIVE = {"script", "style", "iframe", "frame", "object", "embed", "applet", "link", "base", "noscript", "template"}
_HIDDEN_STYLE = re.compile(r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_MESSAGES = {
    "script_removed": "scripts and event handlers were removed",
    "embedded_removed": "embedded frames and objects were left out",
    "hidden_text": "text that the page hides from its readers was left out",
    "image_not_fetched": "pictures stored outside the document were not fetched",
}


def strip_active(tree: LexborHTMLParser) -> list[Loss]:
    """Remove active and hidden nodes from `tree`; what was removed, by kind."""
    counts: Counter[str] = Counter()
    doomed: list[LexborNode] = []
    for node in tree.css("*"):
        kind = _kind(node)
        if kind is not None:
            doomed.append(node)
            if kind:
                counts[kind] += 1
        elif _is_remote(node):
            counts["image_not_fetched"] += 1
        if any(name.startswith("on") for name in node.attributes):
            counts["script_removed"] += 1
    for node in reversed(doomed):  # inner ones first
        node.decompose()
    return [Loss(kind, _MESSAGES[kind], count=count) for kind, count in sorted(counts.items())]


def _kind(node: LexborNode) -> str | None:
    """Why this node must go; an empty word when its loss is nobody's; None when it stays."""
    tag = node.tag or ""
    if tag in ("iframe", "frame", "object", "embed", "applet"):
        return "embedded_removed"
    if tag == "script":
        return "script_removed"
    if tag in ACTIVE:
        return ""
    if is_hidden(node):
        return "hidden_text" if node.text(strip=True) else ""
    return None


def is_hidden(node: LexborNode) -> bool:
    """Hidden by its own markup: `hidden`, an inline style, a dialog that is not open."""
    attributes = node.attributes
    if not attributes:
        return node.tag == "dialog"
    if "hidden" in attributes and attributes["hidden"] != "until-found":
        return True
    if node.tag == "dialog" and "open" not in attributes:
        return True
    return bool(_HIDDEN_STYLE.search(attributes.get("style") or ""))


def _is_remote(node: LexborNode) -> bool:
    if node.tag not in ("img", "source", "video", "audio"):
        return False
    source = (node.attributes.get("src") or "").strip().lower()
    return bool(source) and not source.startswith(("data:", "cid:"))
