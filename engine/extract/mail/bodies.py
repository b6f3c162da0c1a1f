"""Writes a message's bodies: the plain form, the HTML one where there is no plain, both where they differ."""

from __future__ import annotations

import re

from engine.document import Builder
from engine.extract.html import add_html
from engine.extract.html.inline import Pictures
from engine.extract.mail.parts import Body
from engine.extract.mail.quotes import add_plain
from engine.settings import Limits

_WORDS = re.compile(r"\w{2,}")
_ALIKE = 0.6  # share of the shorter form's words that the longer one must have
_FULLER = 2.0  # the HTML form says this much more: the plain one is only a notice


def add_body(builder: Builder, body: Body, limits: Limits, pictures: Pictures) -> None:
    """Add one body; a text that exists in two forms is written once unless the forms tell different things."""
    if body.kind == "html":
        add_html(builder, body.text, furniture=False, base_level=1, pictures=pictures, quote_marks=True)
    elif not body.twin:
        add_plain(builder, body.text)
    else:
        _one_of_two(builder, body, limits, pictures)


def _one_of_two(builder: Builder, body: Body, limits: Limits, pictures: Pictures) -> None:
    plain, html = _words(body.text), _words(_html_text(body.twin, limits))
    shared = len(plain & html) / max(1, min(len(plain), len(html)))
    if not html or (shared >= _ALIKE and len(html) < _FULLER * len(plain)):
        add_plain(builder, body.text)
    elif not plain or shared >= _ALIKE:
        add_html(builder, body.twin, furniture=False, base_level=1, pictures=pictures, quote_marks=True)
    else:
        builder.heading(2, "Plain text version")
        add_plain(builder, body.text)
        builder.heading(2, "HTML version")
        add_html(builder, body.twin, furniture=False, base_level=2, pictures=pictures, quote_marks=True)


def _words(text: str) -> set[str]:
    return set(_WORDS.findall(text.lower()))


def _html_text(html: str, limits: Limits) -> str:
    scratch = Builder("html", limits)
    add_html(scratch, html, furniture=False)
    return scratch.finish().content
