"""Finds what a source file defines: classes with their members, functions, and the statements between.

Grammars name their nodes alike (`function_definition`, `class_declaration`, `impl_item`), so one pair of patterns
serves all languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.extract.code.grammar import Node

_MAX_GUARDS = 6  # conditional parts inside one another
_MAX_SIGNATURE = 400
MAX_DEPTH = 5  # definitions inside definitions that get a heading
_FUNCTION = re.compile(
    r"(?:async_|generator_|abstract_|singleton_|local_)?(?:function|method|constructor|destructor|subroutine|procedure|"
    r"macro|operator|fun|func|init|deinit|modifier|create_function|create_procedure|create_trigger)(?:_(?:definition|declaration|item|statement|signature_item|decl))?"
)
_CONTAINER = re.compile(
    r"(?:abstract_|companion_|singleton_)?(?:class|struct|enum|interface|trait|impl|module|namespace|object|protocol|"
    r"extension|union|record|mod|type|contract|library|service|message|annotation_type|foreign_mod|internal_module|"
    r"create_table|create_view|create_materialized_view|create_type)"
    r"(?:_(?:definition|declaration|item|specifier|statement|decl|alias_declaration))?"
)
_WRAPPERS = {
    "decorated_definition", "export_statement", "template_declaration", "ambient_declaration", "declaration",
    "type_definition", "lexical_declaration", "variable_declaration", "expression_statement", "public_field_definition",
    "field_definition", "statement",
}  # fmt: skip
# What stands around definitions without being one: include guards, conditional parts, extern "C".
_TRANSPARENT = {
    "preproc_ifdef", "preproc_if", "preproc_else", "preproc_elif", "preproc_elifdef", "linkage_specification",
    "enum_body_declarations", "declaration_list",
}  # fmt: skip
_FUNCTION_VALUES = {"arrow_function", "function_expression", "function", "generator_function", "lambda"}
_VALUE_FIELDS = {
    "variable_declarator": "value", "init_declarator": "value", "public_field_definition": "value",
    "field_definition": "value", "assignment_expression": "right",
}  # fmt: skip
_BODY = re.compile(r".*(?:body|block|list|members|suite|template_body|statement_block)$")
_COMMENT = re.compile(r".*comment.*")


@dataclass(slots=True)
class Unit:
    """A piece of source: `kind` is class, function, ... or statements. `start`/`end` are bytes, lines 1-based."""

    kind: str
    name: str
    start: int
    end: int
    first_line: int
    last_line: int
    docstring: str = ""
    comments: str = ""
    signature: str = ""
    members: list[Unit] = field(default_factory=lambda: list[Unit]())


def outline(root: Node, source: bytes) -> list[Unit]:
    """The units of a file in source order, covering everything between them."""
    return _units(list(root.children), source, 0)


def _units(nodes: list[Node], source: bytes, depth: int, owner: str = "") -> list[Unit]:
    """Definitions as units of their own, comments directly above them included; the rest in runs."""
    found: list[Unit] = []
    run: list[Node] = []
    for node in _flattened(nodes):
        definition = _definition(node)
        if definition is None:
            run.append(node)
            continue
        above = _leading(run, node)
        if len(run) > len(above):
            found.append(_statements(run[: len(run) - len(above)], source))
        found.append(_defined(node, definition, above, source, depth, owner))
        run = []
    if run:
        found.append(_statements(run, source))
    return [u for u in found if source[u.start : u.end].strip()]


def _flattened(nodes: list[Node], depth: int = 0) -> Iterator[Node]:
    """Nodes with the transparent ones replaced by what they hold, where that defines something."""
    for node in nodes:
        if node.type in _TRANSPARENT and depth < _MAX_GUARDS and _holds_definition(node, depth):
            yield from _flattened(list(node.children), depth + 1)
        else:
            yield node


def _holds_definition(node: Node, depth: int) -> bool:
    return any(
        _definition(child) is not None
        or (child.type in _TRANSPARENT and depth < _MAX_GUARDS and _holds_definition(child, depth + 1))
        for child in node.named_children
    )


def _definition(node: Node) -> Node | None:
    """The definition a node is or wraps."""
    if not node.is_named:
        return None
    if _FUNCTION.fullmatch(node.type) or _CONTAINER.fullmatch(node.type):
        return node
    if node.type not in _WRAPPERS:
        return None
    if _is_function_value(node):
        return node
    for child in node.named_children:
        if _FUNCTION.fullmatch(child.type) or (_CONTAINER.fullmatch(child.type) and _body(child) is not None):
            return child
        if _is_function_value(child):
            return child
        if child.type in _WRAPPERS and (inner := _definition(child)) is not None:
            return inner
    return None


def _is_function_value(node: Node) -> bool:
    """A name, field or property that is given a function."""
    field = _VALUE_FIELDS.get(node.type)
    value = node.child_by_field_name(field) if field else None
    return value is not None and value.type in _FUNCTION_VALUES


def _leading(run: list[Node], node: Node) -> list[Node]:
    """Comments and attributes that stand directly above a definition, without an empty line between."""
    above: list[Node] = []
    line = node.start_point[0]
    for candidate in reversed(run):
        attached = _COMMENT.fullmatch(candidate.type) or candidate.type in ("attribute_item", "attribute", "annotation")
        # Some grammars count a line comment's own line end to it.
        last = candidate.end_point[0] - (candidate.end_point[1] == 0)
        if not attached or last < line - 1 or candidate.start_point[0] == node.start_point[0]:
            break
        above.insert(0, candidate)
        line = candidate.start_point[0]
    return above


def _defined(node: Node, definition: Node, above: list[Node], source: bytes, depth: int, owner: str) -> Unit:
    """The unit of a definition; `owner` is the kind of the definition around it."""
    is_container = bool(_CONTAINER.fullmatch(definition.type))
    start = above[0].start_byte if above else node.start_byte
    first = above[0].start_point[0] if above else node.start_point[0]
    unit = Unit(
        _kind(definition, owner), _name(definition, source), start, node.end_byte, first + 1, node.end_point[0] + 1
    )
    unit.docstring = _docstring(definition, above, source)
    unit.comments = _comments(definition, source)
    unit.signature = _signature(definition, source)
    body = _body(definition) if is_container else None
    if body is not None and depth < MAX_DEPTH:
        members = _units(list(body.named_children), source, depth + 1, unit.kind)
        unit.members = members if any(m.kind != "statements" for m in members) else []
    return unit


def _statements(nodes: list[Node], source: bytes) -> Unit:
    first, last = nodes[0], nodes[-1]
    comments = "\n".join(_text(n, source) for n in nodes if _COMMENT.fullmatch(n.type))
    unit = Unit(
        "statements", "", first.start_byte, last.end_byte, first.start_point[0] + 1, last.end_point[0] + 1,
        comments=comments[:2000],
    )  # fmt: skip
    first = next((n for n in nodes if not _COMMENT.fullmatch(n.type)), first)
    if first.type == "expression_statement" and first.named_children and first.named_children[0].type == "string":
        unit.docstring = _unquoted(_text(first, source))
    return unit


def _signature(definition: Node, source: bytes) -> str:
    """The definition up to its body, in one line; of a value that is a function, up to that one's body."""
    value = definition.child_by_field_name("value") or definition.child_by_field_name("right")
    body = (_body(value) if value is not None and value.type in _FUNCTION_VALUES else None) or _body(definition)
    end = body.start_byte if body is not None else definition.end_byte
    text = source[definition.start_byte : end].decode("utf-8", "replace")
    return " ".join(text.split()).removesuffix("=>").rstrip(" {=:;")[:_MAX_SIGNATURE]


def _kind(definition: Node, owner: str) -> str:
    words = definition.type.split("_")
    if _CONTAINER.fullmatch(definition.type):
        if words[0] == "internal":
            return "namespace"
        return words[1] if words[0] in ("abstract", "companion", "singleton", "foreign", "create") else words[0]
    if words[0] == "create":
        return words[1]
    if definition.child_by_field_name("receiver") is not None:
        return "method"
    return "function" if owner in ("", "namespace", "module", "mod", "internal", "foreign") else "method"


def _name(definition: Node, source: bytes) -> str:
    """Name by the grammar's field, by the innermost declarator (C), else the first line."""
    if definition.type == "impl_item":
        return " ".join(_text(definition, source).split("{", 1)[0].split()).removeprefix("impl ")[:120]
    if definition.type == "assignment_expression":
        left = definition.child_by_field_name("left")
        return _text(left, source)[:120] if left is not None else ""
    owner = _receiver(definition, source)
    if owner:
        return f"{owner}.{_text(definition.child_by_field_name('name'), source)}"[:120]
    node = definition
    for _ in range(8):
        named = node.child_by_field_name("name")
        if named is not None:
            return _text(named, source)[:120]
        deeper = node.child_by_field_name("declarator") or next(
            (c for c in node.named_children if c.type in ("type_spec", "type_alias")), None
        )
        if deeper is None:
            break
        node = deeper
    if node is not definition and (node.child_count == 0 or node.type.endswith("_name")):
        return _text(node, source)[:120]
    simple = next(
        (c for c in definition.named_children if c.type.endswith(("identifier", "constant", "object_reference"))), None
    )
    text = _text(simple, source) if simple is not None else _text(definition, source).split("\n", 1)[0]
    return " ".join(text.split())[:120].rstrip(" {:(")


def _receiver(definition: Node, source: bytes) -> str:
    """The type a Go method belongs to."""
    receiver = definition.child_by_field_name("receiver")
    if receiver is None or definition.child_by_field_name("name") is None:
        return ""
    return next((_text(n, source) for n in _descendants(receiver, 50) if n.type == "type_identifier"), "")


def _body(definition: Node) -> Node | None:
    body = definition.child_by_field_name("body")
    if body is not None:
        return body
    return next((c for c in definition.named_children if _BODY.fullmatch(c.type) and c.named_child_count), None)


def _docstring(definition: Node, above: list[Node], source: bytes) -> str:
    """The string that opens a body (Python, Elixir), else the comments above."""
    body = _body(definition)
    if body is not None and body.named_children:
        first = body.named_children[0]
        inner = first.named_children[0] if first.type == "expression_statement" and first.named_children else first
        if inner.type == "string":
            return _unquoted(_text(inner, source))
    comments = [_text(n, source) for n in above if _COMMENT.fullmatch(n.type)]
    return _uncommented("\n".join(comments))


def _comments(definition: Node, source: bytes) -> str:
    """Comments inside a definition, bounded."""
    texts: list[str] = []
    size = 0
    for node in _descendants(definition):
        if _COMMENT.fullmatch(node.type):
            texts.append(_uncommented(_text(node, source)))
            size += len(texts[-1])
            if size > 2000:
                break
    return "\n".join(texts)[:2000]


def _descendants(node: Node, limit: int = 20_000) -> Iterator[Node]:
    stack = [node]
    while stack and limit:
        limit -= 1
        current = stack.pop()
        yield current
        if not _COMMENT.fullmatch(current.type):  # some grammars take comments apart
            stack.extend(reversed(current.named_children))


def _unquoted(text: str) -> str:
    match = re.match(r"(?s)[rRuUbBfF]{0,2}(\"\"\"|'''|\"|')(.*)\1\s*\Z", text.strip())
    return "\n".join(line.strip() for line in (match[2] if match else text).strip().split("\n"))[:2000]


def _uncommented(text: str) -> str:
    text = re.sub(r"\A#![^\n]*\n?", "", text)
    lines = [
        re.sub(r"^\s*(?:/\*\*?|\*/|///?!?|//!|\*(?!/)|#+|--|;+|%+)\s?|\s*\*/\s*$", "", line)
        for line in text.split("\n")
    ]
    return "\n".join(line.rstrip() for line in lines if line.strip())[:2000]


def _text(node: Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")
