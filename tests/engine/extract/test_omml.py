"""Office equations as LaTeX."""

from __future__ import annotations

import pytest
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from engine.extract.omml import latex

M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def r(text: str, properties: str = "") -> str:
    return f"<m:r><m:rPr>{properties}</m:rPr><m:t>{text}</m:t></m:r>"


def e(text: str) -> str:
    return f"<m:e>{r(text)}</m:e>"


def d(opening: str, closing: str, inner: str) -> str:
    return f'<m:d><m:dPr><m:begChr m:val="{opening}"/><m:endChr m:val="{closing}"/></m:dPr><m:e>{inner}</m:e></m:d>'


MATRIX = f"<m:m><m:mr>{e('a')}{e('b')}</m:mr><m:mr>{e('c')}{e('d')}</m:mr></m:m>"
LINES = f"<m:eqArr>{e('1, x')}{e('0, y')}</m:eqArr>"
NO_BAR = f'<m:f><m:fPr><m:type m:val="noBar"/></m:fPr><m:num>{r("n")}</m:num><m:den>{r("k")}</m:den></m:f>'


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        (f"<m:f><m:num>{r('a')}</m:num><m:den>{r('b')}</m:den></m:f>", r"\frac{a}{b}"),
        (f"<m:rad><m:deg>{r('3')}</m:deg>{e('x')}</m:rad>", r"\sqrt[3]{x}"),
        (f"<m:rad><m:deg/>{e('x')}</m:rad>", r"\sqrt{x}"),
        (MATRIX, r"\begin{matrix}a & b \\ c & d\end{matrix}"),
        (d("(", ")", MATRIX), r"\begin{pmatrix}a & b \\ c & d\end{pmatrix}"),
        (d("|", "|", MATRIX), r"\begin{vmatrix}a & b \\ c & d\end{vmatrix}"),
        (d("(", ")", NO_BAR), r"\binom{n}{k}"),
        (NO_BAR, r"{n \atop k}"),
        (d("{", "", LINES), r"\begin{cases}1, x \\ 0, y\end{cases}"),
        (LINES, r"\begin{aligned}1, x \\ 0, y\end{aligned}"),
        (d("{", "}", r("x")), r"\{x\}"),
        (
            f'<m:nary><m:naryPr><m:chr m:val="∏"/></m:naryPr><m:sub>{r("i=1")}</m:sub><m:sup>{r("n")}</m:sup>'
            f"{e('i')}</m:nary>",
            r"\prod_{i=1}^{n} i",
        ),
        (f"<m:nary><m:sub/><m:sup/>{e('x')}</m:nary>", r"\int x"),
        (f'<m:acc><m:accPr><m:chr m:val="&#x20D7;"/></m:accPr>{e("v")}</m:acc>', r"\vec{v}"),
        (f"<m:acc>{e('v')}</m:acc>", r"\hat{v}"),
        (f'<m:bar><m:barPr><m:pos m:val="top"/></m:barPr>{e("z")}</m:bar>', r"\overline{z}"),
        (
            f"<m:func><m:fName><m:limLow>{e('lim')}<m:lim>{r('n→∞')}</m:lim></m:limLow></m:fName>{e('a')}</m:func>",
            r"\lim_{n→∞} a",
        ),
        (f"<m:func><m:fName>{r('sin')}</m:fName>{e('x')}</m:func>", r"\sin x"),
        (f'<m:groupChr><m:groupChrPr><m:chr m:val="⏞"/></m:groupChrPr>{e("a+b")}</m:groupChr>', r"\overbrace{a+b}"),
        (f"<m:sSubSup>{e('x')}<m:sub>{r('1')}</m:sub><m:sup>{r('2')}</m:sup></m:sSubSup>", "x_{1}^{2}"),
        (r("if and only if", "<m:nor/>"), r"\text{if and only if}"),
        (r("50%"), r"50\%"),
        (f"<m:borderBox>{e('E')}</m:borderBox>", r"\boxed{E}"),
    ],
)
def test_structures(xml: str, expected: str) -> None:
    assert latex(etree.fromstring(f"<m:oMath {M}>{xml}</m:oMath>")) == expected
