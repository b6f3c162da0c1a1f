"""Languages by their codes; too little text is `und`."""

from __future__ import annotations

import pytest

from engine.language import language_of

MIXED = (
    "Die schöne Frau hat einen Kaffee mit Kuchen gegessen. L'été était très chaud cette année. El niño comió paella "
    "con ñoquis. Kvinnan åt köttbullar med lingon. Il bambino mangiava la pasta. O menino comeu um pão de queijo."
)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The harbour master shall keep the light burning through the night.", "en"),
        ("Der Leuchtturm wurde im Jahre 1874 erbaut und steht noch heute.", "de"),
        ("Le phare a été construit en 1874 par une femme.", "fr"),
        ("El faro fue construido en el año 1874 por una mujer.", "es"),
        ("Однажды, в студеную зимнюю пору, я из лесу вышел", "ru"),
        ("日本語のテスト", "ja"),
        ("中文測試", "zh"),
        ("한국어 시험", "ko"),
        ("ภาษาไทย", "th"),
        ("मैं घर जा रहा हूँ और खाना खाऊंगा", "hi"),
        ("", "und"),
        ("hello", "und"),
        ("2024-01-01 12:00 192.168.0.1", "und"),
        ("SKU A-17 B-33 QTY PRICE", "und"),
        (MIXED, "und"),
    ],
)
def test_language(text: str, language: str) -> None:
    assert language_of(text) == language


def test_a_long_text_costs_no_more_than_its_sample() -> None:
    assert language_of("The light was lit again. " * 200_000) == "en"
