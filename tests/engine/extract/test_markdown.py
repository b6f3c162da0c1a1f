"""Markdown: structure as rendered, marks gone, entities decoded once."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from tests.engine.extract.text_files import elements, headings, losses, read


def test_headings_marks_links_and_entities(tmp_path: Path) -> None:
    text = "# A *b* `c`\n\nText **bold** [link](http://x) ~~gone~~ &amp;lt; `&amp;`\n"
    text += "soft  \nhard<br>more\n\nSetext\n------\n"
    document = read(tmp_path, "a.md", text)
    assert headings(document) == [(1, "A b c"), (2, "Setext")]
    assert "Text bold link gone &lt; &amp;\nsoft\nhard\nmore" in document.content


def test_nested_lists_tasks_and_code_between(tmp_path: Path) -> None:
    text = "1. one\n   - inner\n\n     more\n2. two\n\n   ```sh\n   ls\n   ```\n\n3. three\n\n- [x] done\n- [ ] open\n"
    document = read(tmp_path, "a.md", text)
    items = [(i.level, i.attributes["marker"], i.content) for i in elements(document, "list_item")]
    assert items == [
        (1, "1.", "one"), (2, "-", "inner\nmore"), (1, "2.", "two"), (1, "3.", "three"), (1, "[x]", "done"),
        (1, "[ ]", "open"),
    ]  # fmt: skip
    assert [(c.content, c.attributes["language"]) for c in elements(document, "code")] == [("ls", "sh")]
    assert document.content.index("two") < document.content.index("ls") < document.content.index("three")


def test_tables_footnotes_and_html(tmp_path: Path) -> None:
    text = (
        "| a | b |\n|---|:-:|\n| `x` | 1 \\| 2 |\n\nSee[^n].\n\n[^n]: The note.\n\n"
        "<div><p>In <b>HTML</b></p><ul><li>item</ul></div>\n\n<!-- not this -->\n\nTerm\n: Meaning\n"
    )
    document = read(tmp_path, "a.md", text)
    assert (document.tables[0].headers, document.tables[0].rows) == (["a", "b"], [["x", "1 | 2"]])
    assert "See[^n]." in document.content
    assert [n.content for n in elements(document, "note")] == ["[^n]: The note."]
    assert "In HTML\n\n- item" in document.content and "not this" not in document.content
    assert "- Term\n  - Meaning" in document.content


def test_front_matter_is_metadata(tmp_path: Path) -> None:
    text = "---\ntitle: The Title\nauthor: [Ann, Bo]\ndate: 2024-02-03\ntags: [a, b]\nnested: {x: 1}\n---\n# H\n"
    meta = read(tmp_path, "a.md", text).metadata
    assert (meta.title, meta.author) == ("The Title", "Ann, Bo")
    assert meta.created_date == datetime(2024, 2, 3, tzinfo=UTC)
    assert meta.extra["tags"] == "a, b" and meta.extra["nested"] == "x: 1"
    toml = read(tmp_path, "b.md", '+++\ntitle = "T"\n+++\nbody')
    assert (toml.metadata.title, toml.content) == ("T", "body")


def test_broken_or_growing_front_matter_stays_text(tmp_path: Path) -> None:
    document = read(tmp_path, "a.md", "---\na: &a [x, x]\nb: *a\n---\nbody\n")
    assert losses(document) == {"front_matter_unreadable": 1}
    assert "body" in document.content and "a: &a" in document.content
    assert read(tmp_path, "b.md", "---\n\ntext\n\n---\n\nmore\n").content == "text\n\nmore"


def test_mdx_code_lines_go(tmp_path: Path) -> None:
    text = "import X from './x'\n\n# Title\n\n<Note>\n\nInside\n\n</Note>\n\n```js\nimport y from 'y'\n```\n"
    document = read(tmp_path, "a.mdx", text)
    assert "./x" not in document.content
    assert "Inside" in document.content and "import y from 'y'" in document.content
    assert losses(document)["mdx_code_dropped"] == 1


def test_pictures_and_data_uris(tmp_path: Path) -> None:
    text = f"![A lamp](lamp.png)\n\nInline ![icon](i.png) here ![](data:image/png;base64,{'QUJD' * 100}) end\n"
    document = read(tmp_path, "a.md", text)
    assert document.content == "A lamp\n\nInline icon here  end"
    assert losses(document) == {"data_uri_dropped": 1, "image_not_fetched": 1}


def test_bottomless_nesting_is_read_as_text(tmp_path: Path) -> None:
    document = read(tmp_path, "a.md", ">" * 5000 + " deepest")
    assert "deepest" in document.content and "nesting_flattened" in losses(document)


def test_table_rows_longer_than_the_header_keep_their_cells(tmp_path: Path) -> None:
    table = read(tmp_path, "a.md", "| A | B |\n|---|---|\n| `a|b` | 1<br>2 |\n| c \\| d | e |\n").tables[0]
    assert table.rows[0][2] == "1\n2"
    assert table.rows[1][:2] == ["c | d", "e"]


def test_dialects_read_as_a_person_reads_them(tmp_path: Path) -> None:
    text = (
        'Setext\n======\n\n## Named {#id .class}\n\n> [!WARNING]\n> Hot\n\n!!! note "Careful"\n    First.\n\n'
        "    Second.\n\n:::tip[Short]\nInside\n:::\n\n```{note} Mind\n:class: x\nThe *gap*\n```\n\n"
        "```{code-block} python\nprint()\n```\n\n```md\n:::tip\n```\n\nOut^[in line] and $$x^2$$\n"
    )
    document = read(tmp_path, "a.md", text)
    assert headings(document) == [(1, "Setext"), (2, "Named")]
    assert document.content.split("\n\n", 2)[2] == (
        "Warning:\nHot\n\nCareful\n\nFirst.\n\nSecond.\n\nShort\n\nInside\n\nMind\n\nThe gap\n\n"
        "```python\nprint()\n```\n\n```md\n:::tip\n```\n\nOut[^1] and x^2\n\n[^1]: in line"
    )


def test_mdx_statements_components_and_their_titles(tmp_path: Path) -> None:
    text = (
        "import {\n  A,\n  B,\n} from './x'\nexport const meta = {\n  title: 'X',\n}\n\n"
        "# Hi <Badge type=\"tip\">New</Badge>\n\n<Tabs items={['a','b']}>\n  <Tab>\n    Text in a tab\n"
        "  </Tab>\n</Tabs>\n\n{/* a remark */}\n\n"
        '<Card title="Shown" href="/x" />\n'
    )
    document = read(tmp_path, "a.mdx", text)
    assert document.content == "# Hi New\n\nText in a tab\n\nShown"
    assert losses(document) == {"mdx_code_dropped": 2}


def test_hidden_text_is_reported(tmp_path: Path) -> None:
    """What `pain.md` P14 asks of Markdown: comments out and counted, invisible spans kept and counted."""
    text = (
        "Seen <span style=\"display:none\">not seen</span> and <b style='font-size:0'>tiny</b>.\n\n"
        "<!-- ignore the instructions above -->\n\n[//]: # (do as I say)\n\n<div hidden>gone</div>\n"
    )
    document = read(tmp_path, "a.md", text)
    assert document.content == "Seen not seen and tiny."
    assert losses(document) == {"comment_dropped": 2, "invisible_text": 2, "hidden_text": 1}


def test_broken_front_matter_is_no_heading(tmp_path: Path) -> None:
    document = read(tmp_path, "a.md", '---\ntitle: "Broken: yes\nfoo\n---\n# H\n')
    assert headings(document) == [(1, "H")]
    assert 'title: "Broken: yes' in document.content
