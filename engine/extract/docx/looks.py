"""Headings told by their look, in Word documents whose author used no heading styles.

A heading by look is a short paragraph set all bold, or clearly larger than the body text, that stands alone above
text. Anything that looks like a caption, a date, a label, an address or a sentence is left a paragraph, and so is
everything in a document where such paragraphs are too many to head anything.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from engine.records import StructureElement

_LONGEST = 100  # characters
_MOST_WORDS = 14
_LARGER = 1.15  # times the body text's size
_LARGEST_SHARE = 0.4  # of a document's paragraphs
_LEVELS = 4
_VETO = re.compile(
    r"(?:table|figure|fig\.|tab\.|tabelle|abbildung|abb\.|tableau|tabla|figura|chart|source|note)\s*[\d:.]"  # captions
    r"|[^\W\d]+:\s"  # "To: everyone"
    r"|[-•*·–—]\s|.*(?:@|://|_{3,}|\.{4,}|…{2,})"  # bullets typed by hand, addresses, blanks to fill, leaders
    r"|\W*(?:\d{1,4}[./-]){1,2}\d{1,4}\W*$|(?:\d{1,2}\.?\s+)?[^\W\d]{3,9}\.?\s+(?:\d{1,2},\s*)?\d{4}$",  # dates
    re.IGNORECASE,
)

Rank = tuple[int, bool]  # size in half points, and whether bold


def headings_by_look(roots: list[StructureElement], sizes: Counter[int]) -> list[StructureElement]:
    """The tree with paragraphs that look like headings made into headings; the tree as it is where styles name any.

    Paragraphs carry `look` ("size in half points" and "bold" or "plain") when all their text is set alike; it is
    taken off. `sizes`: characters of body text by size.
    """
    flat = list(_unnested(roots))
    looks = [element.attributes.pop("look", "") for element in flat]
    headed = [number for number, element in enumerate(flat) if element.type == "heading"]
    if not sizes or (headed and headed != [0]):
        return roots
    ranks = _ranks(flat, looks, sizes.most_common(1)[0][0])
    if not ranks:
        return roots
    order = sorted(set(ranks.values()), reverse=True)
    first = 2 if headed else 1
    for number, rank in ranks.items():
        flat[number].type, flat[number].level = "heading", min(order.index(rank), _LEVELS - 1) + first
    return _nested(flat)


def _ranks(flat: list[StructureElement], looks: list[str], body: int) -> dict[int, Rank]:
    """Places of the paragraphs that look like headings, with size and weight."""
    found: dict[int, Rank] = {}
    for number, (element, look) in enumerate(zip(flat, looks, strict=True)):
        size, _, weight = look.partition(" ")
        bold = weight == "bold"
        if look and element.type == "paragraph" and _is_candidate(element.content, int(size), bold, body):
            found[number] = int(size), bold
    alone = {n: rank for n, rank in found.items() if found.get(n - 1) != rank and found.get(n + 1) != rank}
    kept = {n: rank for n, rank in alone.items() if _heads(n, rank, alone, flat)}
    texts = sum(element.type in {"paragraph", "list"} for element in flat)
    return kept if len(kept) <= max(_LARGEST_SHARE * texts, 1) else {}


def _is_candidate(text: str, size: int, bold: bool, body: int) -> bool:
    larger = size >= _LARGER * body
    if not (bold or larger) or size < body or len(text) > _LONGEST or len(text.split()) > _MOST_WORDS:
        return False
    if "\n" in text or text[-1] in ".;," or (text[-1] == ":" and not larger) or _VETO.match(text):
        return False
    letters = [c for c in text if c.isalpha()]
    return len(letters) >= max(2, len(text) / 3) and not letters[0].islower()


def _heads(number: int, rank: tuple[int, bool], found: dict[int, Rank], flat: list[StructureElement]) -> bool:
    """Whether something follows that the paragraph can head: text, a list or a table, or a heading of lower rank."""
    if number + 1 >= len(flat):
        return False
    below = found.get(number + 1)
    if below is not None:
        return below < rank
    return flat[number + 1].type in {"paragraph", "list", "table", "code", "image", "caption"}


def _unnested(roots: list[StructureElement]) -> list[StructureElement]:
    """All blocks in source order, headings without what they own."""
    flat: list[StructureElement] = []
    stack = list(reversed(roots))
    while stack:
        element = stack.pop()
        if element.type == "heading":
            stack.extend(reversed(element.children))
            flat.append(replace(element, children=[]))
        else:
            flat.append(element)
    return flat


def _nested(flat: list[StructureElement]) -> list[StructureElement]:
    """Blocks in source order as a tree: a heading owns all up to the next of its level or higher."""
    roots: list[StructureElement] = []
    opened: list[StructureElement] = []
    for element in flat:
        if element.type == "heading":
            while opened and (opened[-1].level or 1) >= (element.level or 1):
                opened.pop()
        (opened[-1].children if opened else roots).append(element)
        if element.type == "heading":
            opened.append(element)
    return roots
