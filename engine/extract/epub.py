"""EPUB books: chapters in spine order through the HTML reader, metadata and table of contents from the package."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser

from engine.document import Builder
from engine.errors import Code, InputError, Stage
from engine.extract import Context
from engine.extract.html import add_html, decode_html
from engine.extract.html.head import parse_date
from engine.extract.html.inline import MAX_IMAGE_BYTES, Pictures
from engine.records import ExtractedDocument, StructureElement
from engine.sanitize.package import Package
from engine.sanitize.safexml import Node, local_name

# Fonts obfuscated by these algorithms are no protection of the text (EPUB 3.3, OCF §4.2.6.3.4; Adobe's likewise).
_FONT_ALGORITHMS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_CHAPTER_TYPES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document")


@dataclass(frozen=True, slots=True)
class Entry:
    """A chapter in the table of contents, and how deep it stands there (from 1)."""

    title: str
    depth: int = 1


@dataclass(slots=True)
class _Pictures:
    """The book's pictures, as one of its chapters refers to them. `kinds`: media type by path."""

    package: Package
    part: str
    kinds: dict[str, str]

    def find(self, address: str) -> tuple[str, bytes] | None:
        if re.match(r"[a-z][\w+.-]*:", address, re.IGNORECASE):
            return None
        path = _resolve(posixpath.dirname(self.part), address)
        kind = self.kinds.get(path, "")
        if kind not in _PICTURES or path not in self.package:
            return None
        data = self.package.read(path)
        return (kind, data) if len(data) <= MAX_IMAGE_BYTES else None


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read an EPUB 2 or 3. Raises InputError(ENCRYPTED_DOCUMENT) for DRM, EXTRACTION_FAILED when damaged."""
    builder = context.builder()
    with Package(path, context.settings.limits, builder.warn, "EPUB book") as package:
        _refuse_drm(package)
        root = _package_path(package)
        document = package.xml(root)
        base = posixpath.dirname(root)
        items = {n.get("id", ""): n for n in document.iter() if local_name(n) == "item"}
        _describe(document, builder)
        titles = _contents(package, base, items)
        kinds = {_resolve(base, item.get("href", "")): item.get("media-type", "") for item in items.values()}
        for part in _spine(document, base, items, builder):
            _chapter(package, part, titles.get(part, Entry("")), builder, _Pictures(package, part, kinds))
    return builder.finish()


def _refuse_drm(package: Package) -> None:
    name = "META-INF/encryption.xml"
    if name not in package:
        return
    for node in package.xml(name).iter():
        if local_name(node) != "EncryptedData":
            continue
        method = next((n.get("Algorithm", "") for n in node.iter() if local_name(n) == "EncryptionMethod"), "")
        target = next((n.get("URI", "") for n in node.iter() if local_name(n) == "CipherReference"), "")
        if method not in _FONT_ALGORITHMS and target.lower().endswith((".xhtml", ".html", ".htm", ".xml", ".opf")):
            raise InputError("the book is protected by DRM", Code.ENCRYPTED_DOCUMENT, Stage.EXTRACT)


def _package_path(package: Package) -> str:
    """Path of the package document, from the container file or by its name."""
    container = package.optional_xml("META-INF/container.xml")
    if container is not None:
        for node in container.iter():
            if local_name(node) == "rootfile" and node.get("full-path") in package:
                return str(node.get("full-path"))
    found = next((n for n in package.names() if n.lower().endswith(".opf")), None)
    if found is None:
        raise InputError("the EPUB book lacks its package document", Code.EXTRACTION_FAILED, Stage.EXTRACT)
    return found


def _describe(document: Node, builder: Builder) -> None:
    """Dublin Core metadata of the package document."""
    values: dict[str, list[str]] = {}
    for node in document.iter():
        if isinstance(node.tag, str) and node.tag.startswith("{http://purl.org/dc/elements/1.1/}"):
            text = " ".join("".join(node.itertext()).split())
            if text:
                values.setdefault(local_name(node), []).append(text)
    meta = builder.metadata
    meta.title = next(iter(values.get("title", [])), None)
    meta.author = ", ".join(values.get("creator", [])) or None
    meta.created_date = parse_date(next(iter(values.get("date", [])), None))
    for name in ("publisher", "subject", "description", "identifier", "rights"):
        if name in values:
            meta.extra[name] = ", ".join(values[name])[:2000]
    if "language" in values:
        meta.extra["declared_language"] = values["language"][0]


def _spine(document: Node, base: str, items: dict[str, Node], builder: Builder) -> list[str]:
    """Paths of the chapters in reading order; the table of contents itself is left out."""
    order = [n.get("idref", "") for n in document.iter() if local_name(n) == "itemref"]
    if not any(name in items for name in order):
        builder.warn("spine_missing", "the book gives no reading order; chapters follow the manifest")
        order = list(items)
    found: list[str] = []
    for name in order:
        item = items.get(name)
        if (
            item is None
            or item.get("media-type") not in _CHAPTER_TYPES
            or "nav" in (item.get("properties") or "").split()
        ):
            continue
        found.append(_resolve(base, item.get("href", "")))
    return found


def _resolve(base: str, reference: str) -> str:
    return posixpath.normpath(posixpath.join(base, unquote(reference.partition("#")[0])))


def _contents(package: Package, base: str, items: dict[str, Node]) -> dict[str, Entry]:
    """Chapter path → its entry in the table of contents (EPUB 3 navigation document, else NCX)."""
    for item in items.values():
        part = _resolve(base, item.get("href", ""))
        if "nav" in (item.get("properties") or "").split() and part in package:
            return _from_navigation(package, part)
    for item in items.values():
        part = _resolve(base, item.get("href", ""))
        if item.get("media-type") == "application/x-dtbncx+xml" and part in package:
            return _from_ncx(package, part)
    return {}


def _from_navigation(package: Package, part: str) -> dict[str, Entry]:
    tree = LexborHTMLParser(decode_html(package.read(part)).text)
    contents = [nav for nav in tree.css("nav") if (nav.attributes.get("epub:type") or "toc") == "toc"]
    titles: dict[str, Entry] = {}
    for link in (link for nav in contents for link in nav.css("a")):
        target = _resolve(posixpath.dirname(part), link.attributes.get("href") or "")
        depth, parent = 0, link.parent
        while parent is not None and parent.tag != "nav":
            depth, parent = depth + (parent.tag == "ol"), parent.parent
        titles.setdefault(target, Entry(" ".join(link.text(deep=True).split()), max(depth, 1)))
    return titles


def _from_ncx(package: Package, part: str) -> dict[str, Entry]:
    root = package.optional_xml(part)
    titles: dict[str, Entry] = {}
    for point in root.iter() if root is not None else ():
        if local_name(point) != "navPoint":
            continue
        label = next((n for n in point if local_name(n) == "navLabel"), None)
        content = next((n for n in point if local_name(n) == "content"), None)
        if label is not None and content is not None:
            target = _resolve(posixpath.dirname(part), content.get("src", ""))
            depth = 1 + sum(local_name(above) == "navPoint" for above in point.iterancestors())
            titles.setdefault(target, Entry(" ".join("".join(label.itertext()).split()), depth))
    return titles


def _chapter(package: Package, part: str, entry: Entry, builder: Builder, pictures: _Pictures) -> None:
    if part not in package:
        builder.warn("chapter_missing", "a chapter named in the reading order is not in the book", place=part)
        return
    try:
        text = decode_html(package.read(part)).text
    except InputError as error:
        if error.code is Code.LIMIT_EXCEEDED:
            raise
        builder.warn("chapter_unreadable", error.message, place=part)
        return
    if entry.title and not _has_heading(text):
        builder.heading(entry.depth, entry.title)
    # Books that begin every file with a top heading say in their contents which of them belong below another.
    deeper = entry.depth - 1 if "<h1" in text.lower() else 0
    blocks: list[StructureElement] = add_html(
        builder, text, furniture=False, base_level=deeper, xhtml=True, pictures=Pictures(pictures.find)
    )
    if not blocks:
        builder.warn("chapter_empty", "chapters without text were left out")


def _has_heading(text: str) -> bool:
    lowered = text.lower()
    return any(f"<h{level}" in lowered for level in range(1, 4))
