"""What a page says of itself in its head and for machines: title, author, dates, language, subject."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from selectolax.lexbor import LexborHTMLParser

from engine.extract.html.structured import facts
from engine.records import DocumentMetadata

_TITLE = ("og:title", "dc.title", "dcterms.title", "citation_title")
_AUTHOR = ("author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "byl")
_CREATED = (
    "article:published_time", "datepublished", "date", "dc.date", "dcterms.created", "dcterms.date", "citation_date",
    "dc.date.created", "pubdate", "publish-date",
)  # fmt: skip
_MODIFIED = ("article:modified_time", "og:updated_time", "datemodified", "dcterms.modified", "last-modified", "revised")
_KEPT = ("description", "keywords", "generator", "og:site_name", "og:type", "dc.publisher", "dc.subject")


def describe(tree: LexborHTMLParser, metadata: DocumentMetadata) -> None:
    """Fill `metadata` from the page's head. The declared language goes to `extra`, as it is often a template's."""
    named = _meta(tree)
    title = tree.css_first("head > title, title")
    text = " ".join(title.text(deep=True).split()) if title is not None else ""
    said = facts(tree)
    metadata.title = text or _first(named, _TITLE) or said.get("headline") or said.get("name")
    author = _first(named, _AUTHOR)
    author = None if author and author.startswith(("http://", "https://")) else author
    metadata.author = author or said.get("author")
    metadata.created_date = parse_date(_first(named, _CREATED)) or parse_date(said.get("datepublished"))
    metadata.modified_date = parse_date(_first(named, _MODIFIED)) or parse_date(said.get("datemodified"))
    metadata.extra.update({name: named[name] for name in _KEPT if name in named})
    description = named.get("og:description") or named.get("twitter:description") or said.get("description")
    if description:
        metadata.extra.setdefault("description", description)
    metadata.extra.update({f"schema:{name}": value for name, value in said.items()})
    address = tree.css_first("link[rel=canonical]")
    url = (address.attributes.get("href") or "" if address is not None else "") or named.get("og:url", "")
    if url:
        metadata.extra["url"] = url[:2000]
    root = tree.css_first("html")
    language = (root.attributes.get("lang") or root.attributes.get("xml:lang") or "") if root is not None else ""
    if re.fullmatch(r"[A-Za-z]{2,3}(?:[-_][\w-]+)?", language):
        metadata.extra["declared_language"] = language


def _meta(tree: LexborHTMLParser) -> dict[str, str]:
    """Content of meta tags by name, property or itemprop in lower case; the first of each counts."""
    found: dict[str, str] = {}
    for node in tree.css("meta"):
        attributes = node.attributes
        name = attributes.get("name") or attributes.get("property") or attributes.get("itemprop") or ""
        content = " ".join((attributes.get("content") or "").split())[:2000]
        if name and content:
            found.setdefault(name.strip().lower(), content)
    return found


def _first(named: dict[str, str], names: tuple[str, ...]) -> str | None:
    return next((named[name] for name in names if name in named), None)


def in_utc(value: datetime) -> datetime:
    """The same moment in UTC, naive ones taken as UTC. Raises OverflowError at the ends of the calendar.

    Offsets of odd lengths that Python reads are refused by others, so none is kept.
    """
    return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


def parse_date(text: str | None) -> datetime | None:
    """An ISO 8601 date or time, or one as mail writes it (RFC 5322); naive ones count as UTC. Else None."""
    if not text:
        return None
    from email.utils import parsedate_to_datetime

    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return in_utc(read(text.strip()))
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return None
