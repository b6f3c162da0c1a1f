"""What kind of document the sampled pages make."""

from __future__ import annotations

import pytest

from engine.extract.pdf.kind import document_kind, picture_share
from engine.extract.pdf.model import PageModel, Picture, Run, Widget, Word


def page(
    characters: int = 0, pictured: float = 0.0, size: tuple[float, float] = (600, 800), **facts: object
) -> PageModel:
    word = Word("x" * characters, 0, 0, 9, 9)
    model = PageModel(1, *size, *size, [Run([word], 0, 0, 9, 9, word.text, 10)] if characters else [], [])
    model.pictures = [Picture(0, 0, size[0], pictured * size[1], 1, 9)] if pictured else []
    for name, value in facts.items():
        setattr(model, name, value)
    return model


FIELDS = [Widget("field", "Name: Ann", 0, 0, 9, 9)] * 9


@pytest.mark.parametrize(
    ("pages", "kind"),
    [
        ([page(2000), page(1800), page(0)], "born-digital"),
        ([page(0, 1.0), page(0, 0.9), page(2000)], "scanned"),
        ([page(1500, 1.0, hidden_characters=1500)], "scanned"),
        ([page(200, size=(960, 540)), page(300, size=(960, 540))], "slides"),
        ([page(4000, size=(960, 540))], "born-digital"),
        ([page(150, 0.7), page(200, 0.8)], "atlas"),
        ([page(900, widgets=FIELDS)], "form"),
        ([page(40)], "generic"),
        ([], "generic"),
        ([page(size=(0, 0))], "generic"),
    ],
)
def test_kinds(pages: list[PageModel], kind: str) -> None:
    assert document_kind(pages) == kind


def test_pictures_over_each_other_cover_no_more_than_the_page() -> None:
    assert picture_share(page(0, 0.25)) == 0.25
    assert picture_share(page(pictures=[Picture(0, 0, 600, 800, 1, 9)] * 3)) == 1.0
