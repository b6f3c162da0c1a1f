"""The ruler's sums are close to the truth, its atoms lose nothing and never cut what belongs together."""

from __future__ import annotations

import pytest

from engine.chunk.ruler import Costs, Ruler, Tokens, atoms, budget_for
from engine.embed.limits import ModelLimits
from engine.tokens import counter

TEXTS = [
    "Plain words, with  double spaces\n\nand lines.\n",
    "CamelCaseIdentifier_with_underscores(argument=1) https://example.org/a/b?c=d&e=f#anchor-in-the-page",
    "汉字漢語。日本語のテキスト、カタカナ。한국어 문장입니다.",
    "naïve café e\u0301e\u0301 👨‍👩‍👧‍👦 🇩🇪🇫🇷 ไทยไม่มีช่องว่าง",
    "| a | b |\n| --- | --- |\n| 1.5 | -2 |",
]


def ruler(text: str, limits: ModelLimits) -> Ruler:
    return Ruler(text, Costs(counter(), limits), budget_for(512, limits))


@pytest.mark.parametrize("text", TEXTS)
def test_atoms_put_together_are_the_text(text: str) -> None:
    assert "".join(atoms(text)) == text.rstrip()


@pytest.mark.parametrize("text", TEXTS)
def test_sums_are_at_or_a_little_above_the_true_counts(text: str, limits: ModelLimits) -> None:
    text = text * 20
    cost = ruler(text, limits).cost(0, len(text))
    true = Tokens(counter().count(text), limits.bare([text])[0])
    assert true.standard * 0.99 <= cost.standard <= true.standard * 1.3 + 2
    assert true.model * 0.99 <= cost.model <= true.model * 1.3 + 2


def test_reach_is_the_furthest_word_within_the_allowance(limits: ModelLimits) -> None:
    text = "one two three four five six"
    measured = ruler(text, limits)
    assert text[: measured.reach(0, Tokens(3, 100))] == "one two three"
    assert text[: measured.reach(0, Tokens(100, 2))] == "one two"
    assert text[: measured.reach(0, Tokens(0, 0))] == "one"
    assert measured.reach(4, Tokens(100, 100)) == len(text)


def test_long_words_are_cut_at_joints_and_never_inside_a_grapheme(limits: ModelLimits) -> None:
    text = ",".join(f'"key{i}":{i}' for i in range(300))
    measured = ruler(text, limits)
    cut = measured.word_cut(0, Tokens(100, 100))
    assert text[cut - 1] in ",:"
    family = "👨‍👩‍👧‍👦"
    assert all(len(atom) % len(family) == 0 for atom in atoms(family * 50))


def test_the_target_is_four_fifths_of_a_smaller_window(limits: ModelLimits) -> None:
    small = budget_for(512, limits)
    assert small.target == Tokens(512, 202)
    assert small.hard == Tokens(512, 254)
    wide = budget_for(512, ModelLimits(8191, "", 0, "t", limits.encode))
    assert wide.target == wide.hard
