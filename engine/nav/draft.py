"""The section tree while it is being put together, and how it becomes the published one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.chunk.sentences import sentence_ends
from engine.ids import section_id
from engine.nav.records import NavSection, Resource

SUMMARY_CHARACTERS = 240
_NOT_PROSE = ("|", "```", "#")


@dataclass(slots=True)
class Draft:
    """A section before it is finished; the root stands for text under no heading. `text`: where it begins."""

    title: str = ""
    level: int = 0
    path: tuple[str, ...] = ()
    chunks: set[int] = field(default_factory=lambda: set[int]())
    resources: list[Resource] = field(default_factory=lambda: list[Resource]())
    text: str = ""
    children: list[Draft] = field(default_factory=lambda: list[Draft]())

    def child(self, title: str, level: int) -> Draft:
        made = Draft(title, level, (*self.path, title))
        self.children.append(made)
        return made

    def add(self, resource: Resource) -> None:
        """Note a table or picture; one that several chunks show counts once."""
        if all(known.id != resource.id for known in self.resources):
            self.resources.append(resource)


def drafts(root: Draft) -> Iterator[Draft]:
    """Every section below the root in document order. Iterative: depth is the document's choice."""
    stack = list(reversed(root.children))
    while stack:
        draft = stack.pop()
        yield draft
        stack.extend(reversed(draft.children))


def finished(root: Draft, document_id: str, chunks: Mapping[int, dict[str, Any]]) -> list[NavSection]:
    """The published sections. `chunks`: chunk index → payload."""
    seen: Counter[tuple[str, ...]] = Counter()
    made: dict[int, NavSection] = {}
    every: dict[int, set[int]] = {}
    ordered = list(drafts(root))
    for draft in ordered:
        identity = section_id(document_id, draft.path, seen[draft.path])
        seen[draft.path] += 1
        made[id(draft)] = NavSection(identity, draft.title, draft.level, list(draft.path))
    for draft in reversed(ordered):  # children before parents
        below = [every[id(child)] for child in draft.children]
        every[id(draft)] = draft.chunks.union(*below)
        section = made[id(draft)]
        section.children = [made[id(child)] for child in draft.children]
        _fill(section, draft, every[id(draft)], chunks)
    return [made[id(child)] for child in root.children]


def _fill(section: NavSection, draft: Draft, every: set[int], chunks: Mapping[int, dict[str, Any]]) -> None:
    own = sorted(draft.chunks)
    section.chunk_indexes = own
    section.chunk_ids = [chunks[index]["chunk_id"] for index in own]
    section.chunk_count = len(every)
    section.token_count = sum(int(chunks[index]["token_count"]) for index in every)
    pages = [page for index in every for page in chunks[index]["page_numbers"]]
    section.page_range = (min(pages), max(pages)) if pages else None
    section.resources = draft.resources
    summaries = [str(chunks[index].get("summary") or "") for index in own]
    section.summary = next(filter(None, summaries), "") or first_sentence(draft.text)


def first_sentence(text: str) -> str:
    """The first sentence of running text, within SUMMARY_CHARACTERS; "" when there is only a table or code."""
    text = text[:4000].strip()
    if not text or text.startswith(_NOT_PROSE):
        return ""
    ends = sentence_ends(text)
    sentence = " ".join(text[: ends[0] if ends else len(text)].split())
    if len(sentence) <= SUMMARY_CHARACTERS:
        return sentence
    return sentence[:SUMMARY_CHARACTERS].rsplit(" ", 1)[0].rstrip(",;:") + "…"
