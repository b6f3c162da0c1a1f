"""Gives a page read by OCR its structure: headings, lists, tables and paragraphs from the places of its words.

The lines become a page model, as a PDF's text does, and go the same way from there. Coordinates are scaled so that
the body's lines are ten points high, because the geometry's tolerances are in points of ordinary print, whatever
resolution a picture claims to have.
"""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from engine.document import Builder, walk
from engine.extract.pdf.assemble import add_page
from engine.extract.pdf.headings import page_headings
from engine.extract.pdf.layout import layout_page
from engine.extract.pdf.model import PageModel, Rule, Run, Word
from engine.extract.pdf.pictures import PictureStore
from engine.extract.pdf.profile import document_profile
from engine.extract.pdf.spacing import is_cjk, is_rtl
from engine.extract.pdf.tables import without
from engine.ocr.layout import ocr_elements
from engine.ocr.rules import find_rules
from engine.ocr.upright import Affine, composed, mapped
from engine.records import Box, ExtractedTable, OcrLine, OcrResult, OcrWord, StructureElement
from engine.settings import Limits

_BODY = 10.0  # points of the model that the usual line is high
_GAP = 1.5  # of a line's height; words further apart belong to different columns or cells
_SAME_SIZE = 0.17  # relative; heights of read lines vary by that much within one type size
_PADDED = 1.18  # height of a box that rapidocr draws around a line, in type heights
_SURE = 0.7  # confidence of a page below which the heights of its lines tell nothing, as in handwriting
_STEP = 1.25  # from one type size to the next that can be told apart
_STROKE = re.compile(r"[|¦!lI/\\\[\](){}]{1,2}")
_ASCENDERS = re.compile(r"[A-Zbdfhklt0-9\u00c0-\u00dfﬁ-ﬆ()/|\[\]{}]")
_DESCENDERS = re.compile(r"[gjpqyçþQ,;()/|\[\]{}]")


@dataclass(slots=True, frozen=True)
class ReadPage:
    """A picture that was read: its file, its page's number, how its pixels map to points of the page, and how it
    was read (`method`: ocr or vision) where the lines do not say."""

    picture: Path
    number: int
    to_page: Affine
    method: str = "ocr"


def scan_blocks(result: OcrResult, page: ReadPage) -> list[StructureElement]:
    """The elements of one page, nested under its headings; boxes in points of the page."""
    with Image.open(page.picture) as image:
        width, height = image.size
    lines = [line for line in result.lines if line.text.strip()]
    if not lines or _placeless(lines, width, height):
        return _plain(result, page, (width, height))
    if _is_sign(lines):
        return _plain(OcrResult(_in_rows(lines), result.confidence, result.engine), page, (width, height))
    usual = _usual_height(lines)
    scale = _BODY / usual
    back: Affine = (1 / scale, 0.0, 0.0, 1 / scale, 0.0, 0.0)
    rules = _rules(page.picture, usual, scale)
    model = PageModel(
        page.number, width * scale, height * scale, width * scale, height * scale,
        _without_strokes(_runs(lines, scale), rules), [], rules,
        frame_to_page=composed(back, page.to_page),
    )  # fmt: skip
    profile = document_profile([model])
    layout = layout_page(model, profile)
    builder = Builder("scan", Limits.model_validate({}))
    builder.page = page.number
    images = PictureStore(None, builder)  # pyright: ignore[reportArgumentType] - a scan has no images to read
    headings = page_headings(layout, profile, [])
    headings.levels = {n: h for n, h in headings.levels.items() if result.confidence >= _SURE and _is_title(h[1])}
    add_page(builder, layout, headings, [], images)
    roots = _with_plain_rows(builder.roots, [rule for rule in rules if not rule.horizontal], model)
    _close_levels(roots)
    for element in walk(roots):
        element.method = _method(element, lines, page)
    return roots


def _is_title(text: str) -> bool:
    """Whether nothing speaks against a large line being a title: heights are measured roughly on a scan."""
    first = next((c for c in text if c.isalpha()), "")
    return not first.islower() and not re.search(r"[.,;]\s+[^\W\d_]", text)


def _placeless(lines: list[OcrLine], width: int, height: int) -> bool:
    """Whether the engine gave no places: every line is said to fill the picture."""
    return all(line.x1 - line.x0 >= width and line.y1 - line.y0 >= height for line in lines)


def _is_sign(lines: list[OcrLine]) -> bool:
    """Whether there is too little text for columns: labels and signs are read row by row."""
    return len(lines) > 1 and len(lines) < 25 and all(len(line.text.split()) <= 3 for line in lines)


def _in_rows(lines: list[OcrLine]) -> list[OcrLine]:
    """Row after row, the lines of a row from left to right, each a paragraph of its own."""
    ordered: list[OcrLine] = []
    rest = sorted(lines, key=lambda line: line.y0 + line.y1)
    while rest:
        row = [rest.pop(0)]
        for line in list(rest):
            if all(min(line.y1, o.y1) - max(line.y0, o.y0) > 0.5 * min(line.y1 - line.y0, o.y1 - o.y0) for o in row):
                row.append(line)
                rest.remove(line)
        ordered += sorted(row, key=lambda line: line.x0)
    for number, line in enumerate(ordered):
        line.paragraph = number
    return ordered


def _plain(result: OcrResult, page: ReadPage, size: tuple[int, int]) -> list[StructureElement]:
    x0, y0, x1, y1 = mapped(page.to_page, (0.0, 0.0, float(size[0]), float(size[1])))
    return ocr_elements(result, page.number, (x1 - x0, y1 - y0), size, page.method)


# ---------------------------------------------------------------- lines to runs
def _usual_height(lines: list[OcrLine]) -> float:
    """The height most letters have, by `_type_height`."""
    heights = sorted((_type_height(line), len(line.text)) for line in lines)
    half = sum(letters for _, letters in heights) / 2
    for height, letters in heights:
        half -= letters
        if half <= 0:
            return max(height, 1.0)
    return max(heights[-1][0], 1.0)


def _type_height(line: OcrLine) -> float:
    """Height of the line as if it had letters that rise and letters that reach below, in pixels."""
    height = line.y1 - line.y0
    if line.engine.startswith("rapidocr"):
        return height / _PADDED
    if is_cjk(line.text):
        return height * 1.1
    share = 1.0 - 0.22 * (not _DESCENDERS.search(line.text)) - 0.25 * (not _ASCENDERS.search(line.text))
    return height / share


def _runs(lines: list[OcrLine], scale: float) -> list[Run]:
    usual = _BODY / scale
    runs: list[Run] = []
    for sequence, line in enumerate(lines):
        height = _type_height(line)
        step = 0 if abs(height - usual) <= _SAME_SIZE * usual else round(math.log(height / usual, _STEP))
        size = _BODY * _STEP**step
        for words in _apart(line):
            runs.append(_run(line, words, scale, size, sequence))
    return runs


def _apart(line: OcrLine) -> list[list[OcrWord]]:
    """The words of a line, parted where wide white stands between them."""
    words = line.words or _spread(line)
    reach = _GAP * (line.y1 - line.y0)
    pieces = [[words[0]]]
    for before, word in itertools.pairwise(words):
        if word.x0 - before.x1 > reach:
            pieces.append([])
        pieces[-1].append(word)
    return pieces


def _spread(line: OcrLine) -> list[OcrWord]:
    """Words of a line without places of its words, by their share of its letters."""
    step = (line.x1 - line.x0) / max(len(line.text), 1)
    return [
        OcrWord(m.group(), line.x0 + m.start() * step, line.y0, line.x0 + m.end() * step, line.y1)
        for m in re.finditer(r"\S+", line.text)
    ]


def _run(line: OcrLine, words: list[OcrWord], scale: float, size: float, sequence: int) -> Run:
    whole = len(words) == len(line.words or words) and words[0].x0 <= line.x0 + 1 and words[-1].x1 >= line.x1 - 1
    text = line.text if whole else " ".join(word.text for word in words)
    placed = [Word(w.text, w.x0 * scale, w.y0 * scale, w.x1 * scale, w.y1 * scale) for w in words]
    middle, half = (line.y0 + line.y1) / 2 * scale, size / 2
    return Run(
        placed,
        min(w.x0 for w in placed),
        middle - half,
        max(w.x1 for w in placed),
        middle + half,
        text,
        size,
        rtl=is_rtl(text),
        sequence=sequence,
    )


def _rules(picture: Path, usual: float, scale: float) -> list[Rule]:
    return [Rule(a * scale, b * scale, c * scale, d * scale) for a, b, c, d in find_rules(picture, usual)]


def _without_strokes(runs: list[Run], rules: list[Rule]) -> list[Run]:
    """The runs without the words that are a vertical rule, taken for a letter."""
    upright = [rule for rule in rules if not rule.horizontal]
    strokes = {
        id(w)
        for run in runs
        for w in run.words
        if _STROKE.fullmatch(w.text) and any(_lies_on(w, rule) for rule in upright)
    }
    return without(runs, strokes) if strokes else runs


def _lies_on(word: Word, rule: Rule) -> bool:
    middle = (word.x0 + word.x1) / 2
    return abs(middle - rule.x0) < 0.3 * _BODY and rule.y0 - 1 < (word.y0 + word.y1) / 2 < rule.y1 + 1


# ---------------------------------------------------------------- what was built
def _with_plain_rows(elements: list[StructureElement], upright: list[Rule], model: PageModel) -> list[StructureElement]:
    """The tree with the rows of doubtful tables as paragraphs: what stands in line on a receipt or a letter is a
    table only where lines are drawn between its columns, or the columns have names."""
    drawn = [model.to_page(rule.x0, rule.y0, rule.x1, rule.y1) for rule in upright]
    kept: list[StructureElement] = []
    for element in elements:
        element.children = _with_plain_rows(element.children, upright, model)
        table, box = element.table, element.box
        ruled = box is not None and any(_inside(rule, box) for rule in drawn)
        if table is None or ruled or _is_named(table):
            kept.append(element)
            continue
        rows: dict[int, list[str]] = {}
        for cell in sorted(table.cells, key=lambda c: (c.row, c.col)):
            rows.setdefault(cell.row, []).append(cell.text)
        for texts in rows.values():
            text = " ".join(filter(None, texts))
            if text:
                kept.append(StructureElement("paragraph", None, text, page_number=element.page_number, box=box))
    return kept


def _inside(rule: Box, box: Box) -> bool:
    x, y = (rule.x0 + rule.x1) / 2, (rule.y0 + rule.y1) / 2
    return box.x0 - 2 <= x <= box.x1 + 2 and box.y0 - 2 <= y <= box.y1 + 2


def _is_named(table: ExtractedTable) -> bool:
    """Whether three columns or more have names over them."""
    names = table.headers
    return len(names) >= 3 and len(table.rows) >= 2 and all(n and not any(c.isdigit() for c in n) for n in names)


def _close_levels(roots: list[StructureElement]) -> None:
    """Heading levels from 1 without gaps: sizes on one page say which titles are above others, no more."""
    headings = [e for e in walk(roots) if e.type == "heading"]
    rank = {level: n for n, level in enumerate(sorted({e.level or 1 for e in headings}), 1)}
    for element in headings:
        element.level = rank[element.level or 1]


def _method(element: StructureElement, lines: list[OcrLine], page: ReadPage) -> str:
    """ocr, or vision where most letters of the element come from that engine."""
    box = element.box
    letters = {"ocr": 0, "vision": 0}
    for line in lines if box is not None else []:
        x0, y0, x1, y1 = mapped(page.to_page, (line.x0, line.y0, line.x1, line.y1))
        if box and box.x0 <= (x0 + x1) / 2 <= box.x1 and box.y0 <= (y0 + y1) / 2 <= box.y1:
            engine = line.engine
            letters["vision" if engine and not engine.startswith("tesseract") else "ocr"] += len(line.text)
    if not any(letters.values()):
        return page.method
    return max(letters, key=lambda name: letters[name]) if any(line.engine for line in lines) else page.method
