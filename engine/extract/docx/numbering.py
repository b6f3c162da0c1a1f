"""Word's automatic numbering: which number or bullet a paragraph shows.

Rules of ECMA-376 part 1, 17.9: counters belong to the abstract definition and are shared by all lists that
use it; a list with its own start value restarts once, when it is first used; a level restarts after any
higher one unless told otherwise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from engine.extract.docx.styles import Styles, W, number, value
from engine.extract.ooxml import MC
from engine.extract.ordinals import format_number
from engine.sanitize.safexml import Node

_PLACE = re.compile(r"%([1-9])")


@dataclass(slots=True)
class Level:
    start: int = 1
    format: str = "decimal"
    text: str = ""
    restart: int | None = None  # restart after this level (1-based); 0: never; None: after any higher one
    legal: bool = False  # all numbers decimal
    style: str | None = None  # paragraph style bound to this level


@dataclass(slots=True)
class ListDefinition:
    """A `w:num`: the abstract definition it uses, and its own levels and start values."""

    abstract: str
    levels: dict[int, Level] = field(default_factory=lambda: dict[int, Level]())
    starts: dict[int, int] = field(default_factory=lambda: dict[int, int]())


@dataclass(slots=True)
class Numbering:
    """All lists of a document with the counters' state so far. One per pass over the body."""

    styles: Styles
    abstract: dict[str, dict[int, Level]] = field(default_factory=lambda: dict[str, dict[int, Level]]())
    links: dict[str, str] = field(default_factory=lambda: dict[str, str]())  # abstract id → numbering style
    lists: dict[str, ListDefinition] = field(default_factory=lambda: dict[str, ListDefinition]())
    counters: dict[str, dict[int, int]] = field(default_factory=lambda: dict[str, dict[int, int]]())
    _restarted: set[tuple[str, int]] = field(default_factory=lambda: set[tuple[str, int]]())

    def levels(self, list_id: str) -> dict[int, Level]:
        """Levels of a list, its own ones over those of its abstract definition."""
        definition = self.lists.get(list_id)
        return {**self.abstract.get(self._abstract(definition), {}), **definition.levels} if definition else {}

    def _abstract(self, definition: ListDefinition) -> str:
        link = self.links.get(definition.abstract)
        linked = self.lists.get(self.styles.list_of(link)[0] or "") if link else None
        return linked.abstract if linked else definition.abstract

    def level_of_style(self, list_id: str, style_id: str | None) -> int:
        """The level to which a paragraph style is bound in a list; 0 when to none."""
        return next((i for i, level in self.levels(list_id).items() if style_id and level.style == style_id), 0)

    def next_label(self, list_id: str, index: int) -> str | None:
        """Count one paragraph at level `index` (0-based) and give what it shows: "1.2.", "-" for a
        bullet, "" for an invisible number; None when there is no such list."""
        levels = self.levels(list_id)
        level = levels.get(index)
        if level is None:
            return None
        self._count(list_id, index, levels)
        if level.format == "bullet":
            return "-"
        counters = self.counters[self._abstract(self.lists[list_id])]
        return _PLACE.sub(lambda m: _shown(levels, counters, int(m[1]) - 1, level.legal), level.text).strip()

    def _count(self, list_id: str, index: int, levels: dict[int, Level]) -> None:
        definition = self.lists[list_id]
        counters = self.counters.setdefault(self._abstract(definition), {})
        start = levels[index].start
        if index in definition.starts and (list_id, index) not in self._restarted:
            self._restarted.add((list_id, index))
            start = definition.starts[index]
            counters.pop(index, None)
        for higher in range(index):  # a level never shown counts as being at its start
            if higher in levels:
                counters.setdefault(higher, definition.starts.get(higher, levels[higher].start))
        counters[index] = counters[index] + 1 if index in counters else start
        for deeper in [i for i in counters if i > index]:
            restart = levels[deeper].restart if deeper in levels else None
            if restart is None or (restart and index < restart):
                del counters[deeper]


def _shown(levels: dict[int, Level], counters: dict[int, int], index: int, legal: bool) -> str:
    level = levels.get(index, Level())
    return format_number(counters.get(index, level.start), "decimal" if legal else level.format)


def read_numbering(root: Node | None, styles: Styles) -> Numbering:
    """Lists from the root of `word/numbering.xml`; none when it is absent."""
    numbering = Numbering(styles)
    for element in root.iterchildren(f"{W}abstractNum") if root is not None else ():
        key = element.get(f"{W}abstractNumId", "")
        numbering.abstract[key] = dict(map(_level, element.iterchildren(f"{W}lvl")))
        if link := value(element, "numStyleLink"):
            numbering.links[key] = link
    for element in root.iterchildren(f"{W}num") if root is not None else ():
        numbering.lists[element.get(f"{W}numId", "")] = _list(element)
    return numbering


def _list(element: Node) -> ListDefinition:
    definition = ListDefinition(value(element, "abstractNumId") or "")
    for override in element.iterchildren(f"{W}lvlOverride"):
        index = number(override.get(f"{W}ilvl")) or 0
        start = number(value(override, "startOverride"))
        if start is not None:
            definition.starts[index] = start
        level = override.find(f"{W}lvl")
        if level is not None:
            definition.levels[index] = _level(level)[1]
    return definition


def _level(element: Node) -> tuple[int, Level]:
    start = number(value(element, "start"))
    level = Level(
        start=1 if start is None else start,
        format=_format(element),
        text=value(element, "lvlText") or "",
        restart=number(value(element, "lvlRestart")),
        legal=value(element, "isLgl") not in {None, "0", "false"},
        style=value(element, "pStyle"),
    )
    return number(element.get(f"{W}ilvl")) or 0, level


def _format(level: Node) -> str:
    """The number format; one that is spelt out by example ("001, 002, ...") as `like:` and its first number."""
    choice = level.find(f"{MC}AlternateContent/{MC}Choice/{W}numFmt")
    if choice is not None and choice.get(f"{W}val") == "custom":
        return f"like:{choice.get(f'{W}format', '').partition(',')[0].strip()}"
    fallback = level.find(f"{MC}AlternateContent/{MC}Fallback")
    return value(level, "numFmt") or value(fallback, "numFmt") or "decimal"
