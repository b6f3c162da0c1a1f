"""When things go wrong on the way: broken streams and uploads, a server that asks to wait, no network, many files."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_embedder import FakeEmbedder

from engine.registry import Claim
from engine.registry.queries import open_registry
from engine.settings import Settings, load
from serve.local import running_server

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Request, Route, expect

from tests.browser.visits import PATIENCE, Visit, make_project

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return load({"home": tmp_path_factory.mktemp("trouble"), "limits.file_mb": 1}, environ={})


@pytest.fixture(scope="module")
def server(settings: Settings) -> Iterator[str]:
    with running_server(settings, FakeEmbedder()) as url:
        make_project(url, "yard")
        make_project(url, "versions")
        yield url


def test_a_broken_event_stream_goes_on_where_it_was(visit: Visit) -> None:
    page = visit.open("yard", "documents")
    asked: list[str | None] = []

    def events(route: Route) -> None:
        asked.append(route.request.headers.get("last-event-id"))
        if len(asked) > 1:
            return route.continue_()
        body = 'id: 1\nevent: document.stage\ndata: {"data": {"stage": "fetch"}}\n\nid: 2\nevent: document.sta'
        return route.fulfill(content_type="text/event-stream", body=body)

    page.route("**/events", events)
    visit.upload(("stream.md", b"A stream that broke."))
    assert asked[:2] == [None, "1"]


def test_an_upload_that_broke_off_is_tried_again_with_its_key(visit: Visit) -> None:
    visit.offline = True  # the console tells of the broken connection
    page = visit.open("yard", "documents")
    keys: list[str] = []

    def parse(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) == 1:
            route.abort("connectionreset")
        elif len(keys) == 2:
            route.fulfill(status=429, headers={"Retry-After": "1"}, body=json.dumps({"error": {"code": "X"}}))
        else:
            route.continue_()

    visit.expected = {429}
    page.route("**/documents/parse", parse)
    visit.choose(("again.md", b"Sent until it arrived."))
    row = visit.row("again.md")
    expect(row).to_have_attribute("data-state", "failed")
    expect(row.locator(".reason")).to_contain_text("broke off")
    row.get_by_role("button", name="Try again").click()
    expect(row).to_have_attribute("data-state", "completed", timeout=PATIENCE)
    assert len(keys) == 3
    assert len(set(keys)) == 1


@pytest.mark.parametrize("megabytes", [2, 40])
def test_a_file_that_is_too_large_says_so(visit: Visit, tmp_path: Path, megabytes: int) -> None:
    visit.expected = {413}
    page = visit.open("yard", "documents")
    file = tmp_path / "large.md"
    file.write_bytes(b"word " * (megabytes * 200_000))
    page.locator("#files").set_input_files(file)
    row = visit.row("large.md")
    expect(row).to_have_attribute("data-state", "failed", timeout=PATIENCE)
    expect(row.locator(".reason")).to_contain_text("FILE_TOO_LARGE")


def test_many_files_at_once_are_sent_a_few_at_a_time(visit: Visit) -> None:
    page = visit.open("yard", "documents")
    lock = threading.Lock()
    keys: set[str] = set()
    now: set[Request] = set()
    most = {"parse": 0, "events": 0}

    def began(request: Request) -> None:
        with lock:
            now.add(request)
            if request.url.endswith("/parse"):
                keys.add(request.headers["idempotency-key"])
            for kind in most:
                most[kind] = max(most[kind], sum(one.url.endswith(f"/{kind}") for one in now))

    page.on("request", began)
    page.on("requestfinished", lambda request: now.discard(request))
    page.on("requestfailed", lambda request: now.discard(request))
    files = [(f"many-{n:02}.md", f"File number {n} of a heap.".encode()) for n in range(12)]
    visit.upload(*files)
    expect(page.locator("#uploads-summary")).to_have_text("12 of 12 files done")
    assert len(keys) == 12
    assert most == {"parse": 2, "events": 2}
    page.get_by_role("button", name="Clear finished").click()
    expect(page.locator("#uploads-area")).to_be_hidden()


def test_the_page_goes_on_by_itself_when_the_network_is_back(visit: Visit) -> None:
    page = visit.open("yard", "documents")
    visit.upload(("offline.md", b"The ferry sails at dusk."))
    page.get_by_role("link", name="Search", exact=True).click()
    visit.offline = True
    visit.context.set_offline(True)
    page.locator("#query").fill("ferry")
    page.locator("#query").press("Enter")
    expect(page.locator("#results .problem")).to_contain_text("offline")
    expect(page.locator("#banner")).to_contain_text("offline")
    visit.context.set_offline(False)
    expect(page.locator(".hit").first).to_contain_text("The ferry sails at dusk.")
    expect(page.locator("#banner")).to_be_hidden()


def test_an_error_offers_to_try_again(visit: Visit) -> None:
    visit.expected = {503}
    page = visit.open("yard")
    answer = {"error": {"code": "OVERLOADED", "message": "too many requests at once", "request_id": "abc"}}
    page.route("**/documents/search", lambda route: route.fulfill(status=503, body=json.dumps(answer)), times=1)
    page.locator("#query").fill("ferry")
    page.locator("#query").press("Enter")
    problem = page.locator("#results .problem")
    expect(problem).to_contain_text("too many requests at once")
    expect(problem).to_contain_text("OVERLOADED")
    problem.get_by_role("button", name="Try again").click()
    expect(page.locator("#result-count")).not_to_be_empty()


def test_the_list_shows_fifty_and_then_the_rest(visit: Visit, settings: Settings) -> None:
    registry = open_registry(settings)
    project = registry.project("heap", create=True).id
    registry.claim(
        [
            Claim(f"00000000-0000-4000-8000-{n:012}", project, "s", f"k{n}", f"file:///k{n}", f"heap-{n}.md", 10)
            for n in range(70)
        ]
    )
    page = visit.open("heap", "documents")
    items = page.locator("#document-list > li")
    expect(items).to_have_count(50)
    expect(page.locator("#document-count")).to_have_text("50 documents shown, there are more")
    page.get_by_role("button", name="Show more").click()
    expect(items).to_have_count(70)
    expect(items.nth(50)).to_be_focused()
    assert len(set(items.evaluate_all("list => list.map((one) => one.dataset.id)"))) == 70
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()
    page.get_by_label("Status").select_option("Completed")
    expect(page.locator("#document-state")).to_contain_text("No document has this status")


def test_files_can_be_dropped_anywhere(visit: Visit) -> None:
    page = visit.open("yard")
    page.evaluate("""() => {
      const carried = new DataTransfer();
      carried.items.add(new File(["A walrus was dropped."], "dropped.md"));
      const event = { bubbles: true, cancelable: true, dataTransfer: carried };
      document.body.dispatchEvent(new DragEvent("dragenter", event));
      document.body.dispatchEvent(new DragEvent("drop", event));
    }""")
    expect(page.locator("#documents")).to_be_visible()
    expect(visit.row("dropped.md")).to_have_attribute("data-state", "completed", timeout=PATIENCE)
    expect(page.locator("#drop")).not_to_have_class(re.compile("over"))


def test_a_file_of_the_same_name_can_be_a_new_version(visit: Visit) -> None:
    page = visit.open("versions", "documents")
    page.locator("#adding summary").click()
    page.get_by_label("A file with a name that is there already").check()
    page.get_by_label("Most tokens in a passage").fill("64")
    visit.upload(("plan.md", b"The first plan."))
    page.get_by_role("button", name="Clear finished").click()
    visit.upload(("plan.md", b"The second plan."))
    expect(page.locator("#document-list > li")).to_have_count(1)
    page.get_by_role("button", name="Open plan.md").first.click()
    expect(page.locator("#viewer-body")).to_contain_text("The second plan.")


def test_a_search_is_its_address(visit: Visit) -> None:
    page = visit.open("yard", "documents")
    visit.upload(("address.md", b"A pelican on the pier."), ("other.md", b"A pelican on the roof."))
    visit.row("address.md").get_by_role("link", name="Search in address.md").click()
    expect(page.locator("#filename")).to_have_value("address.md")
    visit.search("pelican")
    expect(page).to_have_url(re.compile(r"#/yard/search\?q=pelican&file=address.md$"))
    expect(page.locator(".hit")).to_have_count(1)
    expect(page.locator(".hit")).to_contain_text("on the pier")
    page.get_by_role("button", name="Clear filters").click()
    expect(page.locator(".hit").filter(has_text="on the roof")).to_have_count(1)
    page.go_back()
    expect(page.locator(".hit")).to_have_count(1)
    page.reload()
    expect(page.locator("#query")).to_have_value("pelican")
    expect(page.locator(".hit")).to_have_count(1)


def test_a_project_is_made_and_remembered(visit: Visit) -> None:
    visit.expected = {409}
    page = visit.open("yard")
    page.get_by_role("button", name="New project").click()
    page.get_by_label("Name", exact=True).fill("yard")
    page.keyboard.press("Enter")
    expect(page.locator("#new-project-problem")).to_contain_text("already")
    page.get_by_label("Name", exact=True).fill("made-here")
    page.keyboard.press("Enter")
    expect(page.locator("#new-project")).to_be_hidden()
    expect(page.locator("#project")).to_have_value("made-here")
    page.goto(visit.url + "/docs")
    page.goto(visit.url + "/")
    expect(page.locator("#project")).to_have_value("made-here")
