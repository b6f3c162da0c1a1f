"""Pictures made upright: quarter turns, skew, and places mapped back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.ocr.upright import Turn, ink_of, mapped, skew_of, stands_sideways, upright_copy
from tests.engine.extract.pdf_files import text_picture

LINES = ("The annual meeting was opened at nine", "and closed at twelve with thanks to all")


def saved(image: Image.Image, tmp_path: Path) -> Path:
    image.save(tmp_path / "page.png")
    return tmp_path / "page.png"


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
@pytest.mark.parametrize("skew", [0.0, 4.0])
def test_places_on_the_upright_picture_are_mapped_back(tmp_path: Path, degrees: int, skew: float) -> None:
    image = Image.new("L", (600, 400), 255)
    image.paste(0, (280, 160, 330, 190))
    turn = Turn(600, 400, degrees, skew)
    copy = upright_copy(saved(image, tmp_path), turn, tmp_path / "upright.png")
    with Image.open(copy) as upright:
        assert upright.size == turn.size
        seen = Image.eval(upright, lambda v: 255 - v).getbbox()
    assert seen is not None
    box = mapped(turn.back(), seen)
    middle = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    assert middle == pytest.approx((305, 175), abs=1.5)
    if not skew:
        assert box == (280, 160, 330, 190)


@pytest.mark.parametrize("degrees", [-7.0, -2.0, 0.0, 3.0, 11.0])
def test_the_angle_of_a_skewed_page(tmp_path: Path, degrees: float) -> None:
    image = text_picture(*LINES * 4).rotate(-degrees, expand=True, fillcolor=255)
    path = saved(image, tmp_path)
    skew = skew_of(ink_of(path))
    assert skew == pytest.approx(degrees, abs=0.5)
    level = upright_copy(path, Turn(*image.size, 0, skew), tmp_path / "level.png")
    assert skew_of(ink_of(level)) == 0.0


def test_a_page_lying_on_its_side_shows_it(tmp_path: Path) -> None:
    image = text_picture(*LINES * 4)
    assert not stands_sideways(ink_of(saved(image, tmp_path)))
    assert stands_sideways(ink_of(saved(image.rotate(90, expand=True), tmp_path)))


def test_light_letters_on_a_dark_page_are_ink(tmp_path: Path) -> None:
    image = text_picture(*LINES)
    plain, inverted = ink_of(saved(image, tmp_path)), ink_of(saved(Image.eval(image, lambda v: 255 - v), tmp_path))
    assert 0.01 < plain.mean() < 0.2
    assert np.mean(plain == inverted) > 0.97
