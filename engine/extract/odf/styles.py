"""OpenDocument styles: what is hidden, code, caption or title; list numbers and heading numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from engine.extract.odf.parts import OFFICE, PRESENTATION, STYLE, TEXT
from engine.extract.ordinals import format_number
from engine.sanitize.safexml import Node, local_name

_FORMATS = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_CODE = re.compile(r"preformatted|source[ _]?code|^code", re.IGNORECASE)
_ESCAPED = re.compile(r"_([0-9a-f]{2})_")


@dataclass(slots=True)
class ListLevel:
    """One level of a list or of the headings. `format` empty: no number; None: a bullet."""

    format: str | None = None
    prefix: str = ""
    suffix: str = ""
    start: int = 1
    shown_levels: int = 1


Levels = dict[int, ListLevel]


@dataclass(slots=True)
class Style:
    name: str
    parent: str | None = None
    list_style: str | None = None
    hidden: bool | None = None


@dataclass(slots=True)
class Styles:
    by_name: dict[tuple[str, str], Style] = field(default_factory=lambda: dict[tuple[str, str], Style]())
    lists: dict[str, Levels] = field(default_factory=lambda: dict[str, Levels]())
    outline: Levels = field(default_factory=lambda: Levels())
    hidden_pages: set[str] = field(default_factory=lambda: set[str]())

    def chain(self, family: str, name: str | None) -> list[Style]:
        """The style and its parents, nearest first."""
        chain: list[Style] = []
        while name and (style := self.by_name.get((family, name))) is not None and len(chain) < 30:
            chain.append(style)
            name = style.parent
        return chain

    def hidden(self, family: str, name: str | None) -> bool:
        """Whether the style hides its text."""
        return bool(next((s.hidden for s in self.chain(family, name) if s.hidden is not None), False))

    def is_code(self, name: str | None) -> bool:
        """Whether a paragraph style is named for code."""
        return any(_CODE.search(s.name) for s in self.chain("paragraph", name))

    def is_caption(self, name: str | None) -> bool:
        """Whether a paragraph style is the caption style."""
        return any(s.name.lower() == "caption" for s in self.chain("paragraph", name))

    def is_title(self, name: str | None) -> bool:
        """Whether a paragraph style is the document title."""
        return any(s.name.lower() == "title" for s in self.chain("paragraph", name))


def read_styles(*roots: Node | None) -> Styles:
    """Styles from styles.xml and content.xml; later roots win."""
    styles = Styles()
    for root in roots:
        for element in (
            root.iter(f"{STYLE}style", f"{TEXT}list-style", f"{TEXT}outline-style") if root is not None else ()
        ):
            match local_name(element):
                case "style":
                    _add_style(styles, element)
                case "list-style":
                    styles.lists[element.get(f"{STYLE}name", "")] = dict(map(_level, element))
                case _:
                    styles.outline = dict(map(_level, element))
    return styles


def _add_style(styles: Styles, element: Node) -> None:
    family, name = element.get(f"{STYLE}family", ""), element.get(f"{STYLE}name", "")
    shown_as = element.get(f"{STYLE}display-name") or _ESCAPED.sub(lambda m: chr(int(m[1], 16)), name)
    style = Style(shown_as, element.get(f"{STYLE}parent-style-name"), element.get(f"{STYLE}list-style-name"))
    for properties in element:
        display = properties.get(f"{TEXT}display")
        if display is not None:
            style.hidden = display == "none"
        if properties.get(f"{PRESENTATION}visibility") == "hidden":
            styles.hidden_pages.add(name)
    styles.by_name[family, name] = style


def _level(element: Node) -> tuple[int, ListLevel]:
    depth = element.get(f"{TEXT}level", "1")
    level = ListLevel()
    if local_name(element) != "list-level-style-bullet" and local_name(element) != "list-level-style-image":
        level.format = element.get(f"{STYLE}num-format", "")
        level.prefix = element.get(f"{STYLE}num-prefix", "")
        level.suffix = element.get(f"{STYLE}num-suffix", "")
        start, shown = element.get(f"{TEXT}start-value", "1"), element.get(f"{TEXT}display-levels", "1")
        level.start = int(start) if start.isdigit() else 1
        level.shown_levels = int(shown) if shown.isdigit() else 1
    return int(depth) if depth.isdigit() else 1, level


@dataclass(slots=True)
class Counter:
    """Numbers of one list, or of all headings, by depth from 1."""

    levels: Levels
    counts: dict[int, int] = field(default_factory=lambda: dict[int, int]())

    def next(self, depth: int, start: int | None = None) -> str:
        """Count one item and give its label: "-" for a bullet, "" for no number."""
        level = self.levels.get(depth, ListLevel())
        self.counts = {d: n for d, n in self.counts.items() if d <= depth}
        self.counts[depth] = self.counts.get(depth, level.start - 1) + 1 if start is None else start
        if level.format is None:
            return "-"
        if not level.format:
            return (level.prefix + level.suffix).strip()
        first = max(depth - level.shown_levels + 1, 1)
        numbers = [self._number(d) for d in range(first, depth + 1)]
        return f"{level.prefix}{'.'.join(filter(None, numbers))}{level.suffix}".strip()

    def _number(self, depth: int) -> str:
        level = self.levels.get(depth, ListLevel())
        if not level.format:
            return ""
        return format_number(self.counts.get(depth, level.start), _FORMATS.get(level.format, "decimal"))


def styles_root(root: Node | None) -> Node | None:
    """The part of styles.xml that holds master pages."""
    return root.find(f"{OFFICE}master-styles") if root is not None else None
