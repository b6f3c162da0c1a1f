"""Org mode files."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from tests.engine.extract.text_files import elements, headings, losses, read

NOTES = """\
#+TITLE: The /Notes/
#+AUTHOR: Ann
#+DATE: <2024-05-01 Wed>

* TODO [#A] First *thing* :tag:work:
  :PROPERTIES:
  :ID: 42
  :END:
  See [[https://x.org][the page]] and ~code~, 2*3*4.
  Second line.

  - item one
    goes on
    1. inner
  - [X] done
  - term :: meaning

** Second
#+BEGIN_SRC python
  def f():
      return 1
#+END_SRC
# a comment
| a | b |
|---+---|
| 1 | 2 |

#+BEGIN_QUOTE
Quoted text.
#+END_QUOTE
[fn:1] A note.
"""


def test_structure(tmp_path: Path) -> None:
    document = read(tmp_path, "a.org", NOTES)
    assert headings(document) == [(1, "First thing"), (2, "Second")]
    assert "See the page and code, 2*3*4.\nSecond line." in document.content
    assert [(i.level, i.attributes["marker"], i.content) for i in elements(document, "list_item")] == [
        (1, "-", "item one goes on"), (2, "1.", "inner"), (1, "[x]", "done"), (1, "-", "term: meaning"),
    ]  # fmt: skip
    code = elements(document, "code")[0]
    assert (code.content, code.attributes["language"]) == ("def f():\n    return 1", "python")
    assert (document.tables[0].headers, document.tables[0].rows) == (["a", "b"], [["1", "2"]])
    assert "Quoted text." in document.content
    assert [n.content for n in elements(document, "note")] == ["[1] A note."]
    meta = document.metadata
    assert (meta.title, meta.author, meta.created_date) == ("The Notes", "Ann", datetime(2024, 5, 1, tzinfo=UTC))
    assert losses(document) == {"drawer_skipped": 1, "comment_skipped": 1}


def test_an_unclosed_block_reads_to_the_end(tmp_path: Path) -> None:
    document = read(tmp_path, "a.org", "#+begin_src sh\nls\n* not a heading\n")
    assert document.content == "```sh\nls\n* not a heading\n```"
