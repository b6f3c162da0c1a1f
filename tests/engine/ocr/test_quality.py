"""What counts as a text and what as rubbish."""

from __future__ import annotations

import pytest

from engine.ocr.quality import broken_share, is_garbage, junk_share, worth

ENGLISH = "The committee met on Thursday and heard the report of the treasurer on the state of the funds."


@pytest.mark.parametrize(
    "text",
    [
        ENGLISH,
        "Die Sitzung wurde um neun Uhr eröffnet, und der Schatzmeister legte den Bericht über die Kasse vor.",
        "Komisja zebrała się w czwartek i wysłuchała sprawozdania skarbnika o stanie funduszy towarzystwa.",
        "تعتبر البرمجة من الأدوات القوية التي يمكن أن تعزز الإنتاجية وتساعد في إيجاد حلول فعالة للمشكلات",
        "これらについて人や銀河や修羅や海膽は宇宙塵をたべ、または空気や塩水を呼吸しながら",
        "1 234 567,89 0.5 % 12/2024 17 18 19 20 21 22 23 24 25 26",
        "",
    ],
)
def test_texts(text: str) -> None:
    assert not is_garbage(text)
    assert junk_share(text) < 0.1


@pytest.mark.parametrize(
    "text",
    [
        "\ufffd\ufffd\ufffd \ufffd\ufffd a",
        "\ue001\ue002 \ue003\ue004",
        "xkcd bdfg hjkl mnpq rstv wxzb qwrt plkj hgfd sxcv bnmz",
        "\x01\x02\x03 \x04\x05",
    ],
)
def test_rubbish(text: str) -> None:
    assert is_garbage(text)
    assert worth(text) == 0


def test_shares() -> None:
    assert broken_share("ab\ufffd\ufffd") == 0.5
    assert junk_share("good w0rd$ here") == pytest.approx(5 / 13)
    assert junk_share("McDonald's state-of-the-art (sic) 12.5% E.") == pytest.approx(0, abs=0.1)


def test_worth_weighs_letters_by_confidence() -> None:
    assert worth("two words") == 8
    assert worth("two words", 0.5) == 4
    assert worth(ENGLISH) > worth("A&s-oeiete© 3s«»teership POAH «3E*»CM and " * 3)


def test_arabic_that_stutters_is_garbage() -> None:
    """A font map that calls every lengthening stroke a waw; sound Arabic doubles few letters but lam."""
    sound = "وعليه فإن الحكومة المصرية تضع صوب أعينها خلال المرحلة المقبلة تكليف السيد رئيس الجمهورية لها بالعمل " * 4
    stuttering = sound.replace("ي", "وو").replace("ر", "ووو")
    assert not is_garbage(sound)
    assert is_garbage(stuttering)
