"""Navigation in one document: its sections level by level, the promising ones opened, a bounded number of looks.

A section small enough is opened whole; a larger one gives its own text, if that is promising, and its subsections to
the next level. What is found but not opened stays in the evidence's fallback pool.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from engine.agentic.records import Passage, Route
from engine.agentic.terms import Terms
from engine.nav import NavSection, nav_of, walk_sections
from engine.search.view import DocumentView, Found

OPEN_TOKENS = 1200  # of a section that is opened whole
BEAM = 3  # sections of one level that are looked at
LEAST_COVER = 0.05  # of the question; below it a section without hits is not looked at
TITLE_WEIGHT = 0.5  # what a section's words count beside a hit inside it
Scores = Mapping[str, float]  # chunk id → discovery score


def passages_only(document_id: str, filename: str, payloads: Collection[Found], scores: Scores) -> Route:
    """A document that is not navigated: what discovery found of it, for the fallback pool."""
    found = [Passage(payload, scores.get(payload["chunk_id"], 0.0)) for payload in payloads]
    return Route(document_id, filename, found)


@dataclass(slots=True)
class Navigator:
    """What every document of a run is navigated with."""

    terms: Terms
    most_steps: int
    excluded: Collection[str] = ()
    chunk_types: Collection[str] = ()

    def route(self, view: DocumentView, scores: Scores) -> Route:
        """Navigate one document. `scores`: of the chunks that discovery found."""
        nav = nav_of(view)
        banned = self._banned(nav.sections)
        usable = {
            int(payload["chunk_index"]): payload
            for payload in view.chunks
            if int(payload["chunk_index"]) not in banned and self._allowed(payload)
        }
        walk = _Walk(self.terms, usable, scores, set(self.excluded))
        route = Route(view.row.document_id, view.row.filename, [])
        root = NavSection("", "", 0, [], chunk_indexes=nav.chunk_indexes, children=nav.sections)
        root.token_count, root.chunk_count = nav.token_count, nav.chunk_count
        walk.levels(root, route, self.most_steps)
        taken = walk.taken
        found = {i for i, payload in usable.items() if payload["chunk_id"] in scores}
        covers = _covers(self.terms, [usable[i] for i in sorted(taken)])
        agent = dict(zip(sorted(taken), covers, strict=True))
        for index in sorted(taken | found):
            payload = usable[index]
            route.passages.append(Passage(payload, scores.get(payload["chunk_id"], 0.0), agent.get(index, 0.0)))
        return route

    def _banned(self, sections: list[NavSection]) -> set[int]:
        """Chunks whose text is in excluded sections only."""
        out, kept = set[int](), set[int]()
        excluded: set[str] = set(self.excluded)
        for section in walk_sections(sections):
            if section.id in excluded:
                excluded.update(child.id for child in section.children)
            (out if section.id in excluded else kept).update(section.chunk_indexes)
        return out - kept

    def _allowed(self, payload: Found) -> bool:
        return not self.chunk_types or payload["chunk_type"] in self.chunk_types


def _covers(terms: Terms, payloads: list[Found]) -> list[float]:
    if not payloads:
        return []
    texts = ["\n".join([*payload["section_path"], str(payload["content"])]) for payload in payloads]
    return terms.cover(texts, str(payloads[0].get("language") or "und"))


@dataclass(slots=True)
class _Walk:
    """One document on its way: which chunks were taken."""

    terms: Terms
    usable: Mapping[int, Found]
    scores: Scores
    excluded: set[str]
    taken: set[int] = field(default_factory=lambda: set[int]())

    def levels(self, root: NavSection, route: Route, most_steps: int) -> None:
        """Breadth first from the root, the best of each level first."""
        level = [root]
        while level and route.steps < most_steps:
            ranked = sorted(level, key=self._promise, reverse=True)
            looked = [s for s in ranked[:BEAM] if s is root or self._promise(s) > 0][: most_steps - route.steps]
            route.unopened += [s for s in ranked if s not in looked]
            level = []
            for section in looked:
                route.steps += 1
                level += self._look(section, route)
        route.unopened += level

    def _look(self, section: NavSection, route: Route) -> list[NavSection]:
        """Open a section, or go on below it; the subsections still to be looked at."""
        children = [child for child in section.children if child.id not in self.excluded]
        if not children or section.token_count <= OPEN_TOKENS:
            self._take(section, route)
            return []
        own = [index for index in section.chunk_indexes if index in self.usable]
        if any(self.usable[index]["chunk_id"] in self.scores for index in own):
            self._take(NavSection(section.id, section.title, section.level, section.path, chunk_indexes=own), route)
        return children

    def _take(self, section: NavSection, route: Route) -> None:
        """Take a section's chunks: all of a small one; of a large one those around the hits."""
        indexes = [i for s in walk_sections([section]) if s.id not in self.excluded for i in s.chunk_indexes]
        usable = sorted({i for i in indexes if i in self.usable})
        if sum(int(self.usable[i]["token_count"]) for i in usable) > OPEN_TOKENS:
            hits = {i for i in usable if self.usable[i]["chunk_id"] in self.scores}
            usable = [i for i in usable if hits & {i - 1, i, i + 1}]
        if usable:
            self.taken.update(usable)
            route.opened.append(section)

    def _promise(self, section: NavSection) -> float:
        """The best hit inside the section, and how much of the question its title and summary cover."""
        indexes = [i for s in walk_sections([section]) for i in s.chunk_indexes if i in self.usable]
        best = max((self.scores.get(self.usable[i]["chunk_id"], 0.0) for i in indexes), default=0.0)
        cover = self.terms.cover([f"{section.title}\n{section.summary}"], "und")[0]
        return best + TITLE_WEIGHT * cover if best or cover >= LEAST_COVER else 0.0
