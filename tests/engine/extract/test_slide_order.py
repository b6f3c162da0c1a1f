"""Reading order of boxes."""

from __future__ import annotations

import random
import time

from engine.extract.slide_order import Rect, reading_order


def test_rows_before_columns_and_columns_whole() -> None:
    boxes: list[tuple[Rect | None, str]] = [
        ((50, 20, 90, 40), "right 1"),
        ((0, 0, 90, 10), "head"),
        ((0, 20, 40, 50), "left 1"),
        ((50, 45, 90, 90), "right 2"),
        ((0, 55, 40, 90), "left 2"),
        (None, "loose"),
    ]
    assert reading_order(boxes) == ["loose", "head", "left 1", "left 2", "right 1", "right 2"]


def test_overlapping_boxes_go_by_their_corners() -> None:
    boxes: list[tuple[Rect | None, str]] = [((5, 5, 50, 50), "b"), ((0, 0, 40, 40), "a"), ((20, 20, 90, 90), "c")]
    assert reading_order(boxes) == ["a", "b", "c"]


def test_nothing_is_lost_and_many_boxes_end_soon() -> None:
    draw = random.Random(7)
    boxes: list[tuple[Rect | None, int]] = []
    for number in range(3000):
        x, y = draw.random() * 1000, draw.random() * 1000
        boxes.append(((x, y, x + draw.random() * 50, y + draw.random() * 50), number))
    start = time.monotonic()
    assert sorted(reading_order(boxes[:1500])) == list(range(1500))
    assert sorted(reading_order(boxes)) == list(range(3000))
    assert time.monotonic() - start < 5
