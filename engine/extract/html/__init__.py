"""HTML: the main content in source order, with headings, lists, tables, code and captions.

The page is parsed as browsers parse it (HTML standard, by Lexbor), made inactive, measured, and walked once.
Menus, banners, footers and cookie notices are left out where they plainly are such, and counted; a page that
would lose most of its text is read whole.
"""

from __future__ import annotations

import re
from collections import Counter
from html import escape
from itertools import groupby
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from engine.decode import Decoded, decode
from engine.document import Builder
from engine.extract import Context
from engine.extract.html.blocks import Walker
from engine.extract.html.boilerplate import Furniture
from engine.extract.html.bound import bounded_html
from engine.extract.html.head import describe
from engine.extract.html.hidden import invisible_places
from engine.extract.html.inline import Pictures
from engine.extract.html.inlined import inline_parts
from engine.extract.html.looks import read_looks
from engine.extract.html.measure import Measures
from engine.records import ExtractedDocument, Loss, StructureElement
from engine.sanitize.html import strip_active

_META_CHARSET = re.compile(
    rb"""<(?:meta|\?xml)\b[^>]{0,300}?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{2,40})""", re.I
)
_XHTML = re.compile(r"<\?xml|<html[^>]+xmlns", re.IGNORECASE)
_SELF_CLOSED = re.compile(
    r"<(title|script|style|textarea|iframe|a|div|span|p|td|th|li|i|b|em|strong|h[1-6])(\s[^<>]*)?/>"
)
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_COMMENT = re.compile(r"<!--(?!\[if)(?=(?:[^<>]*?\w\s+){4})[^<>]*?-->")
_WHOLE_BELOW = 0.25  # share of a page's text that must survive
_SMALL_PAGE = 500  # characters; a page with so little kept is read whole, furniture included


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read an HTML or XHTML file. An unreadable byte becomes U+FFFD and is counted."""
    builder = context.builder()
    decoded = decode_html(path.read_bytes())
    if decoded.replaced:
        builder.warn("undecodable_bytes", f"bytes that are not {decoded.encoding}", count=decoded.replaced)
    add_html(builder, decoded.text, metadata=True)
    return builder.finish()


def decode_html(data: bytes) -> Decoded:
    """Text of an HTML file; the charset of a meta tag or XML declaration counts as declared."""
    match = _META_CHARSET.search(data[:4096])
    return decode(data, match[1].decode("ascii") if match else None)


def add_html(
    builder: Builder,
    text: str,
    metadata: bool = False,
    furniture: bool = True,
    base_level: int = 0,
    xhtml: bool = False,
    pictures: Pictures | None = None,
    quote_marks: bool = False,
) -> list[StructureElement]:
    """Add a page's blocks to the builder and return them.

    `furniture`: look for boilerplate (whole pages) or keep everything (fragments, mail). `base_level` is added
    to heading levels. `xhtml`: it is XHTML whatever it says. `pictures`: those that came with the page.
    `quote_marks`: quoted paragraphs show `>` marks, as plain mail does.
    """
    text, cut = bounded_html(_as_html(text, xhtml))
    tree = LexborHTMLParser(text)
    base = _base(tree)
    if metadata:
        describe(tree, builder.metadata)
    losses = _clean(tree, text, builder)
    start = Walker(None, Counter(), base, pictures or Pictures())
    blocks, dropped = _blocks(tree, furniture, start)
    read_looks(blocks, whole_page=furniture)
    if quote_marks:
        _mark_quoted(blocks)
    for loss in losses:
        loss.count -= len(start.carried.shown) if loss.code == "image_not_fetched" else 0
        if loss.count > 0:
            builder.warn(loss.code, loss.message, count=loss.count)
    if dropped["blocks"]:
        builder.warn("boilerplate_dropped", "menus, banners and footers were left out", count=dropped["blocks"])
    if dropped["flattened"] + cut:
        count = dropped["flattened"] + cut
        builder.warn("nesting_flattened", "nesting beyond all reason was read as plain text", count=count)
    if metadata and not blocks:
        blocks = _from_the_head(builder)
    emit(builder, blocks, base_level)
    return blocks


def _clean(tree: LexborHTMLParser, text: str, builder: Builder) -> list[Loss]:
    """Make the tree hold what a browser would show and nothing that acts; what is invisible is reported here, what
    went is returned."""
    unseen = inline_parts(tree)
    if unseen:
        builder.warn("noscript_dropped", "text for browsers without scripts was left out", count=unseen)
    invisible = invisible_places(tree)
    if invisible:
        message = "text made invisible by its colour, size, place or style was kept"
        builder.warn("invisible_text", message, count=invisible)
    comments = len(_COMMENT.findall(text))
    if comments:
        builder.warn("comment_dropped", "comments in the markup were left out", count=comments)
    return strip_active(tree)


def _base(tree: LexborHTMLParser) -> str:
    """What relative addresses of the page are relative to, as far as it says."""
    node = tree.css_first("base[href]")
    return (node.attributes.get("href") or "") if node is not None else ""


def _from_the_head(builder: Builder) -> list[StructureElement]:
    """A page that shows nothing without its scripts still has its title and description."""
    title, description = builder.metadata.title, builder.metadata.extra.get("description", "")
    found = [StructureElement("heading", 1, title)] if title else []
    found += [StructureElement("paragraph", None, description)] if description else []
    if found:
        builder.warn("page_empty", "the page shows no text of its own: its title and description were read")
    return found


def _as_html(text: str, xhtml: bool) -> str:
    """XHTML closes empty elements in a way HTML does not know, which would swallow the rest of the page."""
    if xhtml or _XHTML.search(text[:2000]):
        text = _SELF_CLOSED.sub(r"<\1\2></\1>", text)
        if "<![CDATA[" in text:
            text = _CDATA.sub(lambda match: escape(match[1], quote=False), text)
    return text


def _mark_quoted(blocks: list[StructureElement]) -> None:
    for block in blocks:
        if block.type == "paragraph" and "quoted" in block.attributes:
            marks = ">" * int(block.attributes["quoted"])
            block.content = "\n".join(f"{marks} {line}" for line in block.content.split("\n"))


def _blocks(tree: LexborHTMLParser, furniture: bool, start: Walker) -> tuple[list[StructureElement], Counter[str]]:
    root = tree.body or tree.root
    if root is None:
        return [], start.dropped
    if furniture:
        measures = Measures(root)
        total = measures.of(root).chars
        has_main = _has_main(tree, measures, total)
        dropped: Counter[str] = Counter()
        whole = Walker(Furniture(measures, has_main), dropped, start.base, start.carried)
        blocks = whole.read(root, inside_main=not has_main)
        kept = total - dropped["characters"]
        if kept >= _SMALL_PAGE or kept >= total * (1 - _WHOLE_BELOW) or (kept > total * _WHOLE_BELOW and kept > 150):
            return blocks, dropped
    return start.read(root), start.dropped


def _has_main(tree: LexborHTMLParser, measures: Measures, total: int) -> bool:
    """The page names a main part that holds a good share of its text."""
    mains = tree.css("main, [role=main]") or tree.css("article")
    return sum(measures.of(node).chars for node in mains) > 0.3 * total


def emit(builder: Builder, blocks: list[StructureElement], base_level: int = 0) -> None:
    """Put a flat run of blocks into the builder; list items in a row make one list."""
    for kind, run in groupby(blocks, key=lambda block: block.type):
        if kind == "list_item":
            builder.list_block([(b.level or 1, b.attributes.get("marker", "-"), b.content) for b in run])
            continue
        for block in run:
            if kind == "heading":
                builder.heading((block.level or 1) + base_level, block.content)
            elif kind == "code":
                builder.code(block.content, block.attributes.get("language", ""))
            elif block.table is not None:
                builder.table(block.table)
            elif block.image is not None:
                builder.image(block.image, attributes=block.attributes)
            else:
                builder.paragraph(block.content, kind, attributes=block.attributes)
