"""Which sanitiser a format goes through, and what comes back."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from docx import Document
from selectolax.lexbor import LexborHTMLParser

from engine.extract import EXTRACTORS
from engine.sanitize import SANITIZERS, sanitize
from engine.sanitize.html import strip_active
from engine.settings import Settings, load

PLAIN = load({}, environ={})


def test_every_reference_can_be_loaded() -> None:
    assert set(SANITIZERS) <= set(EXTRACTORS)
    for reference in set(SANITIZERS.values()):
        module, _, name = reference.partition(":")
        assert callable(getattr(import_module(module), name))


def test_a_clean_file_is_parsed_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    document = Document()
    document.add_paragraph("words")
    document.save(str(path))
    assert sanitize(path, "docx", tmp_path, PLAIN) == (path, [])
    text = tmp_path / "a.txt"
    text.write_text("words")
    assert sanitize(text, "txt", tmp_path, PLAIN) == (text, [])


def linked(path: Path) -> None:
    document = Document()
    document.add_paragraph("words")
    document.part.relate_to(
        "http://127.0.0.1:9/x.dotm",
        "http://schemas.openxmlformats.org/officeDocument/2006/relationships/attachedTemplate",
        is_external=True,
    )
    document.save(str(path))


def test_a_copy_is_parsed_where_something_had_to_go(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    linked(path)
    before = path.read_bytes()
    cleaned, losses = sanitize(path, "docx", tmp_path, PLAIN)
    assert cleaned != path and cleaned.exists() and losses
    assert path.read_bytes() == before


def test_office_sanitising_can_be_switched_off(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    linked(path)
    off: Settings = load({"security.sanitize_macros": False}, environ={})
    assert sanitize(path, "docx", tmp_path, off) == (path, [])


def test_html_trees_lose_everything_active() -> None:
    tree = LexborHTMLParser(
        "<body onload=x><script>1</script><p onclick=y>kept</p><iframe></iframe><embed><link href=x>"
        "<p style='visibility:hidden'>not seen</p><p hidden></p><dialog>closed</dialog>"
        "<dialog open>open</dialog></body>"
    )
    counts = {loss.code: loss.count for loss in strip_active(tree)}
    assert counts == {"script_removed": 3, "embedded_removed": 2, "hidden_text": 2}
    assert tree.body is not None
    assert tree.body.text(deep=True) == "keptopen"
