"""Embedded files of a PDF, also those in the branches of a name tree; fields of equal cells."""

from __future__ import annotations

from pathlib import Path

import pymupdf

from tests.engine.extract.office_files import read


def test_files_in_the_branches_of_a_name_tree(tmp_path: Path) -> None:
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), "A page with files.")
    leaves: list[int] = []
    for name in ("a.txt", "b.txt", "c.txt"):
        data, entry, leaf = (document.get_new_xref() for _ in range(3))
        document.update_object(data, "<</Type/EmbeddedFile>>")
        document.update_stream(data, f"text of {name}".encode())
        document.update_object(entry, f"<</Type/Filespec/F({name})/UF(dir/{name})/EF<</F {data} 0 R>>>>")
        document.update_object(leaf, f"<</Limits[({name})({name})]/Names[({name}) {entry} 0 R]>>")
        leaves.append(leaf)
    branch = document.get_new_xref()
    document.update_object(branch, f"<</Kids[{leaves[0]} 0 R {leaves[1]} 0 R {branch} 0 R]>>")  # and itself
    tree = f"<</EmbeddedFiles<</Kids[{branch} 0 R {leaves[2]} 0 R]>>>>"
    document.xref_set_key(document.pdf_catalog(), "Names", tree)
    path = tmp_path / "a.pdf"
    document.save(path)
    found = read(path, "pdf", tmp_path).attached
    assert sorted((c.filename, Path(c.path).read_text()) for c in found) == [
        ("a.txt", "text of a.txt"), ("b.txt", "text of b.txt"), ("c.txt", "text of c.txt"),
    ]  # fmt: skip


def test_the_letters_of_a_comb_field_are_one_word(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 60), "Your code, in capital letters, one to a cell:")
    widget = pymupdf.Widget()
    widget.field_type, widget.field_name, widget.field_value = pymupdf.PDF_WIDGET_TYPE_TEXT, "code", "ABCDEF"
    widget.field_flags, widget.text_maxlen = 1 << 24, 6
    widget.rect = pymupdf.Rect(72, 80, 372, 100)
    page.add_widget(widget)
    document.save(tmp_path / "a.pdf")
    content = read(tmp_path / "a.pdf", "pdf", tmp_path).content
    assert "ABCDEF" in content
    assert content.count("F") == 1
