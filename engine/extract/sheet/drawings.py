"""What lies over the cells of an Excel sheet: comments, charts, text boxes, pictures."""

from __future__ import annotations

from collections.abc import Iterator

from engine.document import Builder
from engine.extract.drawing import chart_blocks, diagram_blocks, graphic_parts
from engine.extract.flow import text_block
from engine.extract.ooxml import A, R, Relationships, relationships
from engine.extract.pictures import picture
from engine.extract.pptx.text import body_text
from engine.records import StructureElement
from engine.sanitize.package import Package
from engine.sanitize.safexml import Node, local_name, text_of

XDR = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}"


def drawing_blocks(package: Package, builder: Builder, rels: Relationships) -> Iterator[StructureElement]:
    """Charts, diagrams, text boxes and pictures of a sheet, in anchor order."""
    for drawing in (r for r in rels.values() if r.kind == "drawing" and not r.external):
        root = package.optional_xml(drawing.target)
        if root is not None:
            inner = relationships(package, drawing.target)
            for anchor in root:
                yield from _anchored(package, builder, inner, anchor)


def _anchored(package: Package, builder: Builder, rels: Relationships, anchor: Node) -> Iterator[StructureElement]:
    for body in anchor.iter(f"{XDR}txBody"):
        text = body_text(body)
        if text:
            yield text_block("paragraph", text)
    for shape in anchor.iter(f"{XDR}pic"):
        properties = next(shape.iter(f"{XDR}cNvPr"), None)
        alt = properties.get("descr") if properties is not None else None
        blip = next(shape.iter(f"{A}blip"), None)
        relationship = rels.get(blip.get(f"{R}embed", "")) if blip is not None else None
        if relationship is not None and not relationship.external:
            yield picture(package, builder, relationship.target, alt)
    for kind, rel_id in graphic_parts(anchor):
        relationship = rels.get(rel_id)
        root = package.optional_xml(relationship.target) if relationship is not None else None
        if root is not None:
            yield from chart_blocks(root) if kind == "chart" else diagram_blocks(root)


def persons(package: Package, rels: Relationships) -> dict[str, str]:
    """Names of those who write in threads, by id."""
    roots = (package.optional_xml(r.target) for r in rels.values() if r.kind == "person" and not r.external)
    return {p.get("id", ""): p.get("displayName", "") for root in roots if root is not None for p in root}


def sheet_comments(package: Package, rels: Relationships, authors: dict[str, str]) -> Iterator[str]:
    """Comments as "B2: author: text"; threads instead of the notes that repeat them."""
    threaded: set[str] = set()
    for relationship in (r for r in rels.values() if r.kind == "threadedComment"):
        root = package.optional_xml(relationship.target)
        for comment in root if root is not None else ():
            text = "".join(text_of(t) for t in comment if local_name(t) == "text")
            threaded.add(comment.get("ref", ""))
            author = authors.get(comment.get("personId", ""), "")
            yield f"{comment.get('ref', '')}: {author}{': ' if author else ''}{text}"
    for relationship in (r for r in rels.values() if r.kind == "comments"):
        root = package.optional_xml(relationship.target)
        if root is not None:
            yield from _legacy_comments(root, threaded)


def _legacy_comments(root: Node, threaded: set[str]) -> Iterator[str]:
    authors = [text_of(a) for a in root.iter() if local_name(a) == "author"]
    for comment in root.iter():
        if local_name(comment) != "comment" or comment.get("ref", "") in threaded:
            continue
        text = "".join(text_of(t) for t in comment.iter() if local_name(t) == "t").strip()
        index = comment.get("authorId", "")
        author = authors[int(index)] if index.isdigit() and int(index) < len(authors) else ""
        label = f"{author}: " if author and not text.startswith(author) else ""
        if text:
            yield f"{comment.get('ref', '')}: {label}{text}"
