"""JSON, JSON Lines and XML as something to read and to search."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from engine.errors import Code, InputError
from tests.engine.extract.text_files import elements, headings, losses, read


def test_records_become_a_table(tmp_path: Path) -> None:
    rows = [
        {"name": "Petrel", "len": 12.40, "tags": ["a", "b"], "at": {"x": 1}},
        {"name": "Dunlin", "lit": True, "len": None},
    ]
    table = read(tmp_path, "a.json", json.dumps(rows).replace("12.4", "12.40")).tables[0]
    assert table.headers == ["name", "len", "tags", "at.x", "lit"]
    assert table.rows == [["Petrel", "12.40", "a, b", "1", ""], ["Dunlin", "", "", "", "true"]]


def test_objects_become_headed_lists(tmp_path: Path) -> None:
    value = {
        "title": "Harbour",
        "opened": 1874,
        "note": "long " * 60,
        "keeper": {"name": "Ann", "years": [1, 2]},
        "empty": None,
    }
    document = read(tmp_path, "a.json", json.dumps(value))
    assert document.metadata.title == "Harbour"
    assert headings(document) == [(1, "keeper")]
    assert document.content.startswith("- title: Harbour\n- opened: 1874\n\nnote: long long")
    assert "# keeper\n\n- name: Ann\n- years: 1, 2\n\n- empty: null" in document.content


def test_records_with_long_texts_become_sections(tmp_path: Path) -> None:
    rows = [{"id": n, "title": f"Paper {n}", "text": f"Words of paper {n}. " * 60} for n in range(3)]
    document = read(tmp_path, "a.json", json.dumps(rows))
    assert headings(document) == [(1, "Paper 0"), (1, "Paper 1"), (1, "Paper 2")]
    assert document.tables == [] and document.content.count("Words of paper 2.") == 60


def test_deep_values_end_in_paths(tmp_path: Path) -> None:
    value: object = {"x": [1, {"y": 2}]}
    for key in "fedcba":
        value = {key: value}
    document = read(tmp_path, "a.json", json.dumps(value))
    assert [t for _, t in headings(document)] == list("abcdef")
    assert "- x[0]: 1" in document.content and "- x[1].y: 2" in document.content


def test_a_grid_and_a_list_of_scalars(tmp_path: Path) -> None:
    document = read(
        tmp_path, "a.json", '{"grid": [[1, 2], [3, 4]], "words": ["' + '", "'.join(["alphabetically"] * 20) + '"]}'
    )
    assert document.tables[0].rows == [["1", "2"], ["3", "4"]]
    assert document.content.count("alphabetically") == 20


@pytest.mark.parametrize("text", ['{"a": 1', "[" * 100_000, "{'a': 1}"])
def test_invalid_json_is_kept_as_text_with_a_warning(text: str, tmp_path: Path) -> None:
    document = read(tmp_path, "a.json", text)
    assert "json_invalid" in losses(document)
    assert "".join(document.content.split()) == "".join(text.split())


def test_several_values_and_encodings(tmp_path: Path) -> None:
    assert read(tmp_path, "a.json", '{"a": "ü"}\n\n{"b":\n 2}'.encode("utf-16")).content == "- a: ü\n\n- b: 2"


def test_one_line_of_five_megabytes_takes_linear_time(tmp_path: Path) -> None:
    def seconds(count: int) -> float:
        text = json.dumps([{"id": n, "name": f"n{n}", "v": [1, 2]} for n in range(count)])
        start = time.process_time()
        assert len(read(tmp_path, "a.json", text).tables) == -(-count // 200)
        return time.process_time() - start

    small = seconds(10_000)
    assert seconds(100_000) < 30 * small


def test_json_lines(tmp_path: Path) -> None:
    document = read(tmp_path, "a.jsonl", '{"a": 1, "b": "x"}\n\n{"a": 2}\nbroken\n')
    assert document.tables[0].rows == [["1", "x"], ["2", ""]]
    assert losses(document) == {"json_line_invalid": 1}
    with pytest.raises(InputError) as caught:
        read(tmp_path, "b.jsonl", "broken\nlines\n")
    assert caught.value.code is Code.EXTRACTION_FAILED


def test_long_json_lines_are_numbered_through(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({"text": f"line {n} " * 100, "list": [{"a": n}]}) for n in range(1, 603))
    titles = [t for level, t in headings(read(tmp_path, "a.jsonl", lines)) if level == 1]
    assert titles == [f"record {n}" for n in range(1, 603)]


def test_xml_records_sections_and_mixed_text(tmp_path: Path) -> None:
    text = """<?xml version="1.0"?><doc xmlns="urn:x" kind="report"><title>The Report</title>
    <info><date>2024</date><place>Bay</place></info>
    <items><item n="1"><name>A</name><price>2</price></item><item n="2"><name>B</name></item></items>
    <section><title>Part</title><p>Some <b>mixed</b> text.</p><p>More.</p></section></doc>"""
    document = read(tmp_path, "a.xml", text)
    assert document.metadata.title == "The Report"
    assert headings(document) == [(1, "info"), (1, "items"), (1, "Part")]
    assert "- date: 2024\n- place: Bay" in document.content
    assert (document.tables[0].headers, document.tables[0].rows) == (
        ["@n", "name", "price"],
        [["1", "A", "2"], ["2", "B", ""]],
    )
    assert [p.content for p in elements(document, "paragraph")][-2:] == ["Some mixed text.", "More."]


def test_markup_written_as_text_is_read(tmp_path: Path) -> None:
    text = (
        "<rss><channel><item><title>News</title>"
        "<description>&lt;p&gt;One&lt;/p&gt;&lt;p&gt;Two&lt;/p&gt;</description></item></channel></rss>"
    )
    content = read(tmp_path, "a.xml", text).content
    assert "One\n\nTwo" in content and "<p>" not in content


def test_text_between_structured_elements_glues_nothing(tmp_path: Path) -> None:
    xml = (
        "<doc>intro<section><title>One</title><para>Some <b>mixed</b> text</para></section>"
        "<section><title>Two</title><para>More</para></section>tail</doc>"
    )
    assert read(tmp_path, "a.xml", xml).content == (
        "intro\n\n# One\n\n- title: One\n\nSome mixed text\n\n# Two\n\n- title: Two\n\nMore\n\ntail"
    )


def test_records_with_markup_are_sections(tmp_path: Path) -> None:
    item = "<item><title>P{0}</title><description>&lt;p&gt;B{0}&lt;/p&gt;</description></item>"
    items = item.format(1) + item.format(2)
    document = read(tmp_path, "a.xml", f"<channel>{items}</channel>")
    assert headings(document) == [(1, "P1"), (1, "P2")]
    assert "<p>" not in document.content and "B2" in document.content


def test_no_entity_is_expanded_and_nothing_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("SECRET")
    text = f'<!DOCTYPE r [<!ENTITY x SYSTEM "file://{secret}"><!ENTITY y "inner">]><r><a>before &x; &y; after</a></r>'
    document = read(tmp_path, "a.xml", text)
    assert "SECRET" not in document.content and "before" in document.content and "after" in document.content
    assert losses(document) == {"entity_ignored": 1}
    bomb = '<!DOCTYPE l [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><l>&b;</l>'
    with pytest.raises(InputError):
        read(tmp_path, "b.xml", bomb)


def test_xml_whose_encoding_lies_and_xml_that_breaks_off(tmp_path: Path) -> None:
    lie = '<?xml version="1.0" encoding="UTF-8"?><a><b>schöne Grüße aus Köln</b></a>'.encode("cp1252")
    assert "schöne Grüße aus Köln" in read(tmp_path, "a.xml", lie).content
    cut = read(tmp_path, "b.xml", "<a><b>kept</b><c>also")
    assert "kept" in cut.content and losses(cut) == {"malformed_xml": 1}
    with pytest.raises(InputError) as caught:
        read(tmp_path, "c.xml", "<a>" * 5000)
    assert caught.value.code is Code.LIMIT_EXCEEDED
