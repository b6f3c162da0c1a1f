"""The section tree as chunks alone show it: their section paths, and the headings that stand inside them.

A chunk that spans several small sections is filed under what they have in common; the headings between them
are lines of its text, told from other lines with a number sign by the document's own list of headings.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.nav.draft import Draft
from engine.nav.records import Resource

_HEADING = re.compile(r"(#{1,6}) (.+)")
_FENCE = re.compile(r"(`{3,})")


def chunks_draft(chunks: Sequence[dict[str, Any]], headings: Collection[str]) -> Draft:
    """`chunks`: payloads in order, some of the document's may be missing. `headings`: those known of the document."""
    builder = _Builder(frozenset(headings))
    for payload in chunks:
        builder.take(payload)
    return builder.root


@dataclass(slots=True)
class _Line:
    """A heading inside a chunk: where its line begins and ends in the chunk's text, and (`at`) in the document."""

    level: int
    title: str
    start: int
    end: int
    at: int


@dataclass
class _Builder:
    """`stack`: the sections that are open, the root first. For chunks that overlap, and so show the same text again:
    `known`, the open sections behind a heading, by its place in the document; `opened`, the latest of them and of
    those at the beginnings of chunks, with their places."""

    headings: frozenset[str]
    root: Draft = field(default_factory=Draft)
    stack: list[Draft] = field(init=False)
    known: dict[int, list[Draft]] = field(default_factory=lambda: dict[int, list[Draft]]())
    opened: deque[tuple[int, list[Draft]]] = field(default_factory=lambda: deque[tuple[int, list[Draft]]](maxlen=64))
    before: tuple[int, int] = (-1, 0)  # index of the chunk before, and where in the document it ended

    def __post_init__(self) -> None:
        self.stack = [self.root]

    def take(self, payload: dict[str, Any]) -> None:
        """File one chunk under its section and under those whose headings stand in it."""
        path: list[str] = payload["section_path"]
        content = str(payload["content"])
        text = content[int(payload["prefix_length"]) :]
        lines = _heading_lines(text, self.headings, int(payload["char_end"]) - len(text))
        opening = _opening(text, lines, path)
        self._resume(payload, path)
        self._descend(path, {line.title: line.level for line in opening if line.at not in self.known})
        self.opened.append((int(payload["char_start"]), list(self.stack)))
        for line in opening:
            self.known.setdefault(line.at, self.stack[: path.index(line.title) + 2])
        places = [_Place(self.stack[-1], opening[-1].end if opening else 0)]
        for line in lines[len(opening) :]:
            self._open(line)
            places.append(_Place(self.stack[-1], line.start, line.end))
        _file(payload, text, places)

    def _resume(self, payload: dict[str, Any], path: list[str]) -> None:
        """Open the sections that were open where the chunk begins, as far as the place tells more than the path."""
        index, begin = int(payload["chunk_index"]), int(payload["char_start"])
        (last, end), self.before = self.before, (index, int(payload["char_end"]))
        if begin < end:  # it goes back: to what was open then
            places = (stack for place, stack in reversed(self.opened) if place <= begin and _titles(stack) == path)
            self.stack = list(next(places, self.stack))
        elif path and last == index - 1 and begin - end >= len(path[-1]) + 4 and _titles(self.stack) == path:
            del self.stack[-1]  # the gap is a heading no chunk holds: another section of the same name

    def _descend(self, path: list[str], begun: dict[str, int]) -> None:
        """Make `path` the open section. `begun`: headings (title → level) that the chunk opens with; they begin new
        sections, even where ones of the same name are open."""
        same = 0
        while same < len(path) and same + 1 < len(self.stack) and self.stack[same + 1].title == path[same]:
            open_one = self.stack[same + 1]
            if path[same] in begun and (open_one.chunks or open_one.children):
                break
            same += 1
        del self.stack[same + 1 :]
        for title in path[same:]:
            above = self.stack[-1]
            self.stack.append(above.child(title, begun.get(title, above.level + 1)))

    def _open(self, line: _Line) -> None:
        """Make the section of a heading inside a chunk the open one. Levels that only paths tell of are taken as low as
        can be, so that no section is closed too early."""
        known = self.known.get(line.at)
        if known is not None:
            self.stack = list(known)
            return
        while len(self.stack) > 1 and self.stack[-1].level >= line.level:
            self.stack.pop()
        self.stack.append(self.stack[-1].child(line.title, line.level))
        self.known[line.at] = list(self.stack)
        self.opened.append((line.at, list(self.stack)))


def _titles(stack: list[Draft]) -> list[str]:
    return [draft.title for draft in stack[1:]]


@dataclass(slots=True)
class _Place:
    """From where on in a chunk's text a section is open; `text`: behind its heading."""

    draft: Draft
    start: int
    text: int = -1


def _opening(text: str, lines: list[_Line], path: list[str]) -> list[_Line]:
    """The headings with which the chunk begins and which its own path names."""
    found: list[_Line] = []
    at, depth = 0, 0
    for line in lines:
        if text[at : line.start].strip() or line.title not in path[depth:]:
            break
        depth = path.index(line.title, depth) + 1
        found.append(line)
        at = line.end
    return found


def _file(payload: dict[str, Any], text: str, places: list[_Place]) -> None:
    """Put the chunk into every section it shows text of, and its tables and pictures where they stand."""
    ends = [place.start for place in places[1:]] + [len(text)]
    for place, end in zip(places, ends, strict=True):
        own = text[max(place.start, place.text) : end].strip()
        if own or place.text >= 0 or len(places) == 1:
            place.draft.chunks.add(int(payload["chunk_index"]))
        place.draft.text = place.draft.text or own
    for relation in payload["connect_to"]:
        at = int(relation["position"]) - int(payload["prefix_length"])
        under = [place.draft for place in places if place.start <= at] or [places[0].draft]
        under[-1].add(_resource(str(relation["target"]), payload))


def _resource(target: str, payload: dict[str, Any]) -> Resource:
    pages: list[int] = payload["page_numbers"]
    kind = "image" if target.startswith("image-") else "table"
    return Resource(target, kind, None, pages[0] if len(pages) == 1 else None)


def _heading_lines(text: str, headings: frozenset[str], begin: int) -> list[_Line]:
    """`begin`: where in the document the text would begin (header rows repeated in front of it come before)."""
    found: list[_Line] = []
    at, fence = 0, ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark is not None:
            fence = "" if fence and line.strip() == fence else fence or mark[1]
        elif not fence:
            heading = _HEADING.fullmatch(line)
            if heading is not None and heading[2] in headings:
                found.append(_Line(len(heading[1]), heading[2], at, at + len(line), begin + at))
        at += len(line) + 1
    return found
