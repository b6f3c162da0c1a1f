"""Tells captions by how they begin: a word for a figure or a table, and its number."""

from __future__ import annotations

import re

_WORDS = (
    r"fig(?:ures?|uras?|\.)?|photo|image|plate|chart|graph|diagram|exhibit|box|map|scheme|table|tab\.|tbl\.|listing"
    r"|abb(?:ildung|\.)?|tabelle|schaubild|diagramm|karte|tableau|carte|tabla|cuadro|gr[aá]fico|tabella|grafico"
    r"|tabela|quadro|afbeelding|figuur|tabel|rysunek|rys\.|tabell|figur|рис(?:унок|\.)?|таблица|табл\."
)
_CAPTION = re.compile(rf"(?:{_WORDS})\s*(?:[A-Z]{{0,2}}[.-]?\d+|[IVX]+\b|[.:]\s)", re.IGNORECASE)
_CJK_CAPTION = re.compile(r"(?:図|圖|图|表|그림|표)\s*\d")
_TABLE = re.compile(r"tab|tbl|cuadro|quadro|табл|表|표", re.IGNORECASE)


def is_caption(text: str) -> bool:
    return bool(_CAPTION.match(text) or _CJK_CAPTION.match(text))


def is_table_caption(text: str) -> bool:
    """Whether the caption names a table; for figures and all else False."""
    return bool(_TABLE.match(text)) and is_caption(text)
