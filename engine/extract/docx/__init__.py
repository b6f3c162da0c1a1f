"""Word documents (.docx, .docm): body in source order, with notes, comments, boxes, headers, embedded files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engine.document import Builder
from engine.errors import Code, InputError, Stage
from engine.extract import Context
from engine.extract.children import Children
from engine.extract.docx.anchored import comment_block
from engine.extract.docx.blocks import block, blocks, pending, settled
from engine.extract.docx.looks import headings_by_look
from engine.extract.docx.numbering import read_numbering
from engine.extract.docx.source import Source
from engine.extract.docx.styles import W, read_styles
from engine.extract.encrypted import decrypted
from engine.extract.flow import emit, keep_furniture, plain_text
from engine.extract.ooxml import MC, first_of_kind, main_part, read_properties, relationships
from engine.records import ExtractedDocument, StructureElement
from engine.sanitize import safexml
from engine.sanitize.package import Package

_BODY_CHILDREN = (
    *(
        f"{W}{name}"
        for name in (
            "p",
            "tbl",
            "sdt",
            "sectPr",
            "altChunk",
            "customXml",
            "commentRangeStart",
            "commentRangeEnd",
            "ins",
            "moveTo",
            "smartTag",
        )
    ),
    f"{MC}AlternateContent",
)


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read a Word document. Raises InputError as `Package` does, and ENCRYPTED_DOCUMENT."""
    builder = context.builder()
    path = decrypted(path, context, "Word document")
    with Package(path, context.settings.limits, builder.warn, "Word document") as package:
        part = main_part(package, "word/document.xml")
        source = _source(package, part, context, builder)
        read_properties(package, builder)
        try:
            emit(builder, settled(_body(source, part)))
            emit(builder, [comment_block(source, c, blocks) for c in source.comments.values()])
            _headers(source)
            source.children.close()
            builder.roots = headings_by_look(builder.roots, source.sizes)
            keep_furniture(builder, context.settings)
        except RecursionError as error:
            raise InputError("the document is nested too deeply", Code.LIMIT_EXCEEDED, Stage.EXTRACT) from error
    return builder.finish()


def _source(package: Package, part: str, context: Context, builder: Builder) -> Source:
    rels = relationships(package, part)

    def load(kind: str, usual: str) -> safexml.Node | None:
        return package.optional_xml(first_of_kind(rels, kind) or usual)

    styles = read_styles(load("styles", "word/styles.xml"))
    numbering = read_numbering(load("numbering", "word/numbering.xml"), styles)
    source = Source(package, builder, Children(builder, context), styles, numbering, rels)
    for kind in ("footnote", "endnote"):
        target = first_of_kind(rels, f"{kind}s") or f"word/{kind}s.xml"
        root = package.optional_xml(target)
        source.note_rels[kind] = relationships(package, target) if root is not None else {}
        for note in root.iterchildren(f"{W}{kind}") if root is not None else ():
            if note.get(f"{W}type") in {None, "normal"}:
                source.notes[kind, note.get(f"{W}id", "")] = note
    comments = load("comments", "word/comments.xml")
    for comment in comments.iterchildren(f"{W}comment") if comments is not None else ():
        source.comments[comment.get(f"{W}id", "")] = comment
    return source


def _body(source: Source, part: str) -> Iterator[StructureElement]:
    """Blocks of the body, read as a stream so that memory does not grow with the document."""
    found = False
    for element in source.package.stream(part, _BODY_CHILDREN):
        parent = element.getparent()
        if parent is None or parent.tag != f"{W}body":
            continue
        found = True
        yield from block(source, element)
        element.clear()
        while element.getprevious() is not None:
            del parent[0]
    yield from pending(source)
    if not found and W[1:-1].encode() not in source.package.xml_bytes(part):
        raise InputError("the main part is not a Word document", stage=Stage.EXTRACT)


def _headers(source: Source) -> None:
    seen: set[tuple[str, str]] = set()
    for part, kind in list(source.header_parts.items()):
        root = source.package.optional_xml(part)
        if root is None:
            continue
        source.rels = relationships(source.package, part)
        text = plain_text(blocks(source, root))
        if text and (kind, text) not in seen:
            seen.add((kind, text))
            source.builder.paragraph(text, kind)
