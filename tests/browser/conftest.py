"""The browser, the server and one visit a test; a visit that broke a rule fails its test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser.visits import Visit


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium. Closed after each module: Playwright's loop in this thread would disturb other tests."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    from tests.browser.visits import CHROMIUM

    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is missing: apt-get install chromium")
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with driver.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=str(CHROMIUM), args=options)
        yield chromium
        chromium.close()


@pytest.fixture
def visits(browser: Browser, server: str) -> Iterator[Callable[..., Visit]]:
    """Makes visits to the module's server; what they did wrong is told at the end."""
    from tests.browser.visits import start

    made: list[Visit] = []

    def make(**options: Any) -> Visit:
        made.append(start(browser, server, **options))
        return made[-1]

    yield make
    for visit in made:
        visit.context.close()
    assert [problem for visit in made for problem in visit.problems] == []


@pytest.fixture
def visit(visits: Callable[..., Visit]) -> Visit:
    return visits()
