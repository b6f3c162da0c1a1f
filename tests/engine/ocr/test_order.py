"""Reading order of boxes, whatever they stand for."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from engine.ocr.order import reading_order


@dataclass
class Item:
    text: str
    x0: float
    y0: float
    x1: float
    y1: float


def line(text: str, x: float, y: float, width: float = 200) -> Item:
    return Item(text, x, y, x + width, y + 10)


def texts(items: list[Item], rtl: bool = False) -> list[str]:
    return [i.text for i in itertools.chain.from_iterable(reading_order(items, rtl))]


def columns(top: float, names: str, rows: int = 5) -> list[Item]:
    """Columns of four-word lines, drawn row by row."""
    return [
        line(f"{name} line number {row}", 50 + 250 * n, top + 14 * row)
        for row in range(rows)
        for n, name in enumerate(names)
    ]


def test_columns_drawn_row_by_row() -> None:
    expected = [f"{name} line number {row}" for name in "ab" for row in range(5)]
    assert texts(columns(100, "ab")) == expected


def test_right_to_left_columns() -> None:
    expected = [f"{name} line number {row}" for name in "ba" for row in range(5)]
    assert texts(columns(100, "ab"), rtl=True) == expected


def test_three_columns_under_a_title_over_a_footer() -> None:
    items = [
        *columns(100, "abc"),
        line("a title that is wide", 50, 60, 700),
        line("a footer that is wide", 50, 300, 700),
    ]
    expected = [f"{name} line number {row}" for name in "abc" for row in range(5)]
    assert texts(items) == ["a title that is wide", *expected, "a footer that is wide"]


def test_columns_above_and_below_a_wide_line() -> None:
    items = [*columns(100, "ab"), line("something wide between them", 50, 200, 500), *columns(250, "cd")]
    order = texts(items)
    assert order.index("b line number 4") < order.index("something wide between them") < order.index("c line number 0")
    assert order.index("c line number 4") < order.index("d line number 0")


def test_labels_and_values_drawn_row_by_row_stay_rows() -> None:
    rows = [("Name:", "Ada"), ("Born:", "London"), ("Field:", "Logic")]
    items = [line(text, 50 + 200 * n, 100 + 14 * r, 60) for r, row in enumerate(rows) for n, text in enumerate(row)]
    assert texts(items) == ["Name:", "Ada", "Born:", "London", "Field:", "Logic"]


def test_short_lines_drawn_column_by_column_are_columns() -> None:
    items = [line(f"{name}{row}", 50 + 200 * n, 100 + 14 * row, 60) for n, name in enumerate("ab") for row in range(3)]
    assert texts(items) == ["a0", "a1", "a2", "b0", "b1", "b2"]


def test_one_column_is_one_group() -> None:
    items = [line(f"line {n} of the page", 50, 100 + 14 * n, 400) for n in range(30)]
    assert len(reading_order(items)) == 1


_NUMBER = st.floats(0, 1000, allow_nan=False)


@given(st.lists(st.tuples(_NUMBER, _NUMBER, st.floats(0, 400), st.floats(0, 60)), max_size=60))
def test_every_box_comes_out_exactly_once(shapes: list[tuple[float, float, float, float]]) -> None:
    items = [Item(f"w{n} x", x, y, x + w, y + h) for n, (x, y, w, h) in enumerate(shapes)]
    found = [id(i) for group in reading_order(items) for i in group]
    assert sorted(found) == sorted(map(id, items))


def test_a_line_that_reaches_over_the_gutter_stays_in_its_column() -> None:
    items = columns(100, "ab")
    items[2] = line("a line number 1", 50, 114, 240)  # the gutter is at 275, the right column begins at 300
    expected = [f"{name} line number {row}" for name in "ab" for row in range(5)]
    assert texts(items) == expected


def test_a_picture_over_the_gutter_parts_the_columns_and_takes_its_caption() -> None:
    above, below = columns(100, "ab"), columns(400, "cd")
    caption = line("a caption in the margin", 420, 250, 80)
    picture = line("", 50, 180, 350)
    picture.y1 = 380
    items = [*above, caption, *below]
    found = [i.text for group in reading_order(items, barriers=[picture]) for i in group]
    names = [[f"{name} line number {row}" for row in range(5)] for name in "abcd"]
    assert found == [*names[0], *names[1], "a caption in the margin", *names[2], *names[3]]
