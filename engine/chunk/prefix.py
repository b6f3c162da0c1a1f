"""What stands in front of a chunk's text: the heading for every channel, the sentence before for the lexical ones."""

from __future__ import annotations

from engine.chunk.ruler import Ruler, Tokens
from engine.chunk.sentences import sentence_ends
from engine.chunk.table_rows import shortened

HEADING_SHARE = 4  # a heading may take a quarter of the hard limit
SENTENCE_WORDS = 25
_LOOK_BACK = 1500  # characters searched for the sentence before


class Prefixes:
    """Heading prefixes of one document, each made once."""

    def __init__(self, ruler: Ruler, include_headings: bool) -> None:
        self._ruler = ruler
        self._include = include_headings
        hard = ruler.budget.hard
        self._allowed = Tokens(hard.standard // HEADING_SHARE - 2, hard.model // HEADING_SHARE - 2)
        self._made: dict[str, str] = {}

    def of(self, path: list[str]) -> str:
        """`## Heading` and an empty line for the innermost heading of the path; "" without one."""
        if not self._include or not path:
            return ""
        heading = path[-1]
        if heading not in self._made:
            short = shortened(" ".join(heading.split()), self._allowed, self._ruler)
            self._made[heading] = f"## {short}\n\n" if short else ""
        return self._made[heading]

    def cost(self, path: list[str]) -> Tokens:
        prefix = self.of(path)
        return self._ruler.costs.of(prefix) if prefix else Tokens(0, 0)


def sentence_before(text: str, start: int, floor: int) -> str:
    """The last SENTENCE_WORDS words of the sentence that ends before `start`, looking back to `floor`."""
    low = max(floor, start - _LOOK_BACK)
    before = text[low:start].rstrip()
    ends = sentence_ends(before)
    sentence = before[ends[-1] :] if ends else before
    return " ".join(sentence.split()[-SENTENCE_WORDS:])
