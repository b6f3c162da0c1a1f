"""Sentence ends in several scripts, and the full stops that are none."""

from __future__ import annotations

from itertools import pairwise

import pytest

from engine.chunk.sentences import sentence_ends


def sentences(text: str) -> list[str]:
    cuts = [0, *sentence_ends(text), len(text)]
    return [text[a:b].strip() for a, b in pairwise(cuts)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Smith met J. R. Jones. He left.", ["Dr. Smith met J. R. Jones.", "He left."]),
        ('He said "Go!" Then he left.', ['He said "Go!"', "Then he left."]),
        ("See Fig. 3 for more. It costs 3.50.", ["See Fig. 3 for more.", "It costs 3.50."]),
        ("Born in 1999. Then what? Nothing!", ["Born in 1999.", "Then what?", "Nothing!"]),
        ("Wait... what is it? Oh.", ["Wait... what is it?", "Oh."]),
        ("Das ist z. B. so. Nr. 5 lebt.", ["Das ist z. B. so.", "Nr. 5 lebt."]),
        ("He said no. Then see no. 5.", ["He said no.", "Then see no. 5."]),
        ("これは文です。次の文！「終わり。」そして。", ["これは文です。", "次の文！", "「終わり。」", "そして。"]),
        ("यह वाक्य है। दूसरा वाक्य।", ["यह वाक्य है।", "दूसरा वाक्य।"]),
        ("هل هذا سؤال؟ نعم.", ["هل هذا سؤال؟", "نعم."]),
        ("one block\n\nanother block", ["one block", "another block"]),
        ("1. First point", ["1. First point"]),
        ("no punctuation at all", ["no punctuation at all"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_a_range_of_a_text() -> None:
    text = "One. Two. Three."
    assert sentence_ends(text, 5, 16) == [9]
