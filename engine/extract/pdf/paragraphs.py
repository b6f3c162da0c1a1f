"""Joins words into lines of text, and lines into the text of a paragraph."""

from __future__ import annotations

from collections.abc import Sequence

from engine.extract.pdf.model import Word
from engine.extract.pdf.spacing import is_cjk, is_rtl

_HYPHENS = "-\u2010\u00ad"
_LINE_STEP = 0.5  # of a word's height; words whose middles differ by more stand on different lines


def join_words(words: Sequence[Word]) -> str:
    """The text of some words that stand together, read line by line."""
    if len(words) == 1:
        return words[0].text.strip()
    return join_lines([" ".join(w.text for w in line) for line in word_lines(words)])


def word_lines(words: Sequence[Word]) -> list[list[Word]]:
    """Words grouped into lines from top to bottom; right-to-left lines keep the order given."""
    order = {id(w): n for n, w in enumerate(words)}
    lines: list[list[Word]] = []
    middle = float("-inf")
    for word in sorted(words, key=lambda w: w.y0 + w.y1):
        here = (word.y0 + word.y1) / 2
        if lines and here - middle <= _LINE_STEP * max(word.y1 - word.y0, 1):
            lines[-1].append(word)
        else:
            lines.append([word])
            middle = here
    for line in lines:
        turned = any(is_rtl(w.text) for w in line)
        line.sort(key=lambda w: order[id(w)] if turned else w.x0)
    return lines


def join_lines(lines: Sequence[str]) -> str:
    """Lines as running text: words divided at the line's end are joined, CJK lines without a space."""
    text = ""
    for line in lines:
        line = line.strip()
        if not line:
            continue
        text = _joined(text, line) if text else line
    return text


def _joined(text: str, line: str) -> str:
    last, first = text[-1], line[0]
    if last == "\u00ad":
        return text[:-1] + line
    if last in _HYPHENS and len(text) > 1 and text[-2].isalpha():
        if first.islower() and not _is_compound(text):
            return text[:-1] + line
        if first.isalnum():
            return text + line
    if is_cjk(last) and is_cjk(first):
        return text + line
    return f"{text} {line}"


def _is_compound(text: str) -> bool:
    """Whether the word at the end has a hyphen of its own already ("state-of-the-")."""
    word = text[:-1].rpartition(" ")[2]
    return "-" in word
