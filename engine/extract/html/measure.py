"""Measures every node of a page once: how much text, how much of it in links, how much of it prose."""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborNode

_MAX_DEPTH = 300  # ancestors credited with a text; deeper nesting is nothing a person wrote
_PROSE = 60  # characters of one run of text outside links that make it prose


@dataclass(slots=True)
class Measure:
    """Characters without white space below a node."""

    chars: int = 0
    linked: int = 0
    prose: int = 0
    links: int = 0
    headings: int = 0
    titles: int = 0  # h1

    @property
    def density(self) -> float:
        """Share of the text that is in links, 0..1."""
        return self.linked / self.chars if self.chars else 0.0


class Measures:
    """Measures by node. The tree must not change while this is in use."""

    def __init__(self, root: LexborNode) -> None:
        self._by_node: dict[int, Measure] = {}
        for node in root.traverse(include_text=True):
            tag = node.tag or ""
            if tag == "-text":
                self._credit(node)
            elif tag in ("h1", "h2", "h3", "h4", "h5", "h6", "a"):
                self._count(node, tag)

    def of(self, node: LexborNode) -> Measure:
        return self._by_node.get(node.mem_id) or Measure()

    def _credit(self, node: LexborNode) -> None:
        length = len("".join((node.text_content or "").split()))
        if not length:
            return
        ancestors = _ancestors(node)
        linked = length if any(a.tag in ("a", "button") for a in ancestors) else 0
        prose = length if length >= _PROSE and not linked else 0
        for ancestor in ancestors:
            measure = self._by_node.setdefault(ancestor.mem_id, Measure())
            measure.chars += length
            measure.linked += linked
            measure.prose += prose

    def _count(self, node: LexborNode, tag: str) -> None:
        for ancestor in _ancestors(node):
            measure = self._by_node.setdefault(ancestor.mem_id, Measure())
            if tag == "a":
                measure.links += 1
            else:
                measure.headings += 1
                measure.titles += tag == "h1"


def _ancestors(node: LexborNode) -> list[LexborNode]:
    found: list[LexborNode] = []
    parent = node.parent
    while parent is not None and len(found) < _MAX_DEPTH:
        found.append(parent)
        parent = parent.parent
    return found
