"""Parses XML of untrusted documents: no entity expansion, no network, no DTD, bounded depth and node size.

lxml ships no type stubs, so its element type is named once here and other modules import `Node`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from engine.errors import Code, InputError, Stage

Node: TypeAlias = Any  # lxml.etree._Element

# ISO/IEC 29500 strict names → the transitional ones that every writer and reader knows (part 4, annex A).
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/(\w+)")
_STRICT_WORDS = {b"extendedProperties": b"extended-properties", b"customProperties": b"custom-properties"}
_NESTED_ENTITY = re.compile(rb"<!ENTITY\s+(?:%\s*)?[^\s>]+\s+(?:\"[^\"]*[&%][^\"]*\"|'[^']*[&%][^']*')")
_PROLOG_BYTES = 1 << 20


def has_doctype(data: bytes) -> bool:
    """Whether the document type declaration is there (in the first MiB); office formats forbid it."""
    return b"<!DOCTYPE" in data[:_PROLOG_BYTES]


def refuse_entity_bomb(data: bytes, name: str) -> None:
    """Raise InputError(EXTRACTION_FAILED) for entities made of other entities: only bombs need those."""
    if has_doctype(data) and _NESTED_ENTITY.search(data[:_PROLOG_BYTES]):
        raise InputError(f"{name} declares nested XML entities (an entity bomb) and was refused", stage=Stage.EXTRACT)


def transitional(data: bytes) -> bytes:
    """OOXML of the strict variant with its namespaces rewritten to the transitional ones."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = re.sub(r"^\s*<\?xml.*?\?>", "", data.decode("utf-16", "replace"), count=1, flags=re.DOTALL)
        data = text.encode("utf-8")
    if b"purl.oclc.org/ooxml" not in data:
        return data
    return _STRICT.sub(_transitional_name, data)


def _transitional_name(match: re.Match[bytes]) -> bytes:
    family, word = match[1], match[2]
    return b"http://schemas.openxmlformats.org/" + family + b"/2006/" + _STRICT_WORDS.get(word, word)


def _options(recover: bool) -> dict[str, object]:
    return {
        "resolve_entities": False,
        "load_dtd": False,
        "no_network": True,
        "huge_tree": False,
        "recover": recover,
        "remove_comments": True,
        "remove_pis": True,
    }


def parse(data: bytes, name: str) -> tuple[Node, bool]:
    """The root element of `data`, and whether it was malformed and only partly read.

    Raises InputError: EXTRACTION_FAILED when nothing can be read, LIMIT_EXCEEDED for nodes or depth
    beyond libxml2's own bounds (10 MB of text, 256 levels).
    """
    try:
        return etree.fromstring(data, etree.XMLParser(**_options(recover=False))), False
    except (etree.XMLSyntaxError, ValueError) as error:
        _refuse_huge(error, name)
    try:
        root = etree.fromstring(data, etree.XMLParser(**_options(recover=True)))
    except (etree.XMLSyntaxError, ValueError) as error:
        raise _broken(name, error) from error
    if root is None:
        raise _broken(name, "nothing readable")
    return root, True


def stream(data: bytes, name: str, tags: tuple[str, ...], report: Callable[[str], None]) -> Iterator[Node]:
    """Elements of `data` with one of `tags`, each when it is complete; the caller clears what it has used.

    Malformed XML yields what could be read; `report` is then told why. Raises as `parse`.
    """
    events = etree.iterparse(io.BytesIO(data), events=("end",), tag=tags, **_options(recover=True))
    try:
        for _, element in events:
            yield element
    except etree.XMLSyntaxError as error:
        _refuse_huge(error, name)
        raise _broken(name, error) from error
    for entry in events.error_log:
        _refuse_huge(entry.message, name)
    if len(events.error_log):
        report(events.error_log[0].message)


def to_bytes(root: Node) -> bytes:
    """The element and what is below it as UTF-8 XML with a declaration."""
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)


def text_of(element: Node) -> str:
    """Own text of an element, with the text after any unexpanded entity inside it."""
    if len(element) == 0:
        return element.text or ""
    return (element.text or "") + "".join(child.tail or "" for child in element)


def local_name(element: Node) -> str:
    """The tag without its namespace; empty for entities and other nodes that have no tag."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _refuse_huge(error: object, name: str) -> None:
    text = str(error).lower()
    if "huge" in text or "depth" in text or "amplification" in text:
        raise InputError(
            f"{name} is too deep or has too large a text node: {error}", Code.LIMIT_EXCEEDED, Stage.EXTRACT
        )


def _broken(name: str, why: object) -> InputError:
    return InputError(f"{name} is not well-formed XML: {why}", Code.EXTRACTION_FAILED, Stage.EXTRACT)
