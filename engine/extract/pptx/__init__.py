"""PowerPoint decks (.pptx): slide by slide, each slide a page under the heading of its title."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from engine.document import Builder, walk
from engine.errors import Code, InputError, Stage
from engine.extract import Context
from engine.extract.children import Children
from engine.extract.encrypted import decrypted
from engine.extract.flow import emit, keep_furniture
from engine.extract.ooxml import R, Relationships, first_of_kind, main_part, read_properties, relationships
from engine.extract.pptx.placeholders import Inherited, P, placeholder_of, read_inherited
from engine.extract.pptx.shapes import Slide, linked_xml, shape_blocks, title_shape
from engine.extract.pptx.text import body_text, unescaped
from engine.records import ExtractedDocument
from engine.sanitize.package import Package
from engine.sanitize.safexml import Node, local_name, text_of

_EMU_PER_POINT = 12_700
_NOT_NOTES = {"sldImg", "sldNum", "hdr", "ftr", "dt"}


@dataclass(slots=True)
class _Deck:
    """What all slides of one file share."""

    package: Package
    builder: Builder
    context: Context
    children: Children
    authors: dict[str, str]
    cache: dict[str | None, Inherited] = field(default_factory=lambda: dict[str | None, Inherited]())


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read a deck. Raises InputError as `Package` does, and ENCRYPTED_DOCUMENT."""
    builder = context.builder()
    path = decrypted(path, context, "PowerPoint presentation")
    with Package(path, context.settings.limits, builder.warn, "PowerPoint presentation") as package:
        part = main_part(package, "ppt/presentation.xml")
        presentation = package.xml(part)
        rels = relationships(package, part)
        read_properties(package, builder)
        deck = _Deck(package, builder, context, Children(builder, context), _authors(package, rels))
        size = _size(presentation)
        try:
            for number, target in enumerate(_slides(presentation, rels), 1):
                _slide(deck, number, target, size)
        except RecursionError as error:
            raise InputError("the deck is nested too deeply", Code.LIMIT_EXCEEDED, Stage.EXTRACT) from error
        deck.children.close()
    builder.page = None
    for text in dict.fromkeys(text for inherited in deck.cache.values() for text in inherited.fixed_texts):
        builder.paragraph(text, "page_footer")
    _settle_furniture(builder, context.settings.extraction.furniture == "keep")
    keep_furniture(builder, context.settings)
    return builder.finish()


def _settle_furniture(builder: Builder, keep: bool) -> None:
    """Dates and footers that stand on several slides are furniture; one that stands once may say something."""
    marked = [e for e in walk(builder.roots) if "furniture" in e.attributes]
    counts = Counter(e.content for e in marked)
    for element in marked:
        kind = element.attributes.pop("furniture")
        if counts[element.content] > 1 and not keep:
            element.type = kind


def _slides(presentation: Node, rels: Relationships) -> Iterator[str]:
    """Part names of the slides in showing order."""
    for entry in presentation.iter(f"{P}sldId"):
        relationship = rels.get(entry.get(f"{R}id", ""))
        if relationship is not None and not relationship.external:
            yield relationship.target


def _size(presentation: Node) -> tuple[float | None, float | None]:
    size = presentation.find(f"{P}sldSz")
    try:
        return int(size.get("cx")) / _EMU_PER_POINT, int(size.get("cy")) / _EMU_PER_POINT
    except (AttributeError, TypeError, ValueError):
        return None, None


def _slide(deck: _Deck, number: int, part: str, size: tuple[float | None, float | None]) -> None:
    package, builder = deck.package, deck.builder
    root = package.optional_xml(part)
    if root is None:
        builder.start_page(number, *size)
        builder.warn("slide_unreadable", "a slide could not be read", f"slide {number}")
        return
    hidden = root.get("show") in {"0", "false"}
    if hidden and deck.context.settings.extraction.hidden == "drop":
        builder.warn("hidden_slide", "a hidden slide was left out (setting extraction.hidden)", f"slide {number}")
        return
    builder.start_page(number, *size)
    rels = relationships(package, part)
    inherited = read_inherited(package, first_of_kind(rels, "slideLayout"), deck.cache)
    slide = Slide(number, package, builder, deck.children, rels, inherited)
    slide.title = title_shape(root)
    builder.heading(1, _title(slide, hidden))
    tree = root.find(f"{P}cSld/{P}spTree")
    if tree is not None:
        emit(builder, shape_blocks(slide, tree))
    for _, notes in linked_xml(slide, "notesSlide"):
        builder.paragraph(_notes_text(notes), "speaker_notes")
        _notes_furniture(builder, notes)
    for _, comments in linked_xml(slide, "comments"):
        for text in _comment_texts(comments, deck.authors):
            builder.paragraph(text, "comment")


def _title(slide: Slide, hidden: bool) -> str:
    """The slide's title, or its number; hidden slides that are kept say so."""
    title = body_text(slide.title.find(f"{P}txBody")) if slide.title is not None else f"Slide {slide.number}"
    if hidden:
        slide.warn("hidden_slide", "a hidden slide was kept and marked")
        title = f"{title} (hidden)"
    return title


def _notes_text(notes: Node) -> str:
    """Notes text: the body placeholder and any other box, without headers, footers and page numbers."""
    texts: list[str] = []
    for shape in notes.iter(f"{P}sp"):
        placeholder = placeholder_of(shape)
        if placeholder is None or placeholder.type not in _NOT_NOTES:
            texts.append(body_text(shape.find(f"{P}txBody")))
    return "\n".join(filter(None, texts))


def _notes_furniture(builder: Builder, notes: Node) -> None:
    for shape in notes.iter(f"{P}sp"):
        placeholder = placeholder_of(shape)
        kind = {"hdr": "page_header", "ftr": "page_footer"}.get(placeholder.type) if placeholder is not None else None
        if kind is not None:
            builder.paragraph(body_text(shape.find(f"{P}txBody")), kind)


def _authors(package: Package, rels: Relationships) -> dict[str, str]:
    """Names of comment authors by id, of the old and the new kind."""
    names: dict[str, str] = {}
    for kind in ("commentAuthors", "authors"):
        target = first_of_kind(rels, kind)
        root = package.optional_xml(target) if target else None
        for author in root if root is not None else ():
            names[author.get("id", "")] = author.get("name", "")
    return names


def _comment_texts(root: Node, authors: dict[str, str]) -> Iterator[str]:
    """Texts of comments and replies, each with its author."""
    for comment in root.iter():
        if local_name(comment) not in {"cm", "reply"}:
            continue
        body = next((c for c in comment if local_name(c) == "txBody"), None)
        plain = next((c for c in comment if local_name(c) == "text"), None)
        text = body_text(body) if body is not None else unescaped(text_of(plain)) if plain is not None else ""
        author = authors.get(comment.get("authorId", ""), "")
        if text:
            yield f"{author}: {text}" if author else text
