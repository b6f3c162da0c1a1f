"""Reads a page's text from PyMuPDF into runs of words in the reading frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any

from engine.extract.pdf.annotations import read_annotations
from engine.extract.pdf.graphics import VECTOR, has_many_drawings, read_graphics
from engine.extract.pdf.model import IDENTITY, PageModel, Rectangle, Run, Transform, Word, apply, compose, invert
from engine.extract.pdf.mupdf import TEXT_FLAGS, VECTOR_FLAG, Page
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
from engine.extract.pdf.textpage import Place, TextLine, has_drawn_letters, text_lines, words_by_line

Direction = tuple[int, int]
_BOLD_FLAG, _ITALIC_FLAG, _MONO_FLAG = 16, 2, 8
_FILLED, _STROKED, _FAKE_BOLD = 16, 32, 8  # MuPDF's per-character flags
_BOLD_NAMES = ("bold", "black", "heavy", "semibold", "demi")
_MONO_NAMES = ("mono", "courier", "consol", "menlo", "typewriter", "cmtt")
_left, _top, _right, _bottom = map(attrgetter, ("x0", "y0", "x1", "y1"))


def read_page(page: Page, number: int) -> PageModel:
    """Everything on one page. Raises one of MUPDF_ERRORS when the page cannot be read at all."""
    rectangle, rotation = page.rect, page.rotation
    width, height = float(rectangle.width), float(rectangle.height)
    textpage, blocks, vectors = _interpreted(page)
    words = words_by_line(textpage.extractWORDS())
    lines = text_lines(blocks, words)
    axes = [_axis(line["dir"]) for _, line in lines]
    direction = _main_direction(axes, lines)
    plain = (height, width) if rotation in (90, 270) else (width, height)
    to_frame, frame_width, frame_height = _frame(direction, *plain)
    runs, hidden = _runs(textpage, lines, words, to_frame)
    turned = to_frame != IDENTITY or rotation != 0
    model = PageModel(
        number,
        width,
        height,
        frame_width,
        frame_height,
        [run for run in runs if axes[run.sequence] == direction],
        [run for run in runs if axes[run.sequence] != direction],
        frame_to_page=compose(invert(to_frame), tuple(page.rotation_matrix)) if turned else IDENTITY,
        hidden_characters=hidden,
        vertical=any(line.get("wmode") for _, line in lines[:50]),
    )
    read_graphics(page, vectors, model, to_frame)
    read_annotations(page, model, to_frame)
    return model


def _interpreted(page: Page) -> tuple[Any, list[dict[str, Any]], list[dict[str, Any]] | None]:
    """The page's text, its blocks and its drawings as boxes; None where the drawings must be read by themselves."""
    if not has_many_drawings(page):
        textpage = page.get_textpage(flags=TEXT_FLAGS | VECTOR_FLAG)
        blocks: list[dict[str, Any]] = textpage.extractDICT()["blocks"]
        vectors = [b for b in blocks if b["type"] == VECTOR]
        if not vectors or not has_drawn_letters(blocks):
            return textpage, blocks, vectors
    textpage = page.get_textpage(flags=TEXT_FLAGS)
    return textpage, textpage.extractDICT()["blocks"], None


# ---------------------------------------------------------------- the reading frame
def _axis(step: tuple[float, float]) -> Direction:
    """A line's direction as a unit step along an axis; (0, 0) for slanted text."""
    cos, sin = step
    if abs(cos) > 0.95:
        return (1 if cos > 0 else -1, 0)
    if abs(sin) > 0.95:
        return (0, 1 if sin > 0 else -1)
    return (0, 0)


def _main_direction(axes: list[Direction], lines: list[TextLine]) -> Direction:
    """The direction of most letters."""
    if axes.count((1, 0)) == len(axes):
        return (1, 0)
    weights: Counter[Direction] = Counter()
    for axis, (_, line) in zip(axes, lines, strict=True):
        weights[axis] += sum(len(s["text"].strip()) for s in line["spans"])
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
    textpage: Any, lines: list[TextLine], words: dict[Place, list[Word]], to_frame: Transform
) -> tuple[list[Run], int]:
    """A run for every line of text, numbered by its place in `lines`, and the count of invisible characters."""
    glyphs: dict[Place, list[Glyph]] | None = None
    found: list[Run] = []
    seen: dict[str, set[tuple[int, int]]] = {}
    hidden = 0
    upright = to_frame == IDENTITY
    for sequence, (place, line) in enumerate(lines):
        pieces = words.get(place)
        if not pieces:
            continue
        if not upright:
            pieces = [Word(w.text, *apply(to_frame, (w.x0, w.y0, w.x1, w.y1))) for w in pieces]
        text = pieces[0].text if len(pieces) == 1 else " ".join([w.text for w in pieces])
        if text.isspace():
            continue
        if not text.isascii() or (len(pieces) > 2 and is_letterspaced(text)):
            if needs_glyphs(text) and glyphs is None:
                glyphs = _glyphs_by_line(textpage, to_frame)
            pieces = _looked_at(pieces, line, glyphs.get(place, []) if glyphs else [])
            text = " ".join([w.text for w in pieces])
        run, unseen = _run(pieces, text, line["spans"], sequence)
        if not _is_copy(run, seen):
            hidden += unseen
            found.append(run)
    return found, hidden


def _looked_at(words: list[Word], line: dict[str, Any], glyphs: list[Glyph]) -> list[Word]:
    """The words of a line whose letters or spaces may be out of order."""
    text = "".join([s["text"] for s in line["spans"]]).strip()
    if needs_glyphs(text):
        return _repaired(words, text, glyphs, line)
    if RTL_LETTER.search(text) and len(words) != len(text.split()):
        return _spread(text.split(), words)
    return words


def _glyphs_by_line(textpage: Any, to_frame: Transform) -> dict[Place, list[Glyph]]:
    grouped: dict[Place, list[Glyph]] = {}
    for place, line in text_lines(textpage.extractRAWDICT()["blocks"], {}):
        glyphs = grouped[place] = list[Glyph]()
        for char in (char for span in line["spans"] for char in span["chars"]):
            x0, _, x1, _ = apply(to_frame, char["bbox"])
            origin = apply(to_frame, (*char["origin"], *char["origin"]))[0]
            glyphs.append(Glyph(char["c"], x0, x1, origin))
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


def _is_copy(run: Run, seen: dict[str, set[tuple[int, int]]]) -> bool:
    """Whether the same words were already printed within a point of here (shadows, fake bold)."""
    x, y = round(run.words[0].x0), round(run.words[0].y0)
    places = seen.get(run.text)
    if places is None:
        seen[run.text] = {(x, y)}
        return False
    if any((x + dx, y + dy) in places for dx in (-1, 0, 1) for dy in (-1, 0, 1)):
        return True
    places.add((x, y))
    return False


def _run(words: list[Word], text: str, spans: list[dict[str, Any]], sequence: int) -> tuple[Run, int]:
    """The run of some words, and how many of its characters are invisible."""
    if text[1:2] == text[:1] or text[1:2] == " ":
        single = undouble(text)
        if single != text:
            text = single
            words = [Word(t, w.x0, w.y0, w.x1, w.y1) for t, w in zip(text.split(), words, strict=False)]
    size, bold, italic, mono, hidden = _style(spans)
    rtl = not text.isascii() and is_rtl(text)
    return Run(words, *_bounds(words), text, size, bold, italic, mono, rtl, sequence), hidden


def _bounds(words: list[Word]) -> Rectangle:
    if len(words) == 1:
        word = words[0]
        return word.x0, word.y0, word.x1, word.y1
    return min(map(_left, words)), min(map(_top, words)), max(map(_right, words)), max(map(_bottom, words))


def _style(spans: list[dict[str, Any]]) -> tuple[float, bool, bool, bool, int]:
    """Size, bold, italic and fixed pitch of most of the line's letters; how many letters are invisible."""
    if len(spans) == 1:
        span = spans[0]
        hidden = len(span["text"].strip()) if _is_invisible(span) else 0
        return round(span["size"], 1), *_face(span["font"], span["flags"], span["char_flags"]), hidden
    sizes: dict[float, int] = {}
    total = bold = italic = mono = hidden = 0
    for span in spans:
        weight = len(span["text"].strip())
        if not weight:
            continue
        is_bold, is_italic, is_mono = _face(span["font"], span["flags"], span["char_flags"])
        size = round(span["size"], 1)
        total += weight
        sizes[size] = sizes.get(size, 0) + weight
        bold += weight * is_bold
        italic += weight * is_italic
        mono += weight * is_mono
        if _is_invisible(span):
            hidden += weight
    size = max(sizes, key=lambda s: (sizes[s], s)) if len(sizes) > 1 else next(iter(sizes), 0.0)
    return size, 2 * bold > total, 2 * italic > total, 2 * mono > total, hidden


def _is_invisible(span: dict[str, Any]) -> bool:
    """Whether a span is neither filled nor stroked, or fully transparent."""
    return not span["char_flags"] & (_FILLED | _STROKED) or span["alpha"] == 0


@lru_cache(maxsize=1024)
def _face(name: str, flags: int, marks: int) -> tuple[bool, bool, bool]:
    """Whether a font, painted with some character flags, is bold, is italic, has a fixed pitch."""
    name = name.lower()
    painted_twice = marks & (_FILLED | _STROKED) == _FILLED | _STROKED
    heavy = flags & _BOLD_FLAG or marks & _FAKE_BOLD or painted_twice or any(n in name for n in _BOLD_NAMES)
    fixed = flags & _MONO_FLAG or any(n in name for n in _MONO_NAMES)
    return bool(heavy), bool(flags & _ITALIC_FLAG), bool(fixed)
