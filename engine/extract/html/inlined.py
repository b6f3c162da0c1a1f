"""Puts content that a page carries in attributes and side trees where a browser would show it.

Frames written into the page (`srcdoc`), the text for browsers without frames, declarative shadow trees, and the
text for browsers without scripts where the page has hardly any other.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

_MAX_DEPTH = 3  # frames inside frames
_MAX_FRAMES = 200
_BARE_PAGE = 150  # characters; a page with fewer shows its text only by scripts
_SENTENCE = 40  # characters
_ABOUT_SCRIPTS = re.compile(r"java\s?script", re.IGNORECASE)


def inline_parts(tree: LexborHTMLParser) -> int:
    """Change `tree` so; how many texts for browsers without scripts were left where they are (and so are lost)."""
    for _ in range(_MAX_DEPTH):
        frames = tree.css("iframe[srcdoc]")[:_MAX_FRAMES]
        if not frames:
            break
        for frame in frames:
            _put(frame, LexborHTMLParser(frame.attributes.get("srcdoc") or ""))
    for node in tree.css("noframes"):
        _put(node, LexborHTMLParser(node.text(deep=True)))
    for node in tree.css("template[shadowrootmode]"):
        _put(node, LexborHTMLParser((node.html or "").replace("<template", "<div", 1)))
    return _without_scripts(tree)


def _put(node: LexborNode, inner: LexborHTMLParser) -> None:
    """The body of `inner` in the place of `node`."""
    child = inner.body.first_child if inner.body is not None else None
    while child is not None:
        node.insert_before(child)
        child = child.next
    node.decompose()


def _without_scripts(tree: LexborHTMLParser) -> int:
    texts = [n for n in tree.css("body noscript") if len(n.text(strip=True)) > _SENTENCE]
    wanted = [n for n in texts if not _ABOUT_SCRIPTS.search(n.text(deep=True))]
    if not wanted or tree.body is None:
        return 0
    shown = "".join(n.text_content or "" for n in tree.body.traverse(include_text=True) if _is_shown(n))
    if len("".join(shown.split())) >= _BARE_PAGE:
        return len(wanted)
    for node in wanted:
        node.unwrap()
    return 0


def _is_shown(node: LexborNode) -> bool:
    parent = node.parent
    return node.tag == "-text" and parent is not None and parent.tag not in ("script", "style", "noscript", "title")
