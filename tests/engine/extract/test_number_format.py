"""What Excel shows for a value under a format."""

from __future__ import annotations

import pytest

from engine.extract.date_format import from_serial
from engine.extract.number_format import display, display_text, general

SHOWN = [
    (1599.99, "#,##0.00", "1,599.99"),
    (-1599.99, "#,##0.00", "-1,599.99"),
    (1599.99, '"$"#,##0.00_);\\("$"#,##0.00\\)', "$1,599.99"),
    (-1599.99, '"$"#,##0.00_);\\("$"#,##0.00\\)', "($1,599.99)"),
    (197_983_200.9, "0.00E+00", "1.98E+08"),
    (0.025, "0.00%", "2.50%"),
    (0.5, "0%", "50%"),
    (1_234_567, "#,##0,", "1,235"),
    (12_200_000, '0.0,,"M"', "12.2M"),
    (5_551_234, "###-####", "555-1234"),
    (12, "00000", "00012"),
    (2.5, "0", "3"),
    (2.5, "# ?/?", "2 1/2"),
    (0.25, "?/?", "1/4"),
    (1234.5, "[$€-407] #,##0.00", "€ 1,234.50"),
    (5, '[>=100]"big";"small"', "small"),
    (0, '_(* #,##0_);_(* (#,##0);_(* "-"??_);_(@_)', "-"),
    (12_345.678, "General", "12345.678"),
    (0.1 + 0.2, "General", "0.3"),
    (2019.0, "General", "2019"),
    (1.2e20, "General", "1.2E+20"),
    (43_363, "yyyy-mm-dd", "2018-09-20"),
    (43_363, "m/d/yyyy", "2018-09-20"),
    (43_363, "[$-409]d\\-mmm\\-yy;@", "2018-09-20"),
    (43_363.75, "m/d/yyyy h:mm", "2018-09-20 18:00"),
    (43_363, "mmm-yy", "Sep-18"),
    (19_278, "dddd-mmmm-yyyy", "Saturday-October-1952"),
    (0.5, "h:mm AM/PM", "12:00 PM"),
    (0.75, "h:mm:ss", "18:00:00"),
    (1.5, "[h]:mm", "36:00"),
    (0.0020949, "mm:ss.0", "03:01.0"),
    (-3, "m/d/yyyy", "-3"),
]


@pytest.mark.parametrize(("value", "code", "shown"), SHOWN)
def test_display(value: float, code: str, shown: str) -> None:
    assert display(value, code) == shown


def test_the_1904_epoch_and_the_day_that_never_was() -> None:
    assert display(35_064, "yyyy-mm-dd", epoch_1904=True) == "2000-01-01"
    assert [str(from_serial(n))[:10] for n in (1, 59, 61)] == ["1900-01-01", "1900-02-28", "1900-03-01"]


def test_text_formats_wrap_text() -> None:
    assert display_text("blue", '"colour: "@') == "colour: blue"
    assert display_text("blue", "0.00") == "blue"


def test_no_format_raises() -> None:
    for code in ("", ";;;", "[", "0.0.0", '"open', "/", "E+", "?/0", "@@", "[h", "\\", "_"):
        assert isinstance(display(1.5, code), str)


def test_general_does_not_choke_on_extremes() -> None:
    assert general(float("nan")) == "nan"
    assert general(-0.0) == "0"
    assert general(123_456_789_012_345.0) == "123456789012345"
