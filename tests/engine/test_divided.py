"""Words that the end of a page divides."""

from __future__ import annotations

import pytest

from engine.divided import join_divided_words
from engine.records import StructureElement


def block(text: str, page: int, type: str = "paragraph") -> StructureElement:
    return StructureElement(type, None, text, page_number=page)


@pytest.mark.parametrize(
    ("above", "below", "joined"),
    [
        ("the rail-", "way station", ("the railway", "station")),
        ("the soft\u00ad", "ware, of course", ("the software,", "of course")),
        ("a state-of-the-", "art bridge", None),
        ("Jean-", "Paul came", None),
        ("the years 1914-", "and later", None),
        ("whole.", "and so on", None),
        ("the rail-", "way", None),
    ],
)
def test_pairs(above: str, below: str, joined: tuple[str, str] | None) -> None:
    blocks = [block(above, 1), block("7", 1, "page_footer"), block("Title", 2, "page_header"), block(below, 2)]
    assert join_divided_words(blocks) == (joined is not None)
    assert (blocks[0].content, blocks[-1].content) == (joined or (above, below))
    assert join_divided_words(blocks) == 0


def test_only_the_next_page_goes_on() -> None:
    for between in (block("A heading", 2, "heading"), block("", 2, "table")):
        assert join_divided_words([block("the rail-", 1), between, block("way station", 2)]) == 0
    assert join_divided_words([block("the rail-", 1), block("way station", 3)]) == 0
    assert join_divided_words([block("the rail-", 1), block("way station", 1)]) == 0
