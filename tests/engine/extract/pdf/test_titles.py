"""What wording says about titles and captions, in several languages."""

from __future__ import annotations

import pytest

from engine.extract.pdf.captions import is_caption, is_table_caption
from engine.extract.pdf.titles import is_chapter, is_named, is_no_title, is_numbered


@pytest.mark.parametrize(
    "text",
    [
        "Chapter 4", "CHAPTER IV. The Journey", "Kapitel 3", "Chapitre 2 : Le droit", "Capítulo 7", "Capitolo 1",
        "Глава 5", "第三章 結論", "第2節 方法", "제 1 장 총칙", "2.1 Aims", "4.3.2 Alignment Tuning", "§ 12 Haftung",
    ],
)  # fmt: skip
def test_chapters(text: str) -> None:
    assert is_chapter(text)


@pytest.mark.parametrize("text", ["parts of it", "2.5 million people", "Chapters are long", "3.14 is pi", "第一印象"])
def test_no_chapters(text: str) -> None:
    assert not is_chapter(text)


def test_single_numbers_before_capitals() -> None:
    assert all(
        map(is_numbered, ["8. Numbers", "II. Set Up", "A. Scope", "01 - Find Resources", "3 Methods", "四、方法"])
    )
    assert not any(map(is_numbered, ["8 apples", "1998", "I went home", "3.5 Metres"]))


def test_names_of_usual_sections() -> None:
    assert all(map(is_named, ["Abstract", "1 Introduction", "REFERENCES:", "IV. Conclusions", "Literaturverzeichnis",
                              "Résumé", "Índice", "参考文献", "はじめに", "Введение"]))  # fmt: skip
    assert not any(map(is_named, ["Abstract art", "An introduction to it", "introduced"]))


@pytest.mark.parametrize(
    "text",
    [
        "June 2023", "October 14, 1998", "14. Oktober 1998", "2024-11-15", "3 de mayo de 2020", "2023年12月29日",
        "www.example.org", "someone@example.org", "TOTAL $821.14", "Section 43 Instructions Page 1 of 8",
        "Introduction ........ 7", "Ann Lee, Bo Park, Chen Wu, Dan Oh, Eve Fox", "12 37 80 20", "and so on,", "-",
    ],
)  # fmt: skip
def test_what_is_no_title(text: str) -> None:
    assert is_no_title(text)


@pytest.mark.parametrize("text", ["Current Situation: 2001-2019", "March of Progress", "Budget 2024", "第三章"])
def test_what_may_be_one(text: str) -> None:
    assert not is_no_title(text)


def test_captions() -> None:
    tables = ["Table 3: Costs", "Tabelle 1", "Tableau 2.1", "Tabla IV", "表 1 结果", "Таблица 2"]
    figures = ["Figure 8.7A-C A horn", "Fig. 3", "FIGURE 4", "Abb. 2", "図1", "Рис. 4", "Diagram 4", "Photo 2"]
    assert all(is_caption(t) and is_table_caption(t) for t in tables)
    assert all(is_caption(t) and not is_table_caption(t) for t in figures)
    assert not any(map(is_caption, ["Figures of speech", "Table of contents", "Mapping the Network", "图书馆"]))
