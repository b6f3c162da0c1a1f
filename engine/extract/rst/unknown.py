"""Readers for the directives and roles that docutils does not know: their content, or nothing where it is none."""

from __future__ import annotations

import re
from textwrap import dedent

from docutils import nodes
from docutils.parsers.rst import Directive, directives, roles
from docutils.parsers.rst.languages import en
from docutils.statemachine import StringList

from engine.document import Builder

_DIRECTIVE = re.compile(r"^\s*\.\.\s+(?:\|[^|\n]+\|\s+)?([\w:+.-]+)::(?:\s|$)", re.MULTILINE)
_ROLE = re.compile(r"(?<![\w`]):([A-Za-z][\w:+.-]*):`")
# Steering for other tools, and what would bring in other files or raw output.
_NO_TEXT = {"toctree", "index", "highlight", "currentmodule", "default-role", "include", "raw", "literalinclude"}
_OPTION = re.compile(r":[\w-]+:(?:\s|$)")
_TARGET = re.compile(r"^!?~?(.*?)(?:\s*<[^<>]*>)?$", re.DOTALL)


def register_unknown(text: str, builder: Builder) -> None:
    """Give every directive and role of this text that docutils does not know a reader of its own."""
    for name in {m.lower() for m in _DIRECTIVE.findall(text)}:
        if name in _NO_TEXT:
            directives.register_directive(name, _Nothing)
            builder.warn(
                "directive_skipped", "directives for other tools (includes, indexes, raw output) were left out"
            )
        elif name not in en.directives:
            directives.register_directive(name, _Container)
    for name in {m.lower() for m in _ROLE.findall(text)}:
        if name not in en.roles:
            roles.register_local_role(name, _text_role)  # pyright: ignore[reportArgumentType]


class _Container(Directive):
    """An unknown directive: its arguments and its content as ordinary blocks."""

    has_content = True
    optional_arguments = 100
    final_argument_whitespace = True
    option_spec = None  # pyright: ignore[reportAssignmentType]

    def run(self) -> list[nodes.Node]:
        container = nodes.container()
        first, *rest = self.block_text.split("\n")
        argument = first.partition("::")[2].strip()
        if argument:
            container += nodes.paragraph("", argument)
        lines = dedent("\n".join(rest)).strip("\n").split("\n")
        while lines and _OPTION.match(lines[0]):
            lines.pop(0)
        self.state.nested_parse(StringList(lines, ""), 0, container)
        return [container]


class _Nothing(Directive):
    """A directive that only steers other tools."""

    has_content = True
    optional_arguments = 100
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        return []


def _text_role(
    name: str, rawtext: str, text: str, lineno: int, inliner: object, options: object = None, content: object = None
) -> tuple[list[nodes.Node], list[nodes.Node]]:
    """An unknown role is the text a reader sees: without target and modifiers."""
    match = _TARGET.match(text)
    return [nodes.inline(rawtext, match[1] if match else text)], []
