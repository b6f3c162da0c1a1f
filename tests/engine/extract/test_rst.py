"""reStructuredText: sections, tables, code; nothing included, nothing fetched, unknown directives read."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from engine.records import TableCell
from tests.engine.extract.text_files import elements, headings, losses, read

MANUAL = """\
======
Manual
======

:Author: Ann Keeper
:Date: 2024-05-01

See :ref:`other page <target>`, :py:meth:`~a.b.run` and ``code`` [1]_.

.. toctree::
   :maxdepth: 2

   hidden-page

.. note:: Be careful
   with the lamp.

.. versionadded:: 2.0
   A new *thing*.

Section
-------

1. one

   - inner

2. two

.. code-block:: python

   x = 1

.. figure:: x.png
   :alt: A lamp

   The caption.

term
  definition

.. [1] The footnote.

.. comment text
"""


def test_structure(tmp_path: Path) -> None:
    document = read(tmp_path, "a.rst", MANUAL)
    assert headings(document) == [(1, "Manual"), (2, "Section")]
    content = document.content
    assert "See other page, a.b.run and code [1]." in content
    for text in ("Be careful\nwith the lamp.", "A new thing.", "1. one\n  - inner\n2. two", "- term\n  - definition"):
        assert text in content
    assert "hidden-page" not in content and "comment text" not in content
    assert [(c.content, c.attributes["language"]) for c in elements(document, "code")] == [("x = 1", "python")]
    assert [n.content for n in elements(document, "note")] == ["[1] The footnote."]
    assert [c.content for c in elements(document, "caption")] == ["The caption."]
    assert document.images[0].alt_text == "A lamp"
    meta = document.metadata
    assert (meta.title, meta.author, meta.created_date) == ("Manual", "Ann Keeper", datetime(2024, 5, 1, tzinfo=UTC))


def test_tables_with_spans(tmp_path: Path) -> None:
    text = """\
+-----+-----+
| A   | B   |
+=====+=====+
| 1   | 2   |
|     +-----+
|     | 3   |
+-----+-----+
| wide      |
+-----------+
"""
    table = read(tmp_path, "a.rst", text).tables[0]
    assert table.headers == ["A", "B"]
    assert table.cells[2:] == [
        TableCell(1, 0, "1", 2, 1), TableCell(1, 1, "2"), TableCell(2, 1, "3"), TableCell(3, 0, "wide", 1, 2),
    ]  # fmt: skip
    simple = read(tmp_path, "b.rst", ".. csv-table:: Frozen\n   :header: T, D\n\n   Alb, 2.99\n").tables[0]
    assert (simple.headers, simple.rows) == (["T", "D"], [["Alb", "2.99"]])


def test_nothing_outside_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("SECRET,WORDS")
    text = (
        f".. include:: {secret}\n\n.. raw:: html\n   :file: {secret}\n\n.. csv-table::\n   :file: {secret}\n\n"
        f".. literalinclude:: {secret}\n\n.. code:: text\n   :file: {secret}\n\nafter\n"
    )
    document = read(tmp_path, "a.rst", text)
    assert "SECRET" not in document.content and "after" in document.content
    assert losses(document)["directive_skipped"] == 3


def test_broken_constructs_are_reported_and_kept(tmp_path: Path) -> None:
    document = read(tmp_path, "a.rst", "Title\n=====\n\n+---+\n| a |\n+--\n\nafter\n")
    assert "after" in document.content and "| a |" in document.content
