"""HTML: everything a reader sees comes out once and in order; furniture and active content do not."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.records import TableCell
from tests.engine.extract.text_files import elements, headings, losses, read

FORMATS = Path(__file__).resolve().parents[3] / "../shared/corpora/formats"
PARAGRAPH = "The lighthouse was lit for the first time on a November night, and it has burned every night since then."


def page(body: str) -> str:
    return f"<!DOCTYPE html><html><head><title>T</title></head><body>{body}</body></html>"


def test_headings_paragraphs_and_inline_marks(tmp_path: Path) -> None:
    text = page(
        "<h1>One</h1><p>A <b>bold</b> and <i>it</i>alic<br>line&nbsp;two &amp; &lt;more&gt;</p><h2>Two<a>!</a></h2>x"
    )
    document = read(tmp_path, "a.html", text)
    assert document.content == "# One\n\nA bold and italic\nline\xa0two & <more>\n\n## Two!\n\nx"
    assert document.metadata.headings == ["One", "Two!"]


def test_a_simple_page_loses_nothing(tmp_path: Path) -> None:
    words = ["Title", "intro", "first", "second", "cell", "Contact: 555", "aside", "legend", "choice", "quote"]
    text = page(
        "<header><h1>Title</h1></header><p>intro</p><ul><li>first<li>second</ul><table><tr><td>cell</table>"
        "<aside>aside</aside><fieldset><legend>legend</legend></fieldset><select><option>choice</select>"
        "<blockquote>quote</blockquote><footer>Contact: 555</footer>"
    )
    content = read(tmp_path, "a.html", text).content
    assert [w for w in words if w not in content] == []


def test_furniture_goes_and_is_counted(tmp_path: Path) -> None:
    text = page(
        "<a href='#main'>Skip to content</a>"
        "<nav><ul><li><a href=/>Home</a><li><a href=/shop>Webshop</a><li><a href=/about>About</a></ul></nav>"
        "<div class='cookie-banner'>We use cookies. <button>Accept</button></div>"
        "<div class=breadcrumbs><a href=/>Start</a> &gt; <a href=/x>Here</a></div>"
        f"<main id=main><h1>Story</h1>{f'<p>{PARAGRAPH}</p>' * 6}"
        "<ul><li><a href=/1>Related reading one</a><li><a href=/2>Related reading two</a></ul></main>"
        "<div id=sidebar><a href=/a>Archive</a> <a href=/b>Tagcloud</a> <a href=/c>Blogroll</a></div>"
        "<footer><p>© 2024 Someone. All rights reserved.</p></footer>"
    )
    document = read(tmp_path, "a.html", text)
    for gone in ("Skip to", "Webshop", "cookies", "Start", "Blogroll", "All rights"):
        assert gone not in document.content
    assert document.content.count(PARAGRAPH) == 6
    assert "Related reading one" in document.content  # links inside the main part are content
    assert losses(document)["boilerplate_dropped"] >= 5


def test_names_alone_do_not_make_furniture(tmp_path: Path) -> None:
    text = page(
        f"<div class=menu><h2>Lunch menu</h2><p>{PARAGRAPH}</p></div>"
        f"<div id=sidebar><p>{PARAGRAPH}</p></div><div class='header'><h1>The title</h1></div>"
        f"<footer><p>{PARAGRAPH}</p></footer><div class=cookies><p>Recipe: cookies of butter and oats.</p></div>"
    )
    document = read(tmp_path, "a.html", text)
    assert document.content.count(PARAGRAPH) == 3
    assert "Lunch menu" in document.content and "The title" in document.content


def test_a_page_of_links_is_read_whole(tmp_path: Path) -> None:
    links = "".join(f"<li><a href=/{n}>Link number {n}</a>" for n in range(20))
    document = read(tmp_path, "a.html", page(f"<nav><ul>{links}</ul></nav>"))
    assert document.content.count("Link number") == 20


def test_hidden_and_active_parts(tmp_path: Path) -> None:
    text = page(
        "<script>alert(1)</script><style>p{}</style><p onclick='x()'>seen</p><p hidden>secret one</p>"
        "<div style='color:red; display : none'>secret two</div><iframe src='http://x/'>frame</iframe>"
        "<template>template</template><noscript>enable</noscript><object>object</object><img src='http://x/a.png'>"
    )
    document = read(tmp_path, "a.html", text)
    assert document.content == "seen"
    assert losses(document) == {
        "embedded_removed": 2,
        "hidden_text": 2,
        "image_not_fetched": 1,
        "script_removed": 2,
    }


def test_tables_keep_their_spans(tmp_path: Path) -> None:
    text = page(
        "<table><caption>Sales</caption><tr><th rowspan=2>Region<th colspan=2>Year</tr><tr><th>2023<th>2024</tr>"
        "<tr><td>North<td>1<td rowspan=2>2</tr><tr><td>South<td>3</tr></table>"
    )
    table = read(tmp_path, "a.html", text).tables[0]
    assert table.caption == "Sales"
    assert table.cells == [
        TableCell(0, 0, "Region", 2, 1, True),
        TableCell(0, 1, "Year", 1, 2, True),
        TableCell(1, 1, "2023", header=True),
        TableCell(1, 2, "2024", header=True),
        TableCell(2, 0, "North"),
        TableCell(2, 1, "1"),
        TableCell(2, 2, "2", 2, 1),
        TableCell(3, 0, "South"),
        TableCell(3, 1, "3"),
    ]


def test_rich_cells_and_spacers(tmp_path: Path) -> None:
    text = page(
        "<table><tr><th>Name<th>Notes</tr><tr><td>A<td><p>one</p><ul><li>x<li>y</ul></tr>"
        "<tr><td>B<td><table><tr><td>in<td>ner</tr><tr><td>2<td>3</tr></table></tr></table>"
        "<table><tr><td><td>$<td><td>5</tr><tr><td><td>€<td><td>6</tr></table>"
    )
    document = read(tmp_path, "a.html", text)
    assert [row[1] for row in document.tables[0].rows] == ["one\n- x\n- y", "in | ner\n2 | 3"]
    assert document.tables[1].rows == [["$", "5"], ["€", "6"]]


def test_layout_tables_are_read_as_blocks(tmp_path: Path) -> None:
    text = page(
        f"<table><tr><td><h2>Left</h2><p>{PARAGRAPH}</p></td><td><h2>Right</h2><p>after</p></td></tr></table>"
        "<table><tr><td>☐</td><td>Annual report</td></tr></table>"
        "<table role=presentation><tr><td>a<td>b</tr><tr><td>c</table>"
    )
    document = read(tmp_path, "a.html", text)
    assert document.tables == []
    assert document.content == f"## Left\n\n{PARAGRAPH}\n\n## Right\n\nafter\n\n☐ Annual report\n\na\n\nb\n\nc"


def test_lists_nest_and_number(tmp_path: Path) -> None:
    text = page(
        "<ol start=3><li>three<ul><li>in<ul><li>deep</ul></ul><li value=7>seven</ol>"
        "<ul><li><input type=checkbox checked>done<li>open</ul><ol type=a><li>x</ol><dl><dt>term<dd>meaning</dl>"
    )
    lists = elements(read(tmp_path, "a.html", text), "list_item")
    assert [(i.level, i.attributes["marker"], i.content) for i in lists] == [
        (1, "3.", "three"), (2, "-", "in"), (3, "-", "deep"), (1, "7.", "seven"), (1, "[x]", "done"), (1, "-", "open"),
        (1, "a.", "x"), (1, "-", "term"), (2, "-", "meaning"),
    ]  # fmt: skip


def test_code_keeps_its_lines_and_language(tmp_path: Path) -> None:
    text = page(
        '<pre><code class="hljs language-python">def f():\n    return "a &lt; b"\n</code></pre><pre>x<br>y</pre>'
    )
    codes = elements(read(tmp_path, "a.html", text), "code")
    assert [(c.content, c.attributes.get("language")) for c in codes] == [
        ('def f():\n    return "a < b"', "python"),
        ("x\ny", None),
    ]


def test_pictures_by_their_texts_never_by_their_bytes(tmp_path: Path) -> None:
    png = b"\x89PNG\r\n\x1a\n" + bytes(90)
    source = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    text = page(
        f"<figure><img src='{source}' alt='A lamp'><figcaption>Fig. 1</figcaption></figure>"
        "<p>a <img src=x alt=icon> b</p>"
    )
    document = read(tmp_path, "a.html", text)
    assert document.content == "A lamp\n\nFig. 1\n\na icon b"
    assert [(i.data, i.mime_type, i.alt_text) for i in document.images] == [(png, "image/png", "A lamp")]
    assert [c.content for c in elements(document, "caption")] == ["Fig. 1"]


def test_small_inline_things(tmp_path: Path) -> None:
    text = page(
        "<p><q>said</q> <ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby> H<sub>2</sub>O "
        "<math alttext='x^2'><mi>x</mi></math></p><h3>Name<span class='mw-editsection'>[edit]</span></h3>"
    )
    assert read(tmp_path, "a.html", text).content == "“said” 漢(kan) H2O x^2\n\n### Name"


def test_metadata_of_the_head(tmp_path: Path) -> None:
    text = (
        '<html lang="de-AT"><head><title> Ein\n Titel </title><meta name=author content="Eva Muster">'
        '<meta property="article:published_time" content="2024-03-05T10:00:00+00:00">'
        '<meta name=description content="Kurz"></head><body><p>Hallo</p></body></html>'
    )
    meta = read(tmp_path, "a.html", text).metadata
    assert (meta.title, meta.author) == ("Ein Titel", "Eva Muster")
    assert meta.created_date == datetime(2024, 3, 5, 10, tzinfo=UTC)
    assert meta.extra == {"description": "Kurz", "declared_language": "de-AT"}


def test_charsets_by_bytes_before_declarations(tmp_path: Path) -> None:
    declared = '<html><head><meta charset="{}"></head><body><p>{}</p></body></html>'
    arabic = "في قرية من القرى كان هناك رجل حكيم"
    assert arabic in read(tmp_path, "a.html", declared.format("utf-8", arabic).encode("cp1256")).content
    assert (
        "Žluťoučký kůň"
        in read(tmp_path, "b.html", declared.format("windows-1250", "Žluťoučký kůň").encode("cp1250")).content
    )
    assert read(tmp_path, "c.html", declared.format("x", "schön").encode("utf-16")).content == "schön"


def test_xhtml_closes_empty_elements(tmp_path: Path) -> None:
    text = (
        '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/>'
        '<script src="x"/></head><body><p>before</p><a id="x"/><div/><p>after</p></body></html>'
    )
    assert read(tmp_path, "a.xhtml", text).content == "before\n\nafter"


@pytest.mark.parametrize(
    "text",
    ["<div>" * 60_000 + "deepest" + "</div>" * 60_000, "<b><i>" * 30_000 + "deepest", "<ul><li>deepest" * 5000,
     "<p " + " ".join(f"a{n}" for n in range(60_000)) + ">deepest</p>", "<table><tr><td>deepest" * 1500],
)  # fmt: skip
def test_absurd_nesting_keeps_its_text(text: str, tmp_path: Path) -> None:
    document = read(tmp_path, "a.html", text)
    assert document.content.count("deepest") == text.count("deepest")


@pytest.mark.shared
@pytest.mark.skipif(not FORMATS.exists(), reason="the shared folder is not there")
def test_a_real_encyclopedia_page(tmp_path: Path) -> None:
    document = read(tmp_path, "duck.html", (FORMATS / "dl__wiki_duck.html").read_bytes())
    assert headings(document)[:7] == [
        (1, "Duck"), (2, "Etymology"), (2, "Taxonomy"), (2, "Morphology"), (2, "Distribution and habitat"),
        (2, "Behaviour"), (3, "Feeding"),
    ]  # fmt: skip
    for menu in ("Jump to content", "Main menu", "Random article", "Privacy policy", "Edit links", "[edit]"):
        assert menu not in document.content
    assert ["Kingdom:", "Animalia"] in document.tables[0].rows
    assert "Howard the Duck (character)" in document.content  # the references stay
