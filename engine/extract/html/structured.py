"""What a page says of itself for machines: JSON-LD, microdata and OpenGraph, as one flat set of facts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

_MAX_SCRIPT = 1 << 20
_MAX_FACTS = 40
_MAX_VALUE = 2000
# Things every page of a site has; the page's own subject is preferred.
_SITE_THINGS = {
    "breadcrumblist", "website", "organization", "sitenavigationelement", "imageobject", "webpage", "wpheader",
    "wpfooter", "searchaction", "listitem", "itemlist", "person", "newsmediaorganization", "corporation",
}  # fmt: skip
_UNWANTED = {"@context", "@id", "image", "logo", "url", "thumbnailurl", "potentialaction", "mainentityofpage", "sameas"}


def facts(tree: LexborHTMLParser) -> dict[str, str]:
    """Properties of the page's subject by lower-case name (`type`, `headline`, `author`, `datepublished`, ...).

    JSON-LD goes before microdata; values of inner things are their names.
    """
    subjects = [*_linked_data(tree)]
    subjects.sort(key=lambda thing: _kind(thing).lower() in _SITE_THINGS)
    found = _flat(subjects[0]) if subjects else {}
    for name, value in _microdata(tree).items():
        found.setdefault(name, value)
    return dict(list(found.items())[:_MAX_FACTS])


def _linked_data(tree: LexborHTMLParser) -> Iterator[dict[str, Any]]:
    for node in tree.css('script[type="application/ld+json"]')[:20]:
        text = node.text(deep=True)
        if len(text) > _MAX_SCRIPT:
            continue
        try:
            value = json.loads(text, strict=False)
        except (ValueError, RecursionError):  # broken scripts are common and nobody's text
            continue
        yield from _things(value)


def _things(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for inner in value[:100]:
            yield from _things(inner)
    elif isinstance(value, dict):
        if isinstance(value.get("@graph"), list):
            yield from _things(value["@graph"])
        elif value.get("@type"):
            yield value


def _kind(thing: dict[str, Any]) -> str:
    kind = thing.get("@type")
    return str(kind[0] if isinstance(kind, list) and kind else kind or "")


def _flat(thing: dict[str, Any]) -> dict[str, str]:
    found = {"type": _kind(thing)}
    for name, value in thing.items():
        if name.lower() not in _UNWANTED and not name.startswith("@") and (text := _text(value, 0)):
            found.setdefault(name.lower(), text[:_MAX_VALUE])
    return found


def _text(value: Any, depth: int) -> str:
    """A value in one line: names of things, lists by commas."""
    if isinstance(value, list):
        return ", ".join(filter(None, (_text(v, depth + 1) for v in value[:20]))) if depth < 3 else ""
    if isinstance(value, dict):
        named = next((value[k] for k in ("name", "headline", "@value", "ratingValue", "price") if k in value), "")
        return _text(named, depth + 1) if depth < 3 else ""
    return "" if value is None or isinstance(value, bool) else " ".join(str(value).split())


# ---------------------------------------------------------------- microdata
def _microdata(tree: LexborHTMLParser) -> dict[str, str]:
    """Properties of the first thing that is not a site's own (HTML standard, microdata)."""
    scopes = [n for n in tree.css("[itemscope]:not([itemprop])")[:50] if n.attributes.get("itemtype")]
    scopes.sort(key=lambda node: _type_of(node).lower() in _SITE_THINGS)
    if not scopes:
        return {}
    scope = scopes[0]
    found = {"type": _type_of(scope)}
    for node in scope.css("[itemprop]")[:500]:
        if _owner(node) == scope.mem_id and (text := _property(node)):
            for name in (node.attributes.get("itemprop") or "").lower().split():
                if name not in _UNWANTED:
                    found[name] = f"{found[name]}, {text}"[:_MAX_VALUE] if name in found else text[:_MAX_VALUE]
    return found


def _type_of(node: LexborNode) -> str:
    return (node.attributes.get("itemtype") or "").split(" ")[0].rstrip("/").rpartition("/")[2]


def _owner(node: LexborNode) -> int:
    """The scope a property belongs to, 0 for none."""
    parent = node.parent
    while parent is not None:
        if "itemscope" in parent.attributes:
            return parent.mem_id
        parent = parent.parent
    return 0


def _property(node: LexborNode) -> str:
    attributes = node.attributes
    if "itemscope" in attributes:
        inner = node.css_first("[itemprop=name]")
        return " ".join(inner.text(deep=True).split()) if inner is not None else ""
    for name in ("content", "datetime", "value"):
        if attributes.get(name):
            return " ".join((attributes[name] or "").split())
    text = " ".join(node.text(deep=True).split())
    return text if len(text) <= _MAX_VALUE // 4 else ""
