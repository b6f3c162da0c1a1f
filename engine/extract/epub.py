"""EPUB books: chapters in spine order through the HTML reader, metadata and table of contents from the package."""

from __future__ import annotations

import posixpath
from pathlib import Path
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser

from engine.document import Builder
from engine.errors import Code, InputError, Stage
from engine.extract import Context
from engine.extract.html import add_html, decode_html
from engine.extract.html.head import parse_date
from engine.records import ExtractedDocument, StructureElement
from engine.sanitize.package import Package
from engine.sanitize.safexml import Node, local_name

# Fonts obfuscated by these algorithms are no protection of the text (EPUB 3.3, OCF §4.2.6.3.4; Adobe's likewise).
_FONT_ALGORITHMS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_CHAPTER_TYPES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document")


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
        for part in _spine(document, base, items, builder):
            _chapter(package, part, titles.get(part, ""), builder)
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


def _contents(package: Package, base: str, items: dict[str, Node]) -> dict[str, str]:
    """Chapter path → its title in the table of contents (EPUB 3 navigation document, else NCX)."""
    for item in items.values():
        part = _resolve(base, item.get("href", ""))
        if "nav" in (item.get("properties") or "").split() and part in package:
            return _from_navigation(package, part)
    for item in items.values():
        part = _resolve(base, item.get("href", ""))
        if item.get("media-type") == "application/x-dtbncx+xml" and part in package:
            return _from_ncx(package, part)
    return {}


def _from_navigation(package: Package, part: str) -> dict[str, str]:
    tree = LexborHTMLParser(decode_html(package.read(part)).text)
    titles: dict[str, str] = {}
    for link in tree.css("nav a"):
        target = _resolve(posixpath.dirname(part), link.attributes.get("href") or "")
        titles.setdefault(target, " ".join(link.text(deep=True).split()))
    return titles


def _from_ncx(package: Package, part: str) -> dict[str, str]:
    root = package.optional_xml(part)
    titles: dict[str, str] = {}
    for point in root.iter() if root is not None else ():
        if local_name(point) != "navPoint":
            continue
        label = next((n for n in point if local_name(n) == "navLabel"), None)
        content = next((n for n in point if local_name(n) == "content"), None)
        if label is not None and content is not None:
            target = _resolve(posixpath.dirname(part), content.get("src", ""))
            titles.setdefault(target, " ".join("".join(label.itertext()).split()))
    return titles


def _chapter(package: Package, part: str, title: str, builder: Builder) -> None:
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
    if title and not _has_heading(text):
        builder.heading(1, title)
    blocks: list[StructureElement] = add_html(builder, text, furniture=False, xhtml=True)
    if not blocks:
        builder.warn("chapter_empty", "chapters without text were left out")


def _has_heading(text: str) -> bool:
    lowered = text.lower()
    return any(f"<h{level}" in lowered for level in range(1, 4))
