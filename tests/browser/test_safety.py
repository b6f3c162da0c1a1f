"""Documents and their names are hostile: they stay text. The token stays in its tab and is asked for again when it
is not accepted. Nothing is loaded from anywhere else (each visit of these tests checks that)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fake_embedder import FakeEmbedder

from engine.settings import Settings, load
from serve.auth import digest
from serve.local import running_server

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Page, expect

from tests.browser.visits import Visit, make_project

pytestmark = pytest.mark.browser

ROOT, READER = "corpus_" + "r" * 43, "corpus_" + "e" * 43
HOSTILE = "<img src=x onerror=alert(1)>.md"
TURNED = "invoice\u202efdp.md"  # a direction override: shows as "invoicedm.pdf" where it is obeyed
TEXT = (
    "# <img src=x onerror=alert(2)> heading\n\n"
    'A zebra `<script>alert(3)</script>` and &lt;b&gt; javascript:alert(4) "><svg onload=alert(5)>.\n\n'
    "| <iframe src=//example.com> | zebra |\n| --- | --- |\n| <a href=javascript:alert(6)>x</a> | ${alert(7)} |\n"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(_settings(tmp_path_factory.mktemp("safety")), FakeEmbedder()) as url:
        make_project(url, "zoo", ROOT)
        make_project(url, "closed", ROOT)
        yield url


def _settings(home: Path) -> Settings:
    tokens = home / "tokens.yaml"
    tokens.write_text(
        f"- {{name: root, sha256: {digest(ROOT)}, roles: {{'*': admin}}}}\n"
        f"- {{name: reader, sha256: {digest(READER)}, roles: {{zoo: read}}}}\n"
    )
    tokens.chmod(0o600)
    return load({"home": home / "state", "auth.tokens_file": tokens}, environ={})


def sign_in(visit: Visit, token: str) -> Page:
    visit.expected |= {401}  # the first request goes without a token
    page = visit.page
    page.goto(f"{visit.url}/#/zoo/documents")
    page.locator("#token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#documents")).to_be_visible()
    return page


def test_hostile_names_and_texts_stay_text(visit: Visit) -> None:
    page = sign_in(visit, ROOT)
    alerts: list[str] = []
    page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    visit.upload((HOSTILE, TEXT.encode()), (TURNED, b"A quagga beside a zebra."))
    expect(page.locator("#document-list")).to_contain_text(HOSTILE)
    page.get_by_role("link", name="Search", exact=True).click()
    hits = visit.search('zebra "><svg onload=alert(8)>')
    expect(hits.filter(has_text="<script>alert(3)</script>").first).to_be_visible()
    assert hits.filter(has_text=HOSTILE).count() > 0
    page.get_by_role("button", name=f"Show in the document {HOSTILE}").first.click()
    expect(page.locator("#viewer-citation")).to_contain_text(HOSTILE)
    expect(page.locator(".cited")).to_be_visible()
    foreign = "main :is(img, script, svg, iframe, object, a[href^='javascript']), #viewer :is(img, script, svg, iframe)"
    assert page.locator(foreign).count() == 0
    assert alerts == []


def test_a_name_cannot_be_turned_around(visit: Visit) -> None:
    page = sign_in(visit, ROOT)
    visit.upload((TURNED, b"A quagga that looks like an invoice."))
    shown = page.locator("#uploads .name").text_content() or ""
    assert "\u202e" not in shown
    assert shown == "invoice\ufffdfdp.md"


def test_markup_cannot_be_made_even_by_mistake(visit: Visit) -> None:
    page = sign_in(visit, ROOT)
    refused = page.evaluate("""() => {
      try { document.createElement("p").innerHTML = "<b>x</b>"; return false; } catch (error) { return true; }
    }""")
    assert refused
    visit.problems.clear()  # the browser reports what was just tried


def test_a_wrong_token_is_asked_for_again(visit: Visit) -> None:
    visit.expected = {401}
    page = visit.page
    page.goto(visit.url + "/")
    dialog = page.locator("#sign-in")
    expect(dialog).to_be_visible()
    expect(page.locator("#token")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_be_visible()
    for wrong in ("corpus_" + "x" * 43, "with a space"):
        page.locator("#token").fill(wrong)
        page.keyboard.press("Enter")
        expect(page.locator("#sign-in-problem")).not_to_be_empty()
        expect(dialog).to_be_visible()
    page.locator("#token").fill(ROOT)
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(page.locator("#search")).to_be_visible()
    assert page.locator("#project option").all_text_contents() == ["closed", "zoo"]


def test_a_token_that_runs_out_is_asked_for_and_the_search_goes_on(visit: Visit) -> None:
    page = sign_in(visit, ROOT)
    visit.upload(("okapi.md", b"An okapi eats leaves."))
    page.get_by_role("link", name="Search", exact=True).click()
    page.evaluate("sessionStorage.setItem('corpus.token', 'corpus_gone')")
    page.locator("#query").fill("okapi")
    page.locator("#query").press("Enter")
    expect(page.locator("#sign-in-problem")).to_contain_text("not accepted")
    page.locator("#token").fill(ROOT)
    page.keyboard.press("Enter")
    expect(page.locator(".hit").first).to_contain_text("An okapi eats leaves.")


def test_nothing_of_one_person_stays_when_another_signs_in(visit: Visit) -> None:
    page = sign_in(visit, ROOT)
    page.get_by_role("link", name="Search", exact=True).click()
    page.evaluate("sessionStorage.setItem('corpus.token', 'corpus_gone')")
    page.locator("#query").fill("okapi")
    page.locator("#query").press("Enter")
    page.locator("#token").fill(READER)
    with page.expect_event("load"):
        page.keyboard.press("Enter")
    expect(page.locator("#search")).to_be_visible()
    assert page.locator("#project option").all_text_contents() == ["zoo"]


def test_the_token_stays_in_the_tab(visit: Visit) -> None:
    page = sign_in(visit, ROOT)
    assert page.evaluate("Object.values(sessionStorage)") == [ROOT]
    assert ROOT not in page.evaluate("JSON.stringify([{ ...localStorage }, document.cookie, location.href])")
    assert visit.context.cookies() == []
    other = visit.context.new_page()
    other.goto(visit.url + "/")
    expect(other.locator("#sign-in")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("#sign-in")).to_be_visible()
    assert page.evaluate("sessionStorage.length") == 0


def test_a_reader_sees_one_project_and_changes_nothing(visit: Visit) -> None:
    headers = {"Authorization": f"Bearer {ROOT}"}
    files = {"file": ("gnu.md", b"A gnu walks far.")}
    sent = httpx.post(f"{visit.url}/api/v1/documents/parse", data={"project_id": "zoo"}, files=files, headers=headers)
    assert sent.status_code == 202
    page = sign_in(visit, READER)
    assert page.locator("#project option").all_text_contents() == ["zoo"]
    expect(page.locator("#document-list")).to_contain_text("gnu.md")
    expect(page.locator("#adding")).to_be_hidden()
    expect(page.get_by_role("button", name="Delete")).to_have_count(0)
    page.goto(f"{visit.url}/#/closed/search")
    expect(page.locator("#start")).to_contain_text("no project closed here")
