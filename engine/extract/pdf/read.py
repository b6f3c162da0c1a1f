"""Reads a page's text from PyMuPDF into runs of words in the reading frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from engine.extract.pdf.annotations import read_annotations
from engine.extract.pdf.graphics import read_graphics
from engine.extract.pdf.model import PageModel, Rectangle, Run, Transform, Word, apply, compose, invert
from engine.extract.pdf.mupdf import TEXT_FLAGS, Page
from engine.extract.pdf.spacing import (
    RTL_LETTER,
    Glyph,
    fix_ligatures,
    is_letterspaced,
    is_rtl,
    needs_glyphs,
    respace,
    undouble,
)

Direction = tuple[int, int]
_BOLD_FLAG, _ITALIC_FLAG, _MONO_FLAG = 16, 2, 8
_FILLED, _STROKED, _FAKE_BOLD = 16, 32, 8  # MuPDF's per-character flags
_BOLD_NAMES = ("bold", "black", "heavy", "semibold", "demi")
_MONO_NAMES = ("mono", "courier", "consol", "menlo", "typewriter", "cmtt")
_WORD_GAP = 0.2  # em; glyphs further apart belong to two words


def read_page(page: Page, number: int) -> PageModel:
    """Everything on one page. Raises one of MUPDF_ERRORS when the page cannot be read at all."""
    width, height = float(page.rect.width), float(page.rect.height)
    textpage = page.get_textpage(flags=TEXT_FLAGS)
    blocks: list[dict[str, Any]] = textpage.extractDICT()["blocks"]
    lines = [(b["number"], i, line) for b in blocks for i, line in enumerate(b.get("lines", ()))]
    direction = _main_direction([line for _, _, line in lines])
    plain = (height, width) if page.rotation in (90, 270) else (width, height)
    to_frame, frame_width, frame_height = _frame(direction, *plain)
    runs, hidden = _runs(textpage, lines, direction, to_frame)
    model = PageModel(
        number,
        width,
        height,
        frame_width,
        frame_height,
        [run for run, main in runs if main],
        [run for run, main in runs if not main],
        frame_to_page=compose(invert(to_frame), tuple(page.rotation_matrix)),
        hidden_characters=hidden,
        vertical=any(line.get("wmode") for _, _, line in lines[:50]),
    )
    read_graphics(page, model, to_frame)
    read_annotations(page, model, to_frame)
    return model


# ---------------------------------------------------------------- the reading frame
def _axis(line: dict[str, Any]) -> Direction:
    """The line's direction as a unit step along an axis; (0, 0) for slanted text."""
    cos, sin = line["dir"]
    if abs(cos) > 0.95:
        return (1 if cos > 0 else -1, 0)
    if abs(sin) > 0.95:
        return (0, 1 if sin > 0 else -1)
    return (0, 0)


def _main_direction(lines: list[dict[str, Any]]) -> Direction:
    weights: Counter[Direction] = Counter()
    for line in lines:
        weights[_axis(line)] += sum(len(s["text"].strip()) for s in line["spans"])
    weights.pop((0, 0), None)
    return max(weights, key=lambda d: (weights[d], d == (1, 0)), default=(1, 0))


def _frame(direction: Direction, width: float, height: float) -> tuple[Transform, float, float]:
    """The transform that makes `direction` point right, and the size of the turned page."""
    match direction:
        case (0, 1):
            return (0, -1, 1, 0, 0, width), height, width
        case (0, -1):
            return (0, 1, -1, 0, height, 0), height, width
        case (-1, 0):
            return (-1, 0, 0, -1, width, height), width, height
        case _:
            return (1, 0, 0, 1, 0, 0), width, height


# ---------------------------------------------------------------- runs
def _runs(
    textpage: Any,
    lines: list[tuple[int, int, dict[str, Any]]],
    direction: Direction,
    to_frame: Transform,
) -> tuple[list[tuple[Run, bool]], int]:
    """(run, runs in the main direction) for every line of text, and the count of invisible characters."""
    words = _words_by_line(textpage)
    glyphs: dict[tuple[int, int], list[Glyph]] | None = None
    found: list[tuple[Run, bool]] = []
    seen: set[tuple[str, int, int]] = set()
    hidden = 0
    for sequence, (block, index, line) in enumerate(lines):
        text = "".join(s["text"] for s in line["spans"])
        stripped = text.strip()
        if not stripped:
            continue
        axis = _axis(line)
        pieces = _line_words(words.get((block, index), []), to_frame)
        if needs_glyphs(stripped):
            glyphs = glyphs if glyphs is not None else _glyphs_by_line(textpage, to_frame)
            pieces = _repaired(pieces, stripped, glyphs.get((block, index), []), line)
        elif pieces and RTL_LETTER.search(stripped) and len(pieces) != len(stripped.split()):
            pieces = _spread(stripped.split(), pieces)
        if not pieces or _is_copy(pieces, seen):
            continue
        run = _run(pieces, line, sequence)
        hidden += _hidden_characters(line)
        found.append((run, axis == direction))
    return found, hidden


def _words_by_line(textpage: Any) -> dict[tuple[int, int], list[tuple[Any, ...]]]:
    grouped: dict[tuple[int, int], list[tuple[Any, ...]]] = {}
    for word in textpage.extractWORDS():
        grouped.setdefault((word[5], word[6]), []).append(word)
    return grouped


def _line_words(found: list[tuple[Any, ...]], to_frame: Transform) -> list[Word]:
    if to_frame == (1, 0, 0, 1, 0, 0):
        return [Word(w[4], w[0], w[1], w[2], w[3]) for w in found]
    return [Word(w[4], *apply(to_frame, (w[0], w[1], w[2], w[3]))) for w in found]


def _glyphs_by_line(textpage: Any, to_frame: Transform) -> dict[tuple[int, int], list[Glyph]]:
    grouped: dict[tuple[int, int], list[Glyph]] = {}
    for block in textpage.extractRAWDICT()["blocks"]:
        for index, line in enumerate(block.get("lines", ())):
            glyphs: list[Glyph] = []
            for span in line["spans"]:
                for char in span["chars"]:
                    x0, _, x1, _ = apply(to_frame, char["bbox"])
                    origin = apply(to_frame, (*char["origin"], *char["origin"]))[0]
                    glyphs.append(Glyph(char["c"], x0, x1, origin))
            grouped[block["number"], index] = glyphs
    return grouped


def _repaired(words: list[Word], text: str, glyphs: list[Glyph], line: dict[str, Any]) -> list[Word]:
    """The words of a line after looking at its glyphs. Boxes are kept where the word count is."""
    if not glyphs or not words:
        return words
    if is_letterspaced(text) and not is_rtl(text):
        fixed = respace(glyphs, line["spans"][0]["size"])
    else:
        fixed = "".join(g.text for g in fix_ligatures(glyphs))
    tokens = fixed.split()
    if len(tokens) == len(words):
        return [Word(t, w.x0, w.y0, w.x1, w.y1) for t, w in zip(tokens, words, strict=True)]
    return _spread(tokens, words)


def _spread(tokens: Sequence[str], words: list[Word]) -> list[Word]:
    """Give each new token the span of the old words whose letters it took over."""
    spread: list[Word] = []
    queue = list(words)
    for token in tokens:
        wanted, taken = len(token), 0
        part: list[Word] = []
        while queue and (taken < wanted or not part):
            part.append(queue.pop(0))
            taken += len(part[-1].text)
        part = part or words[-1:]
        spread.append(
            Word(
                token,
                min(w.x0 for w in part),
                min(w.y0 for w in part),
                max(w.x1 for w in part),
                max(w.y1 for w in part),
            )
        )
    return spread


def _is_copy(words: list[Word], seen: set[tuple[str, int, int]]) -> bool:
    """Whether the same words were already printed within a point of here (shadows, fake bold)."""
    text = " ".join(w.text for w in words)
    column, row = round(words[0].x0), round(words[0].y0)
    near = {(text, column + dx, row + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)}
    if near & seen:
        return True
    seen.add((text, column, row))
    return False


def _run(words: list[Word], line: dict[str, Any], sequence: int) -> Run:
    box = _bounds(words)
    text = " ".join(w.text for w in words)
    single = undouble(text)
    if single != text:
        text = single
        words = [Word(t, w.x0, w.y0, w.x1, w.y1) for t, w in zip(text.split(), words, strict=False)]
    size, bold, italic, mono = _style(line["spans"])
    return Run(words, *box, text, size, bold, italic, mono, is_rtl(text), sequence)


def _bounds(words: list[Word]) -> Rectangle:
    return (
        min(w.x0 for w in words),
        min(w.y0 for w in words),
        max(w.x1 for w in words),
        max(w.y1 for w in words),
    )


def _style(spans: list[dict[str, Any]]) -> tuple[float, bool, bool, bool]:
    """Size, bold, italic and fixed pitch of most of the line's letters."""
    sizes: Counter[float] = Counter()
    total = bold = italic = mono = 0
    for span in spans:
        weight = len(span["text"].strip())
        if not weight:
            continue
        flags, marks, name = span["flags"], span.get("char_flags", 0), span["font"].lower()
        total += weight
        sizes[round(span["size"], 1)] += weight
        painted_twice = marks & (_FILLED | _STROKED) == _FILLED | _STROKED
        if flags & _BOLD_FLAG or marks & _FAKE_BOLD or painted_twice or any(n in name for n in _BOLD_NAMES):
            bold += weight
        if flags & _ITALIC_FLAG:
            italic += weight
        if flags & _MONO_FLAG or any(n in name for n in _MONO_NAMES):
            mono += weight
    size = max(sizes, key=lambda s: (sizes[s], s), default=0.0)
    return size, 2 * bold > total, 2 * italic > total, 2 * mono > total


def _hidden_characters(line: dict[str, Any]) -> int:
    """Characters that are neither filled nor stroked, or fully transparent."""
    return sum(
        len(s["text"].strip())
        for s in line["spans"]
        if not s.get("char_flags", _FILLED) & (_FILLED | _STROKED) or s.get("alpha", 255) == 0
    )
