"""The page for people in a real browser, over the real server and model: add documents, watch them, find a
sentence, open it where it stands; and see why a file failed."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from corpora import sentence

from engine.settings import load
from serve.local import running_server

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Page, expect

from tests.browser.visits import PATIENCE, Visit, make_project, pdf

pytestmark = pytest.mark.browser


def lines(draw: random.Random, top: float, count: int) -> list[tuple[float, str]]:
    """A paragraph of `count` lines of unlike sentences, its first line at `top`."""
    return [(top + 16 * n, sentence(draw)) for n in range(count)]


SENTENCE = "The lighthouse keeper polished the brass lens with vinegar every Thursday."
TOP = 560.0  # of the sentence on page 2, in points
REPORT = pdf(
    lines(random.Random(1), 60, 30),
    [*lines(random.Random(2), 60, 26), (TOP - 50, "Care of lenses"), (TOP, SENTENCE)],
    title="Harbour report",
)
# Collects where the picture has the colour of the mark's edge, in parts of its width and height.
MARKED = """async () => {
  const image = document.querySelector("#viewer-body img");
  await image.decode();
  const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
  const paint = canvas.getContext("2d");
  paint.drawImage(image, 0, 0);
  const { data, width, height } = paint.getImageData(0, 0, image.naturalWidth, image.naturalHeight);
  const rows = [], columns = [];
  for (let at = 0; at < data.length; at += 4) {
    const [red, green, blue] = [data[at], data[at + 1], data[at + 2]];
    if (red > 190 && green < 120 && blue < 60) {
      rows.push(Math.floor(at / 4 / width));
      columns.push((at / 4) % width);
    }
  }
  const ends = (list, size) => list.length ? [list.reduce((a, b) => Math.min(a, b)) / size,
                                              list.reduce((a, b) => Math.max(a, b)) / size] : null;
  return { rows: ends(rows, height), columns: ends(columns, width) };
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("page")
    with running_server(load({"home": home}, environ={})) as url:
        for slug in ("harbour", "keyboard", "broken", "reading"):
            make_project(url, slug)
        yield url


def test_upload_watch_search_and_open_the_cited_page(visit: Visit) -> None:
    page = visit.open("harbour", "documents")
    page.evaluate("""() => { window.seen = new Set(); setInterval(() => {
        for (const state of document.querySelectorAll("#uploads .state")) window.seen.add(state.textContent);
    }, 20); }""")
    visit.upload(("harbour.pdf", REPORT))
    seen = page.evaluate("[...window.seen]")
    stages = {"Processing Reading the text", "Processing Computing embeddings", "Processing Making it searchable"}
    assert stages & set(seen), seen
    expect(visit.row("harbour.pdf")).to_contain_text("2 pages")
    expect(page.locator("#document-list")).to_contain_text("harbour.pdf")

    page.get_by_role("link", name="Search", exact=True).click()
    hit = visit.search("When did the keeper polish the lens?").filter(has_text=SENTENCE)
    expect(hit).to_have_count(1)
    expect(hit.locator(".citation")).to_contain_text("harbour.pdf, page 2")
    assert {"keeper", "lens", "polished"} <= set(hit.locator("mark").all_text_contents())

    opener = hit.get_by_role("button", name="Open page 2 of harbour.pdf")
    opener.click()
    picture = page.locator("#viewer-body img")
    expect(picture).to_be_visible()
    expect(page.locator("#page-number")).to_have_text("Page 2 of 2")
    marked = page.evaluate(MARKED)
    assert (TOP - 80) / 842 <= marked["rows"][0] <= (TOP + 2) / 842
    assert marked["rows"][1] >= (TOP + 10) / 842
    assert marked["columns"][0] == pytest.approx(72 / 595, abs=0.02)
    expect_in_view(page, TOP)

    page.get_by_role("button", name="Previous page").click()
    expect(page.locator("#page-number")).to_have_text("Page 1 of 2")
    page.get_by_role("button", name="Text").click()
    expect(page.get_by_role("group", name="The passage found")).to_contain_text(SENTENCE)
    page.keyboard.press("Escape")
    expect(page.locator("#viewer")).to_be_hidden()
    expect(opener).to_be_focused()


def expect_in_view(page: Page, top: float) -> None:
    """The point of the page, `top` from above, is inside the part of the viewer that can be seen."""
    inside = page.evaluate(
        """(part) => {
          const image = document.querySelector("#viewer-body img").getBoundingClientRect();
          const body = document.getElementById("viewer-body").getBoundingClientRect();
          const at = image.top + part * image.height;
          return at > body.top && at < body.bottom;
        }""",
        top / 842,
    )
    assert inside


def test_a_file_that_is_refused_and_one_that_fails_show_their_reasons(visit: Visit) -> None:
    visit.expected = {415, 422}
    page = visit.open("broken", "documents")
    program = b"MZ\x90\x00" + bytes(200)
    visit.choose(("setup.exe", program), ("invoice.pdf", program), ("torn.pdf", REPORT[:300]))
    refused = visit.row("setup.exe")
    expect(refused).to_have_attribute("data-state", "failed", timeout=PATIENCE)
    expect(refused.locator(".reason")).to_contain_text("UNSUPPORTED_FORMAT")
    expect(refused.locator(".reason p").first).to_contain_text("not supported")
    wrong = visit.row("invoice.pdf").locator(".reason")
    expect(wrong).to_contain_text("the file is named .pdf but its bytes are not", timeout=PATIENCE)
    torn = visit.row("torn.pdf")
    expect(torn).to_have_attribute("data-state", "failed", timeout=PATIENCE)
    expect(torn.locator(".reason")).to_contain_text("EXTRACTION_FAILED")
    expect(page.locator("#uploads-summary")).to_have_text("3 of 3 files done, 3 failed")

    page.get_by_label("Status").select_option("Failed")
    failed = page.locator("#document-list > li")
    expect(failed).to_have_count(1)
    expect(failed).to_contain_text("torn.pdf")
    expect(failed.locator(".reason")).to_contain_text("EXTRACTION_FAILED")


def test_a_passage_without_pages_opens_among_its_neighbours(visit: Visit) -> None:
    draw = random.Random(4)
    parts = [f"# Chapter {n}\n\n" + " ".join(sentence(draw) for _ in range(12)) for n in range(40)]
    parts[25] += " The pelican stole a herring."
    page = visit.open("reading", "documents")
    visit.upload(("book.md", "\n\n".join(parts).encode()))
    page.get_by_role("link", name="Search", exact=True).click()
    hit = visit.search("pelican herring").first
    expect(hit.locator(".citation")).to_have_text("book.md, Chapter 25")
    hit.get_by_role("button", name="Show in the document book.md").click()
    cited = page.get_by_role("group", name="The passage found")
    expect(cited).to_be_in_viewport()
    expect(cited.locator("mark").first).to_be_visible()
    headings = page.locator("#viewer-body h3")
    shown = headings.all_text_contents()
    assert "Chapter 24" in shown
    assert "Chapter 26" in shown
    assert shown == sorted(shown, key=lambda text: int(text.split()[1]))
    for name in ("Earlier text", "Later text"):
        control = page.get_by_role("button", name=name)
        for _ in range(10):
            if not control.count():
                break
            control.press("Enter")
            page.wait_for_timeout(100)
    expect(headings.first).to_have_text("Chapter 0")
    expect(headings.last).to_have_text("Chapter 39")
    expect(headings).to_have_count(40)


def test_the_same_by_keyboard_alone(visit: Visit) -> None:
    visit.page.on("filechooser", lambda _: None)  # asked for early: choosers are caught only from a moment later on
    page = visit.open("keyboard")
    page.keyboard.press("Tab")
    expect(page.locator("#skip")).to_be_focused()
    tab_to(page, "#to-documents")
    page.keyboard.press("Enter")
    expect(page.locator("#documents")).to_be_visible()
    tab_to(page, "#files")
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Enter")
    chooser.value.set_files([{"name": "harbour.pdf", "mimeType": "application/pdf", "buffer": REPORT}])
    expect(visit.row("harbour.pdf")).to_have_attribute("data-state", "completed", timeout=PATIENCE)
    expect(page.locator("#live")).to_contain_text("harbour.pdf: completed")

    tab_to(page, "#to-search", back=True)
    page.keyboard.press("Enter")
    expect(page.locator("#search")).to_be_visible()
    tab_to(page, "#query")
    page.keyboard.type("keeper polished the brass lens")
    page.keyboard.press("Enter")
    expect(page.locator("#live")).to_contain_text("passage")
    tab_to(page, ".hit button[aria-label='Open page 2 of harbour.pdf']")
    page.keyboard.press("Enter")
    expect(page.locator("#viewer-body img")).to_be_visible()
    expect(page.locator("#viewer-body")).to_be_focused()
    for _ in range(12):  # the focus stays inside the dialog, or leaves for the browser's own controls
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement === document.body || !!document.activeElement.closest('#viewer')")
    page.keyboard.press("Escape")
    expect(page.locator("#viewer")).to_be_hidden()
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Open page 2 of harbour.pdf"

    tab_to(page, "#to-documents", back=True)
    page.keyboard.press("Enter")
    tab_to(page, "#document-list button[aria-label='Delete harbour.pdf']")
    page.keyboard.press("Enter")
    expect(page.locator("#confirm-no")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#document-list > li")).to_have_count(0)
    expect(page.locator("#list-heading")).to_be_focused()
    expect(page.locator("#live")).to_contain_text("harbour.pdf was deleted")


def tab_to(page: Page, selector: str, back: bool = False, most: int = 60) -> None:
    """Press Tab until the element has the focus, and see that the focus can be seen."""
    for _ in range(most):
        page.keyboard.press("Shift+Tab" if back else "Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            break
    else:
        raise AssertionError(f"{selector} is not reached by Tab")
    outlined = page.evaluate("""() => {
      const shown = document.activeElement.matches("#files") ? document.activeElement.nextElementSibling
                                                            : document.activeElement;
      const style = getComputedStyle(shown);
      return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    }""")
    assert outlined, f"the focus on {selector} cannot be seen"
