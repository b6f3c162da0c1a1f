"""Measures a document's text once in both tokenizers, so that any stretch of it costs one look-up.

The text is cut into atoms: a word with the white space before it, a few CJK characters with the punctuation that
closes them, or a part of a word too long for a chunk. Atom costs are added up; sums come out equal to or a
little above the true counts, because tokens hardly ever span atoms. `make_chunks` counts exactly at the end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import regex
from numpy.typing import NDArray

from engine.embed.limits import ModelLimits
from engine.tokens import TokenCounter, graphemes

LONGEST_ATOM = 24  # characters; a longer word is several atoms, cut only when it fills a chunk alone
TARGET_SHARE = 0.8  # of the model's window, where that is smaller than the cap
_CACHE_LIMIT = 200_000
_JOINT = ",;:/&?=|)}]>"  # characters inside a long word (a URL, minified code) behind which it is best cut
# A word; or, of a longer one, what goes up to the last joint within reach; or as much as an atom holds.
_ASCII_ATOM = re.compile(
    rf"\s*(?:\S{{1,{LONGEST_ATOM}}}(?!\S)|\S{{0,{LONGEST_ATOM - 1}}}[{re.escape(_JOINT)}]|\S{{1,{LONGEST_ATOM}}})"
)
_CJK = r"[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
_CLOSING = (
    r"[\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f\uff61\u2026\u300d\u300f\u3011\u3015\uff09\uff3d\u201d\u2019]"
)
_ANY_ATOM = regex.compile(rf"\s*(?:(?:{_CJK}\p{{M}}*){{1,4}}{_CLOSING}*|(?:(?!{_CJK})\S)+{_CLOSING}*)")


_CJK_START = re.compile(rf"\s*{_CJK}")


@dataclass(frozen=True, slots=True)
class Tokens:
    """A cost or an allowance: cl100k_base tokens, and tokens of the embedding model."""

    standard: int
    model: int

    def plus(self, other: Tokens) -> Tokens:
        return Tokens(self.standard + other.standard, self.model + other.model)

    def minus(self, other: Tokens) -> Tokens:
        return Tokens(self.standard - other.standard, self.model - other.model)

    def within(self, other: Tokens) -> bool:
        return self.standard <= other.standard and self.model <= other.model


@dataclass(frozen=True, slots=True)
class Budget:
    """What a chunk's text may cost: `hard` never to be passed, `target` to be filled."""

    hard: Tokens
    target: Tokens

    def less(self, used: Tokens) -> Budget:
        return Budget(self.hard.minus(used), self.target.minus(used))


def budget_for(max_tokens: int, limits: ModelLimits) -> Budget:
    """The allowance of a chunk's content: special tokens and the model's own prefix are taken off."""
    overhead = limits.count([""])[0]
    window = limits.max_tokens - overhead
    share = int(limits.max_tokens * TARGET_SHARE) - overhead if limits.max_tokens < max_tokens else window
    return Budget(Tokens(max_tokens, window), Tokens(max_tokens, max(share, 1)))


class Costs:
    """Costs of short strings in both tokenizers, remembered between documents. One per process and model."""

    def __init__(self, counter: TokenCounter, limits: ModelLimits) -> None:
        self.counter = counter
        self.limits = limits
        self._known: dict[str, Tokens] = {}

    def of(self, text: str) -> Tokens:
        """The cost of one text, counted whole."""
        return Tokens(self.counter.count(text), self.limits.bare([text])[0])

    def table(self, keys: list[str]) -> dict[str, Tokens]:
        """A mapping that holds the cost of every key."""
        if len(self._known) > _CACHE_LIMIT:
            self._known.clear()
        new = [key for key in dict.fromkeys(keys) if key not in self._known]
        for key, standard, model in zip(new, self.counter.count_many(new), self.limits.bare(new), strict=True):
            self._known[key] = Tokens(standard, model)
        return self._known


class Ruler:
    """Costs over one text. Offsets are characters; ranges are half-open."""

    def __init__(self, text: str, costs: Costs, budget: Budget) -> None:
        self.text = text
        self.costs = costs
        self.budget = budget
        keys = atoms(text)
        table = costs.table(keys)
        if any(not table[key].within(budget.hard) for key in set(keys)):
            keys = _finer(keys, table, budget.hard)
            table = costs.table(keys)
        lengths = np.fromiter(map(len, keys), np.int64, len(keys))
        blanks = np.fromiter((len(k) - len(k.lstrip()) for k in keys), np.int64, len(keys))
        self._ends = np.cumsum(lengths)
        self._starts = self._ends - lengths + blanks
        self._free = _free_ends(keys, blanks)
        self._standard = _running_sum([table[k].standard for k in keys])
        self._model = _running_sum([table[k].model for k in keys])

    def cost(self, start: int, end: int) -> Tokens:
        """Tokens of text[start:end], a little above the truth; white space at its ends is free."""
        first, last = self._covered(start, end)
        if last <= first:
            return Tokens(0, 0)
        return Tokens(int(self._standard[last] - self._standard[first]), int(self._model[last] - self._model[first]))

    def fits(self, start: int, end: int, allowance: Tokens) -> bool:
        return self.cost(start, end).within(allowance)

    def reach(self, start: int, allowance: Tokens) -> int:
        """End of the last atom of the longest stretch from `start` within the allowance.

        At least one atom further than `start`, whatever it costs: progress is guaranteed.
        """
        first = int(self._starts.searchsorted(start))
        if first >= len(self._ends):
            return len(self.text)
        last = min(
            int(self._standard.searchsorted(self._standard[first] + allowance.standard, "right")),
            int(self._model.searchsorted(self._model[first] + allowance.model, "right")),
        )
        return int(self._ends[max(last - 2, first)])

    def back(self, end: int, start: int, tokens: int) -> int:
        """Start of the shortest run of whole words that ends at `end` and holds at most `tokens` cl100k tokens.

        Never before `start`; `end` itself when not even one word fits.
        """
        last = int(self._ends.searchsorted(end, "right"))
        first = int(self._standard.searchsorted(self._standard[last] - tokens))
        while first < last and first > 0 and self._starts[first] == self._ends[first - 1]:
            first += 1  # inside a long word: begin at the next one
        return max(start, int(self._starts[first])) if first < last else end

    def word_cut(self, start: int, *allowances: Tokens) -> int:
        """The last place between words or CJK characters within the first allowance that has one.

        A word that passes even the last allowance must be cut: behind a joint of that word if one lies in the
        second half of what fits, else at the end of what fits.
        """
        reach = start
        for allowance in allowances:
            reach = self.reach(start, allowance)
            first, last = self._covered(start, reach)
            free = np.flatnonzero(self._free[first:last])
            if len(free):
                return int(self._ends[first + free[-1]])
        whole = self._whole_word(start, allowances[-1])
        if whole is not None:
            return whole
        first, last = self._covered(start, reach)
        joints = [at for at in self._ends[(first + last) // 2 : last].tolist() if self.text[at - 1] in _JOINT]
        return joints[-1] if joints else reach

    def _whole_word(self, start: int, allowance: Tokens) -> int | None:
        """End of the word at `start` if, counted as one, it keeps the allowance: its atoms' sum can be far off."""
        first = int(self._starts.searchsorted(start))
        free = np.flatnonzero(self._free[first : first + 2 * allowance.standard])
        if not len(free):
            return None
        end = int(self._ends[first + free[0]])
        return end if self.costs.of(self.text[start:end]).within(allowance) else None

    def _covered(self, start: int, end: int) -> tuple[int, int]:
        """Indices [first, last) of the atoms whose text lies in [start, end)."""
        return int(self._starts.searchsorted(start)), int(self._ends.searchsorted(end, "right"))


def atoms(text: str) -> list[str]:
    """The text in atoms, in order; only white space at its end is missing."""
    if text.isascii():
        return _ASCII_ATOM.findall(text)
    found: list[str] = _ANY_ATOM.findall(text)
    if max(map(len, found), default=0) <= LONGEST_ATOM:
        return found
    parts: list[str] = []
    for atom in found:
        parts.extend(_pieces(atom) if len(atom) > LONGEST_ATOM else [atom])
    return parts


def _pieces(atom: str) -> list[str]:
    """A long atom in runs of whole graphemes of at most LONGEST_ATOM characters, its white space first."""
    body = atom.lstrip()
    blank = atom[: len(atom) - len(body)]
    parts, current = list[str](), blank
    room = LONGEST_ATOM + len(blank)
    for grapheme in graphemes(body):
        if len(current) + len(grapheme) > room and current.strip():
            parts.append(current)
            current, room = "", LONGEST_ATOM
        current += grapheme
    return [*parts, current]


def _finer(keys: list[str], table: dict[str, Tokens], most: Tokens) -> list[str]:
    """The atoms with those that cost too much cut into graphemes, and huge graphemes into code points."""
    parts: list[str] = []
    for key in keys:
        if table[key].within(most):
            parts.append(key)
            continue
        body = key.lstrip()
        units = [u for g in graphemes(body) for u in ([g] if len(g) <= 4 else list(g))]
        parts += [key[: len(key) - len(body)] + units[0], *units[1:]]
    return parts


def _free_ends(keys: list[str], blanks: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(n,) whether a chunk may end behind each atom without cutting a word."""
    free = np.ones(len(keys), np.bool_)
    free[:-1] = blanks[1:] > 0
    glued = np.flatnonzero(~free)
    for at in glued.tolist():
        free[at] = _CJK_START.match(keys[at]) is not None or _CJK_START.match(keys[at + 1]) is not None
    return free


def _running_sum(values: list[int]) -> NDArray[np.int64]:
    """(n + 1,) sums of the first 0, 1, ... n values."""
    sums = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    return sums
