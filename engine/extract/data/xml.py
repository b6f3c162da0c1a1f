"""Turns XML elements into blocks: repeated flat ones as tables, sections by their titles, mixed text as paragraphs."""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby

from engine.document import Builder
from engine.extract.data.values import MAX_LEVEL, Record, add_table, fits_table
from engine.extract.html import add_html
from engine.extract.text import bounded
from engine.sanitize.safexml import Node, local_name

_TITLES = {"title", "name", "head", "heading", "caption", "label", "bridgehead"}
_TEXTS = {
    "p", "para", "simpara", "text", "tspan", "line", "l", "ab", "s", "body", "content", "abstract", "description",
    "summary", "paragraph", "note", "quote", "desc",
}  # fmt: skip
_SHORT = 200
_RUNNING = 0.3  # share of an element's text that must be its own for its children to be part of the sentence
_MARKUP = re.compile(r"</(?:p|div|a|b|i|ul|li|span|table|h\d)>|<br\s*/?>", re.IGNORECASE)
_SKIPPED_ATTRIBUTES = {"schemaLocation", "noNamespaceSchemaLocation", "space", "base"}


def add_element(builder: Builder, root: Node, level: int = 1) -> None:
    """Add everything an element holds; its own title becomes the document's when it is the root."""
    children = _elements(root)
    title = _title(root)
    if level == 1 and title:
        builder.metadata.title = title
    if not children or _is_mixed(root):
        _add_text(builder, root)
        return
    _add_attributes(builder, root)
    _add_loose(builder, root.text)
    counts = Counter(map(local_name, children))

    def kind(element: Node) -> str:
        """Short facts that occur once stand in one list; the rest goes by its tag."""
        tag = local_name(element)
        return "" if counts[tag] == 1 and tag not in _TEXTS and _is_short_leaf(element) else tag

    for tag, run in groupby(children, key=kind):
        group = list(run)
        records = [_record(e) for e in group]
        flat = [r for r in records if r]
        is_table = tag and len(group) > 1 and len(flat) == len(group) and fits_table(flat)
        if is_table and not any(_MARKUP.search(text) for record in flat for text in record.values()):
            add_table(builder, flat)
        elif all(_is_short_leaf(e) for e in group) and tag not in _TEXTS:
            builder.list_block([(1, "-", f"{_name(e)}: {_inner_text(e)}") for e in group if _inner_text(e)])
        else:
            for element in group:
                _add_child(builder, element, level)
        for element in group:
            _add_loose(builder, element.tail)


def _add_child(builder: Builder, element: Node, level: int) -> None:
    if not _elements(element) or _is_mixed(element):
        _add_text(builder, element)
    elif level >= MAX_LEVEL:
        _add_flat(builder, element)
    else:
        builder.heading(level, _title(element) or _name(element))
        add_element(builder, element, level + 1)


def _add_text(builder: Builder, element: Node) -> None:
    """The text of an element without structure of its own; markup written as text is read as such."""
    text = _inner_text(element)
    if not text:
        _add_attributes(builder, element)
        return
    if _MARKUP.search(text):
        add_html(builder, text, furniture=False)
        return
    prefix = "" if local_name(element) in _TEXTS | _TITLES or _is_mixed(element) else f"{_name(element)}: "
    for piece in bounded(prefix + text):
        builder.paragraph(piece)


def _add_attributes(builder: Builder, element: Node) -> None:
    builder.list_block([(1, "-", f"{name}: {value}") for name, value in _attributes(element).items()])


def _add_flat(builder: Builder, element: Node) -> None:
    """Below the deepest heading: a line per element that has text."""
    items: list[tuple[int, str, str]] = []
    for node in element.iter():
        text = " ".join((node.text or "").split()) if isinstance(node.tag, str) else ""
        tail = " ".join((node.tail or "").split()) if node is not element else ""
        if text or _attributes(node):
            items.append((1, "-", f"{_name(node)}: {text}"))
        if tail:
            items.append((1, "-", tail))
    builder.list_block(items)


def _record(element: Node) -> Record:
    """Attributes and leaf children of an element by name; empty when it has more structure than that."""
    record: Record = {f"@{k}" if _elements(element) else k: v for k, v in _attributes(element).items()}
    children = _elements(element)
    if not children and not record:
        return {}
    if _is_mixed(element):
        return {}
    if not children and _inner_text(element):
        record[local_name(element)] = _inner_text(element)
    for child in children:
        if _elements(child):
            return {}
        name, text = local_name(child), _inner_text(child) or " ".join(_attributes(child).values())
        record[name] = f"{record[name]}, {text}" if record.get(name) else text
    return record


def _elements(element: Node) -> list[Node]:
    return [c for c in element if isinstance(c.tag, str)]


def _is_mixed(element: Node) -> bool:
    """Running text with elements in it: text of its own beside children that hold no structure, or much of it."""
    children = _elements(element)
    own = "".join([element.text or "", *(c.tail or "" for c in element)]).strip()
    if not children or not own:
        return False
    if all(not _elements(child) for child in children) and not any(map(_is_block, children)):
        return True
    return len(own) >= _RUNNING * len("".join(map(str, element.itertext())))


def _is_block(element: Node) -> bool:
    return local_name(element).lower() in _TITLES | _TEXTS - {"s", "text", "tspan"}


def _add_loose(builder: Builder, text: str | None) -> None:
    """Text that stands between structured elements."""
    loose = " ".join((text or "").split())
    if loose:
        for piece in bounded(loose):
            builder.paragraph(piece)


def _is_short_leaf(element: Node) -> bool:
    text = _inner_text(element)
    return not _elements(element) and len(text) <= _SHORT and not _MARKUP.search(text)


def _inner_text(element: Node) -> str:
    """All text below, unexpanded entity references as they are written. Line breaks of verse or code are kept."""
    text = "".join(str(part) for part in element.itertext())
    lines = [" ".join(line.split()) for line in text.strip().split("\n")]
    return "\n".join(line for line in lines if line) if _keeps_lines(element) else " ".join(" ".join(lines).split())


def _keeps_lines(element: Node) -> bool:
    return element.get("{http://www.w3.org/XML/1998/namespace}space") == "preserve" or local_name(element) in (
        "programlisting", "screen", "literallayout", "code", "pre", "lg",
    )  # fmt: skip


def _attributes(element: Node) -> dict[str, str]:
    found = {str(k).rpartition("}")[2]: " ".join(str(v).split()) for k, v in element.attrib.items()}
    return {k: v for k, v in found.items() if v and k not in _SKIPPED_ATTRIBUTES}


def _name(element: Node) -> str:
    """Tag with the attributes that tell it from its siblings."""
    attributes = ", ".join(f"{k}={v}" for k, v in list(_attributes(element).items())[:6] if len(v) <= 80)
    tag = local_name(element)
    return f"{tag} ({attributes})" if attributes else tag


def _title(element: Node) -> str:
    for child in _elements(element):
        if local_name(child).lower() in _TITLES and not _elements(child):
            text = _inner_text(child)
            return text if len(text) <= 150 else ""
    return ""
