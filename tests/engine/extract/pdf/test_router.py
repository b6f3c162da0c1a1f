"""Which pages go to the layout model, and what its regions change, without loading it."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from engine.extract import extract
from engine.extract.pdf import document as reader
from engine.extract.pdf import router
from engine.extract.pdf.blocks import PageLayout, TextBlock
from engine.extract.pdf.confidence import Doubts, doubts_of
from engine.extract.pdf.guided import guide, heading_border, take_region_tables
from engine.extract.pdf.heading_chance import chance, is_heading_by_both, model_odds
from engine.extract.pdf.layout_model import MAX_LINES, LayoutModelError
from engine.extract.pdf.lines import line_of
from engine.extract.pdf.looks import Looks
from engine.extract.pdf.model import IDENTITY, PageModel, Region, Run, Word
from engine.extract.pdf.rejoined import rejoined
from engine.extract.pdf.router import admits, expected_gain, model_cost, wants_model
from tests.engine.extract.pdf_files import LOREM, context, pdf, text_at, wrapped


def looks(**facts: object) -> Looks:
    plain = dict.fromkeys((f.name for f in fields(Looks)), False) | {"above": 0.3, "below": 0.3, "ratio": 1.0}
    return Looks(**{**plain, **facts})  # pyright: ignore[reportArgumentType]


PLAIN = looks(stop=True, long=True, like=True)
TITLE = looks(large=True, bold=True, alone=True, marked=True, above=1.5, ratio=1.6)


def run(text: str, x: float, y: float, region: Region | None = None) -> Run:
    words: list[Word] = []
    at = x
    for word in text.split():
        words.append(Word(word, at, y, at + 5 * len(word), y + 10))
        at += 5 * len(word) + 3
    return Run(words, x, y, at - 3, y + 10, text, 10.0, region=region)


def page(*runs: Run, **facts: object) -> PageModel:
    return PageModel(1, 600, 800, 600, 800, list(runs), [], **facts)  # pyright: ignore[reportArgumentType]


PROSE = [run("words of a line of prose", 50, 100 + 12 * n) for n in range(20)]


@pytest.mark.parametrize(
    ("model", "admitted"),
    [
        (page(*PROSE), True),
        (page(run("Four words are few", 50, 100)), False),
        (page(*PROSE, graphics_skipped=True), False),
        (page(*PROSE, drawings=20_001), False),
        (page(*PROSE, vertical=True), False),
        (page(*PROSE, frame_to_page=(0.0, 1.0, -1.0, 0.0, 800.0, 0.0)), False),
        (page(*PROSE, hidden_characters=10_000), False),
        (page(*PROSE * (MAX_LINES // len(PROSE) + 1)), False),
    ],
)
def test_pages_the_model_may_look_at(model: PageModel, admitted: bool) -> None:
    assert admits(model) is admitted


def test_profiles_weigh_gain_against_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    doubts = Doubts(1.0, 1.0, 1.0, 0.0, 0.0)
    assert expected_gain(doubts) == pytest.approx(router.BIAS + sum(router.WEIGHTS[:3]))
    monkeypatch.setattr(router, "BIAS", 0.02 - sum(router.WEIGHTS[:3]))  # the gain is 0.02
    least = router.THRESHOLDS["balanced"]
    lines = next(n for n in range(10_000) if model_cost(n) > 0.02 / least)
    assert wants_model("balanced", doubts, 40) and not wants_model("balanced", doubts, lines)
    assert wants_model("accurate", doubts, lines) and not wants_model("fast", doubts, 40)


def test_doubts_tell_open_questions_from_plain_prose() -> None:
    layout = PageLayout(page(), [], [line_of([run("left", 50, 10), run("right", 200, 10)], False)])
    chances = [chance(PLAIN), chance(TITLE)]
    assert chances[0] < 0.05 and chances[1] > 0.9
    calm = doubts_of(layout, [PLAIN, TITLE], chances)
    torn = doubts_of(layout, [PLAIN, TITLE], [0.5, 0.2])
    assert torn.unsure == pytest.approx(0.41) and torn.open == pytest.approx(1.0986, abs=1e-4)
    assert (
        calm.unsure < 0.15 and calm.open == 0 and calm.largest == 1.0 and calm.parted == pytest.approx(0.6931, abs=1e-4)
    )


def test_regions_are_put_into_the_frame_and_runs_into_the_smallest() -> None:
    inner, outer = Region("caption", (40, 90, 300, 115), 0.9, 0.02), Region("picture", (0, 0, 600, 400), 0.8)
    model = page(run("inside both", 50, 100), run("in one", 50, 300), run("in none", 50, 500))
    guide(model, [outer, inner], IDENTITY)
    assert [r.region and r.region.label for r in model.runs] == ["caption", "picture", None]
    turned = page(run("x", 50, 100))
    guide(turned, [Region("text", (100, 50, 120, 90), 1.0)], (0.0, 1.0, -1.0, 0.0, 600.0, 0.0))
    assert turned.regions[0].box == (510.0, 100.0, 550.0, 120.0)


def test_heading_regions_end_blocks_and_hold_them_together() -> None:
    title, text = Region("section-header", (0, 0, 9, 9), 0.9, 0.95), Region("text", (0, 9, 9, 99), 0.9, 0.03)
    lines = {key: line_of([run("some words", 50, 100, region)], False) for key, region in
             {"title": title, "text": text, "none": None}.items()}  # fmt: skip
    borders = {(a, b): heading_border(lines[a], lines[b]) for a in lines for b in lines}
    assert borders["title", "title"] is False and borders["title", "text"] is borders["text", "title"] is True
    assert borders["text", "text"] is None and borders["none", "title"] is None
    odds = {key: model_odds([line]) for key, line in lines.items()}
    assert odds["none"] is None
    assert odds["title"] == pytest.approx(2.944, abs=1e-3) and odds["text"] == pytest.approx(-3.476, abs=1e-3)


def test_a_number_apart_from_its_title_joins_it() -> None:
    title, other = Region("section-header", (0, 0, 9, 9), 0.9, 0.95), Region("text", (0, 0, 9, 9), 0.9)
    pieces = [("5.2", 50, title), ("Main Results", 90, title), ("running text", 50, other), ("more of it", 50, other)]
    blocks = [TextBlock([line_of([run(text, x, 100, region)], False)]) for text, x, region in pieces]
    assert [b.text for b in rejoined(blocks) if isinstance(b, TextBlock)] == [
        "5.2 Main Results",
        "running text",
        "more of it",
    ]


def test_a_heading_takes_both_judges() -> None:
    assert is_heading_by_both(TITLE, None) and not is_heading_by_both(PLAIN, None)
    assert is_heading_by_both(TITLE, 2.0) and not is_heading_by_both(PLAIN, -2.0)
    doubtful = looks(capitals=True, above=1.5, alone=True)
    assert is_heading_by_both(doubtful, 4.5) and not is_heading_by_both(doubtful, -4.5)
    assert not is_heading_by_both(looks(vetoed=True), 2.0)


def test_a_table_region_becomes_a_table_unless_geometry_has_it() -> None:
    cells = [run(t, x, y) for y, row in zip((100, 115, 130), ("ab", "cd", "ef"), strict=True)
             for x, t in zip((50, 200), row, strict=True)]  # fmt: skip
    box = Region("table", (45, 95, 260, 145), 0.9)
    model = page(*cells, run("below the table", 50, 300))
    guide(model, [box], IDENTITY)
    (table,) = take_region_tables(model, [])
    assert [(c.row, c.col, c.text) for c in table.cells] == [
        (0, 0, "a"), (0, 1, "b"), (1, 0, "c"), (1, 1, "d"), (2, 0, "e"), (2, 1, "f")
    ]  # fmt: skip
    assert [r.text for r in model.runs] == ["below the table"]
    again = page(*cells)
    guide(again, [box], IDENTITY)
    assert take_region_tables(again, [table]) == [] and len(again.runs) == len(cells)


def test_a_failure_on_one_page_is_that_page_s_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def broken(page: object) -> list[Region]:
        asked.append(1)
        raise LayoutModelError("the layout model failed: shape")

    monkeypatch.setattr(reader, "regions", broken)
    draw = lambda canvas: (text_at(canvas, 72, 80, "A Title", 20), wrapped(canvas, 72, 120, 400, LOREM))  # noqa: E731
    document = extract(pdf(tmp_path / "two.pdf", draw, draw), context(tmp_path, extraction={"profile": "accurate"}))
    losses = [w for w in document.warnings if w.code == "layout_model_skipped"]
    assert len(asked) == 2 and [w.place for w in losses] == ["page 1", "page 2"]
    assert document.content.count("treasurer") == 2 and {p.layout for p in document.pages} == {"geometry"}
