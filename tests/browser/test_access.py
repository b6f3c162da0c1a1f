"""Everybody can use the page: no violation of WCAG 2.2 A and AA that axe finds, in light and dark, in each of its
states; no sideways scrolling on a narrow phone; no movement for those who ask for none."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest
from fake_embedder import FakeEmbedder

from engine.settings import load
from serve.local import running_server

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")

from playwright.sync_api import Page, expect  # noqa: E402

from tests.browser.visits import PATIENCE, PHONE, Visit, make_project, pdf, start  # noqa: E402

pytestmark = pytest.mark.browser

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
REPORT = pdf([(72, "Harbour"), (120, "The green crane lifts cargo from the ship.")], [(72, "Nothing more to say.")])
LONG = "a-very-long-name-without-a-single-space-" * 4 + ".md"
NOTES = (
    "# Cargo\n\n" + "cargo/" * 60 + "\n\n| Ship | Cargo | Weight | Origin | Destination | Remark |\n"
    "| --- | --- | --- | --- | --- | --- |\n"
    "| Aurora | timber | 1200 | Bergen | Rotterdam | unloaded-by-the-green-crane |\n"
    "\n## Program\n\n```python\n" + "cargo = [" + "1, " * 80 + "]\n```\n"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, browser: object) -> Iterator[str]:
    home = tmp_path_factory.mktemp("access")
    with running_server(load({"home": home}, environ={}), FakeEmbedder()) as url:
        make_project(url, "harbour")
        make_project(url, "empty")
        visit = start(browser, url)  # pyright: ignore[reportArgumentType]
        visit.open("harbour", "documents")
        visit.upload(("report.pdf", REPORT), (LONG, NOTES.encode()))
        visit.choose(("torn.pdf", b"%PDF-1.7 torn"))
        expect(visit.row("torn.pdf")).to_have_attribute("data-state", "failed", timeout=PATIENCE)
        visit.context.close()
        yield url


def check(page: Page, state: str) -> None:
    """No violations in what is shown now."""
    results = axe.Axe().run(page, options=RULES)
    found = [
        f"{state}: {violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in results.response["violations"]
        for node in violation["nodes"]
    ]
    assert found == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_search_and_viewer(visits: Callable[..., Visit], theme: str) -> None:
    visit = visits(color_scheme=theme)
    page = visit.open("harbour")
    check(page, "search before a query")
    page.locator("#filters summary").click()
    hits = visit.search("cargo crane")
    expect(hits.first).to_be_visible()
    check(page, "hits")
    page.get_by_role("button", name="Open page 1 of report.pdf").click()
    expect(page.locator("#viewer-body img")).to_be_visible()
    check(page, "page in the viewer")
    page.get_by_role("button", name="Text").click()
    expect(page.locator(".cited")).to_be_visible()
    check(page, "text in the viewer")
    page.keyboard.press("Escape")
    page.locator("#format").select_option("xlsx")
    expect(page.locator("#result-count")).to_have_text("Nothing found")
    check(page, "nothing found")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_documents_and_dialogs(visits: Callable[..., Visit], theme: str) -> None:
    visit = visits(color_scheme=theme)
    visit.expected = {415}
    page = visit.open("harbour", "documents")
    visit.choose(("program.exe", b"MZ\x90\x00" + bytes(200)))
    expect(visit.row("program.exe")).to_have_attribute("data-state", "failed")
    expect(page.locator("#document-list .reason")).to_be_visible()
    for summary in page.locator("#documents summary").all():
        summary.click()
    check(page, "documents with everything open")
    page.get_by_role("button", name="Delete report.pdf").click()
    check(page, "confirmation")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="New project").click()
    check(page, "new project")
    page.keyboard.press("Escape")
    visit.open("empty", "documents")
    expect(page.locator("#document-state")).to_contain_text("no documents")
    check(page, "empty project")


def test_the_api_description_is_whole_and_axe_finds_nothing(visit: Visit) -> None:
    page = visit.page
    page.goto(f"{visit.url}/docs")
    expect(page.locator("article").first).to_be_visible()
    described = httpx.get(f"{visit.url}/openapi.json").json()
    operations = sorted(f"{method.upper()} {path}" for path, item in described["paths"].items() for method in item)
    assert (
        sorted(page.locator("section article:not([aria-labelledby^='record-']) h3").all_text_contents()) == operations
    )
    records = page.locator("article[aria-labelledby^='record-'] h3").all_text_contents()
    assert sorted(records) == sorted(described["components"]["schemas"])
    broken = "list => list.map((a) => a.hash.slice(1)).filter((id) => !document.getElementById(id))"
    assert page.locator("main a[href^='#']").evaluate_all(broken) == []
    page.evaluate("for (const more of document.querySelectorAll('article + article + article')) more.remove()")
    check(page, "API description")  # of two operations a group: axe takes long over all


def test_a_phone_needs_no_sideways_scrolling(visits: Callable[..., Visit]) -> None:
    visit = visits(**PHONE)
    page = visit.open("harbour")
    page.locator("#filters summary").click()
    assert visit.overflow() <= 0
    expect(visit.search("cargo").first).to_be_visible()
    assert visit.overflow() <= 0
    page.get_by_role("button", name=f"Show in the document {LONG}").first.click()
    expect(page.locator(".cited")).to_be_visible()
    assert page.evaluate("document.getElementById('viewer').getBoundingClientRect().right") <= 360
    assert page.evaluate("(b => b.scrollWidth - b.clientWidth)(document.getElementById('viewer-body'))") <= 0
    page.keyboard.press("Escape")
    visit.open("harbour", "documents")
    expect(page.locator("#document-list .reason")).to_be_visible()
    for summary in page.locator("#documents summary").all():
        summary.click()
    assert visit.overflow() <= 0
    beside = page.locator("label.check").bounding_box()
    assert beside is not None
    assert beside["height"] < 100  # its words stand beside the box, not one letter a line
    page.goto(f"{visit.url}/docs")
    expect(page.locator("article").first).to_be_visible()
    assert visit.overflow() <= 0


def test_text_twice_as_large_still_fits(visits: Callable[..., Visit]) -> None:
    visit = visits(viewport={"width": 640, "height": 720})
    page = visit.open("harbour")
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    expect(visit.search("cargo").first).to_be_visible()
    assert visit.overflow() <= 0


def test_nothing_moves_for_those_who_ask_for_it(visits: Callable[..., Visit]) -> None:
    visit = visits(reduced_motion="reduce")
    page = visit.open("harbour", "documents")
    page.evaluate("document.getElementById('document-state').append(Object.assign("
                  "document.createElement('p'), { className: 'loading', textContent: 'x' }))")  # fmt: skip
    name = "getComputedStyle(document.querySelector('.loading'), '::after').animationName"
    assert page.evaluate(name) == "none"
    assert page.evaluate("getComputedStyle(document.getElementById('drop')).transitionDuration") == "0s"
