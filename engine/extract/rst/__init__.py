"""reStructuredText: sections, lists, code, tables, notes, figures; field lists at the top become metadata.

Parsed by docutils with raw output, file insertion and its configuration files switched off. Directives and roles
it does not know (Sphinx and others) are read as what they contain.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from docutils.core import publish_doctree
from docutils.utils import SystemMessage

from engine.decode import decode
from engine.extract import Context
from engine.extract.rst.blocks import Reader
from engine.extract.rst.unknown import register_unknown
from engine.extract.text import add_text
from engine.records import ExtractedDocument

_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "_disable_config": True,
    "syntax_highlight": "none",
    "smart_quotes": False,
    "doctitle_xform": True,
    "docinfo_xform": True,
    "input_encoding": "unicode",
    "line_length_limit": 1_000_000,
}
MAX_CHARACTERS = 1_000_000  # docutils reads about 20,000 a second


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read an .rst file. What docutils cannot parse at all is kept as plain text, with a warning."""
    builder = context.builder()
    decoded = decode(path.read_bytes())
    if decoded.replaced:
        builder.warn("undecodable_bytes", f"bytes that are not {decoded.encoding}", count=decoded.replaced)
    text = decoded.text.replace("\r\n", "\n").replace("\0", "")
    if len(text) > MAX_CHARACTERS:
        builder.warn("rst_unparsed", f"kept as plain text: longer than {MAX_CHARACTERS} characters")
        add_text(builder, text)
        return builder.finish()
    register_unknown(text, builder)
    try:
        tree = publish_doctree(text, settings_overrides=_SETTINGS)
    except (SystemMessage, RecursionError, AttributeError, ValueError, KeyError, IndexError, AssertionError) as error:
        builder.warn("rst_unparsed", f"kept as plain text: {type(error).__name__}")
        add_text(builder, text)
        return builder.finish()
    for reference in list(tree.findall(nodes.footnote_reference)) + list(tree.findall(nodes.citation_reference)):
        reference.parent.replace(reference, nodes.Text(f"[{reference.astext()}]"))
    has_title = any(isinstance(child, nodes.title) for child in tree.children)
    Reader(builder).blocks(tree, 2 if has_title else 1)
    if builder.metadata.title is None:
        builder.metadata.title = next((r.content for r in builder.roots if r.type == "heading"), None)
    return builder.finish()
