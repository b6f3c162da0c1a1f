"""How the page's files are served, and that they keep their rules. Needs no browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from engine.extract import EXTRACTORS
from serve import ui

FOLDER = Path(ui.__file__).parent
SCRIPTS = sorted(FOLDER.glob("*.js"))
PAGES = ["index.html", "docs.html"]


@pytest.fixture(scope="module")
def client() -> TestClient:
    app = FastAPI(docs_url=None)
    app.include_router(ui.router)
    return TestClient(app)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/docs", "text/html; charset=utf-8"),
        ("/ui/app.js", "text/javascript; charset=utf-8"),
        ("/ui/app.css", "text/css; charset=utf-8"),
        ("/ui/icon.svg", "image/svg+xml"),
    ],
)
def test_each_answer_has_its_type_the_policy_and_a_tag(client: TestClient, path: str, kind: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == kind
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "data:" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-cache"
    again = client.get(path, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == answer.headers["etag"]
    assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
    head = client.head(path)
    assert (head.status_code, head.content) == (200, b"")


@pytest.mark.parametrize(
    "path",
    ["/ui/__init__.py", "/ui/index.html", "/ui/nothing.js", "/ui/..%2f__init__.py", "/ui/%2e%2e/deps.py", "/ui/"],
)
def test_nothing_else_is_served(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_the_pages_are_not_in_the_description() -> None:
    app = FastAPI(docs_url=None)
    app.include_router(ui.router)
    assert app.openapi()["paths"] == {}


@pytest.mark.parametrize("name", PAGES)
def test_pages_hold_no_inline_code_and_name_no_other_host(name: str) -> None:
    text = (FOLDER / name).read_text()
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:|https?://|src=\"//", text)
    assert re.findall(r"<script[^>]*>(.*?)</script>", text, re.S) == [""]
    for target in re.findall(r'(?:src|href)="(ui/[^"]+)"', text):
        assert (FOLDER / target.removeprefix("ui/")).is_file(), target


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_make_no_markup_and_no_code_from_text(script: Path) -> None:
    text = script.read_text()
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|srcdoc|https?://"
    )
    assert not re.search(forbidden, text)
    for target in re.findall(r'from "\./([^"]+)"', text):
        assert (FOLDER / target).is_file(), target


def test_the_page_loads_all_its_modules_at_once() -> None:
    """Each module that app.js needs, directly or not, is preloaded: no chain of requests."""
    needed: set[str] = set()
    waiting = ["app.js"]
    while waiting:
        found = re.findall(r'from "\./([^"]+)"', (FOLDER / waiting.pop()).read_text())
        waiting += [name for name in found if name not in needed]
        needed |= set(found)
    preloaded = re.findall(r'modulepreload" href="ui/([^"]+)"', (FOLDER / "index.html").read_text())
    assert sorted(preloaded) == sorted(needed)


def test_the_format_filter_offers_what_the_engine_extracts() -> None:
    listed = re.search(r"FORMATS = \((.*?)\)\.split", (FOLDER / "search.js").read_text(), re.S)
    assert listed
    assert re.findall(r"\w+", listed[1]) == sorted(EXTRACTORS)
