"""The structure of a page read by OCR: headings, lists, ruled tables, order, and places."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw

from engine.document import walk
from engine.extract.scan_layout import ReadPage, scan_blocks
from engine.ocr.rules import find_rules
from engine.ocr.upright import Affine
from engine.records import OcrLine, OcrResult, OcrWord, StructureElement

SAME: Affine = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def line(text: str, x: float, y: float, height: float = 30, engine: str = "") -> OcrLine:
    step = 0.5 * height
    words: list[OcrWord] = []
    at = 0
    for word in text.split():
        at = text.index(word, at)
        words.append(OcrWord(word, x + at * step, y, x + (at + len(word)) * step, y + height))
        at += len(word)
    return OcrLine(text, 0.95, x, y, x + len(text) * step, y + height, 0, words, engine)


def blocks(tmp_path: Path, *lines: OcrLine, image: Image.Image | None = None, to_page: Affine = SAME):
    (image or Image.new("L", (1600, 1200), 255)).save(tmp_path / "page.png")
    return scan_blocks(OcrResult(list(lines), 0.95, "tesseract:eng"), ReadPage(tmp_path / "page.png", 3, to_page))


def kinds(found: list[StructureElement]) -> list[tuple[str, str]]:
    return [(e.type, e.content) for e in walk(found)]


BODY = [
    "It was agreed that the accounts be printed and sent by",
    "every member before the end of the month, as before, by",
    "the secretary, who will put the question to the board again.",
]


def test_a_title_a_list_and_a_paragraph(tmp_path: Path) -> None:
    lines = [line("Annual Report", 100, 60, 60)]
    lines += [line(text, 100, 200 + 44 * n) for n, text in enumerate(BODY)]
    lines += [line("1. Approve the plan by the board", 100, 400), line("2. Print the accounts by May", 100, 444)]
    found = blocks(tmp_path, *lines)
    assert [(e.type, e.level) for e in found] == [("heading", 1)]
    assert kinds(found)[0] == ("heading", "Annual Report")
    assert kinds(found)[1] == ("paragraph", " ".join(BODY))
    items = [e for e in walk(found) if e.type == "list_item"]
    assert [(e.attributes["marker"], e.content) for e in items] == [
        ("1.", "Approve the plan by the board"),
        ("2.", "Print the accounts by May"),
    ]


def test_a_table_drawn_on_the_picture_with_tinted_rows(tmp_path: Path) -> None:
    image = Image.new("L", (1600, 1200), 255)
    draw = ImageDraw.Draw(image)
    draw.rectangle((100, 100, 900, 160), fill=170)
    for y in (100, 160, 220, 280):
        draw.line((100, y, 900, y), fill=30, width=2)
    for x in (100, 400, 650, 900):
        draw.line((x, 100, x, 280), fill=30, width=2)
    rows = (("Blind", "5", "34.5%"), ("Low vision", "4", "98.3%"))
    lines = [line(t, x + 20, 115) for t, x in zip(("Group", "Count", "Result"), (100, 400, 650), strict=True)]
    for n, row in enumerate(rows):
        joined = line(row[0], 120, 175 + 60 * n)  # the engine ran the row's cells together into one line
        for text, x in ((row[1], 420), (row[2], 670)):
            cell = line(text, x, 175 + 60 * n)
            joined.text, joined.x1 = f"{joined.text} {text}", cell.x1
            joined.words.extend(cell.words)
        lines.append(joined)
    lines.append(line("|", 398, 175))  # a rule taken for a letter
    found = blocks(tmp_path, *lines, image=image)
    assert [e.type for e in found] == ["table"]
    table = found[0].table
    assert table is not None and table.headers == ["Group", "Count", "Result"]
    assert table.rows == [["Blind", "5", "34.5%"], ["Low vision", "4", "98.3%"]]


def test_places_are_mapped_to_the_page_and_methods_are_kept_apart(tmp_path: Path) -> None:
    top = [line(text, 100, 100 + 44 * n, engine="tesseract:eng") for n, text in enumerate(BODY)]
    below = [line(text, 100, 700 + 44 * n, engine="rapidocr") for n, text in enumerate(BODY)]
    found = blocks(tmp_path, *top, *below, to_page=(0.0, 0.5, -0.5, 0.0, 600.0, 0.0))  # shown turned by 90 degrees
    assert [e.method for e in found] == ["ocr", "vision"]
    box = found[0].box
    assert box is not None and box.page == 3
    assert 450 < box.x0 < box.x1 < 560 and 45 < box.y0 < 55 and box.y1 > 400


def test_few_short_labels_are_read_row_by_row(tmp_path: Path) -> None:
    labels = [line("W", 80, 300), line("东", 900, 105), line("Yuyuan Rd.", 400, 300), line("愚园路", 400, 95, 60)]
    found = blocks(tmp_path, *labels)
    assert [e.content for e in found] == ["愚园路", "东", "W", "Yuyuan Rd."]


def test_lines_without_places_become_paragraphs(tmp_path: Path) -> None:
    whole = [OcrLine(text, 0.9, 0, 0, 1600, 1200, n) for n, text in enumerate(("First part", "Second part"))]
    assert [e.content for e in blocks(tmp_path, *whole)] == ["First part", "Second part"]


def test_rules_are_told_from_letters_bars_and_photographs(tmp_path: Path) -> None:
    image = Image.new("L", (800, 600), 250)
    draw = ImageDraw.Draw(image)
    draw.line((100, 100, 600, 104), fill=60, width=2)  # not quite level
    draw.line((300, 150, 300, 400), fill=120, width=3)
    draw.rectangle((100, 450, 500, 520), fill=0)
    draw.rectangle((650, 100, 654, 125), fill=0)  # the stem of a letter
    image.save(tmp_path / "a.png")
    found = find_rules(tmp_path / "a.png", 24)
    flat = [r for r in found if r[3] - r[1] < r[2] - r[0]]
    tall = [r for r in found if r not in flat]
    assert any(r[0] < 110 and r[2] > 590 and 98 < r[1] < 106 for r in flat)
    assert [(round(r[0]), round(r[3] - r[1])) for r in tall if 290 < r[0] < 310] == [(300, 251)]
    assert not any(640 < r[0] < 670 for r in tall)
