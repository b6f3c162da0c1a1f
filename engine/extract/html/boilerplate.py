"""Decides which blocks of a page are its furniture: menus, banners, footers, cookie notices.

A name alone is never enough: a block goes only when its text behaves like furniture too (mostly links, short,
legal boilerplate). Pages that would lose most of their text are read whole by the caller.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from engine.extract.html.measure import Measure, Measures

_NAV_ROLES = {"navigation", "menu", "menubar", "search", "toolbar", "banner", "contentinfo"}
_NAV_NAMES = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navigation|menu|submenu|navbox|toc|topbar|sidebar|sitemap|catlinks|portlet|footer|"
    r"header|related|recommended|tags|tagcloud|blogroll|widget|masthead|languages?|interlanguage)(?:$|[\s_-])",
    re.IGNORECASE,
)
_SMALL_NAMES = re.compile(
    r"(?:^|[\s_-])(?:breadcrumbs?|pagination|pager|skip-?link|skip|jump-link|social|share|sharing|sharedaddy|"
    r"printfooter|noprint|newsletter|subscribe|ads?|adsbygoogle|advert|advertisement|sponsored|promo|popup)(?:$|[\s_-])",
    re.IGNORECASE,
)
_COOKIE_NAMES = re.compile(r"cookie|consent|gdpr|ccpa|onetrust|cmp-|cc-window|cc-banner|privacy-", re.IGNORECASE)
_COOKIE_TEXT = re.compile(r"cookie|consent|gdpr|datenschutz|privacy|rgpd", re.IGNORECASE)
_ACCEPT = re.compile(
    r"\b(?:accept|agree|got it|allow|decline|reject|manage|ok|akzeptieren|zustimmen|ablehnen|accepter|aceptar|"
    r"accetta)\b",
    re.IGNORECASE,
)
_LEGAL = re.compile(
    r"©|\(c\)\s*\d{4}|copyright|all rights reserved|privacy|terms of|cookie|impressum|datenschutz|powered by|"
    r"mentions légales|aviso legal|alle rechte",
    re.IGNORECASE,
)
_SKIP = re.compile(r"^\s*(?:skip|jump|zum inhalt|aller au contenu|saltar)\b", re.IGNORECASE)
_CONTROLS = {"select", "button", "label", "form", "datalist", "fieldset"}
_SECTIONS = {"article", "section", "main", "blockquote", "td", "li", "figure"}
_DATA = {"pre", "dl"}
_FEW = 20  # characters
_BLOCKS = {"div", "ul", "ol", "table", "section", "aside", "form", "p", "span", "dl"}


@dataclass(frozen=True, slots=True)
class Furniture:
    """The rules, bound to one page's measures. `main` holds the nodes of its main part, if it names one."""

    measures: Measures
    has_main: bool

    def is_furniture(self, node: LexborNode, inside_main: bool) -> bool:
        """Whether to leave this block out. `inside_main` is true on pages that name no main part."""
        measure = self.measures.of(node)
        if not measure.chars:
            return False
        tag, attributes = node.tag or "", node.attributes
        if _holds_data(node, measure):
            return False
        names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
        return (
            self._is_navigation(tag, attributes.get("role") or "", names, measure)
            or self._is_footer(node, tag, attributes.get("role") or "", names, measure)
            or self._is_cookie_notice(node, tag, names, measure, inside_main)
            or _is_skip_link(node, tag, measure)
            or (not inside_main and _is_outside_clutter(tag, measure))
        )

    def _is_navigation(self, tag: str, role: str, names: str, measure: Measure) -> bool:
        if tag == "nav" or (role in _NAV_ROLES and role != "banner" and tag != "body"):
            return measure.density >= 0.4 or not measure.prose
        if tag in ("body", "main", "article", "html") or measure.titles:
            return False
        if _SMALL_NAMES.search(names) and measure.chars < 400 and not measure.headings:
            return measure.density >= 0.3 or not measure.prose
        if _NAV_NAMES.search(names) or tag == "aside":
            return measure.density >= 0.6 and measure.links >= 2 and measure.prose < 0.2 * measure.chars
        return False

    def _is_footer(self, node: LexborNode, tag: str, role: str, names: str, measure: Measure) -> bool:
        if tag != "footer" and role != "contentinfo" and "footer" not in names.lower().split():
            return False
        if any(a.tag in _SECTIONS for a in _near(node)):
            return False
        text = node.text(deep=True)[:4000]
        return measure.density >= 0.4 or (measure.prose < 600 and bool(_LEGAL.search(text)))

    def _is_cookie_notice(self, node: LexborNode, tag: str, names: str, measure: Measure, inside_main: bool) -> bool:
        if measure.chars > 2500 or tag in ("body", "main", "article", "p", "li", "td", "a"):
            return False
        if _COOKIE_NAMES.search(names):
            return bool(_COOKIE_TEXT.search(node.text(deep=True)))
        if measure.chars > 600 or measure.headings > 1 or tag not in _BLOCKS:
            return False
        if inside_main and self.has_main:
            return False
        text = node.text(deep=True, separator=" ")
        return (
            "cookie" in text.lower() and bool(_ACCEPT.search(text)) and node.css_first("button, a, input") is not None
        )


def _holds_data(node: LexborNode, measure: Measure) -> bool:
    """A table, code or list of terms that is not made of links: nobody's furniture, wherever it stands."""
    if measure.density >= 0.5 or measure.chars < _FEW:
        return False
    return node.tag in _DATA or node.css_first("pre, dl, table:not([role=presentation]) th") is not None


def _is_skip_link(node: LexborNode, tag: str, measure: Measure) -> bool:
    if tag != "a" or measure.chars > 60:
        return False
    return (node.attributes.get("href") or "").startswith("#") and bool(_SKIP.match(node.text(deep=True)))


def _is_outside_clutter(tag: str, measure: Measure) -> bool:
    """Beside a page's main part: lists of links, controls, headers without a heading."""
    if measure.prose:
        return False
    if tag in _CONTROLS:
        return True
    if tag == "header":
        return not measure.headings
    return tag in _BLOCKS and measure.density >= 0.7 and not measure.headings


def _near(node: LexborNode) -> list[LexborNode]:
    """The nearest ancestors, enough to see whether a section owns this node."""
    found: list[LexborNode] = []
    parent = node.parent
    while parent is not None and len(found) < 12:
        found.append(parent)
        parent = parent.parent
    return found
