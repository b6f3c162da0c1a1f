"""A visit to the page with a real browser: what it may not do is noticed, and the steps that several tests take."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, expect
from reportlab.pdfgen.canvas import Canvas

CHROMIUM = Path("/usr/bin/chromium")
PATIENCE = 60_000  # ms for a document to be processed; starting the isolated child takes most of it
expect.set_options(timeout=20_000)  # ms; other tests may keep the machine busy
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
_STATUS = re.compile(r"^Failed to load resource: the server responded with a status of (\d+)")


@dataclass(slots=True)
class Visit:
    """One page in a context of its own. `expected`: error statuses that this visit provokes; Chromium reports
    them on the console, and nothing else may stand there."""

    context: BrowserContext
    page: Page
    url: str
    expected: set[int] = field(default_factory=lambda: set[int]())
    offline: bool = False
    problems: list[str] = field(default_factory=lambda: list[str]())

    def watch(self) -> None:
        self.page.on("console", lambda message: self._console(message))
        self.page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        self.page.on("request", lambda request: self._request(request.url))
        self.page.on("crash", lambda _: self.problems.append("the page crashed"))

    def _console(self, message: ConsoleMessage) -> None:
        status = _STATUS.match(message.text)
        excused = (status and int(status[1]) in self.expected) or (self.offline and "net::ERR_" in message.text)
        if message.type in ("error", "warning") and not excused:
            self.problems.append(f"console {message.type}: {message.text} ({message.location.get('url')})")

    def _request(self, address: str) -> None:
        if not address.startswith((f"{self.url}/", "blob:" + self.url)):
            self.problems.append(f"request to {address}")

    # ------------------------------------------------------------ steps
    def open(self, project: str, view: str = "search", parameters: str = "") -> Page:
        self.page.goto(f"{self.url}/#/{project}/{view}{parameters}")
        expect(self.page.locator(f"#{view}")).to_be_visible()
        return self.page

    def choose(self, *files: tuple[str, bytes]) -> None:
        chosen = [{"name": name, "mimeType": "application/octet-stream", "buffer": data} for name, data in files]
        self.page.locator("#files").set_input_files(chosen)  # pyright: ignore[reportArgumentType]

    def row(self, name: str) -> Locator:
        """The line of an upload."""
        return self.page.locator("#uploads > li").filter(has_text=name.replace("\u202e", "\ufffd"))

    def upload(self, *files: tuple[str, bytes]) -> None:
        """Choose the files and wait until each is completed."""
        self.choose(*files)
        for name, _ in files:
            expect(self.row(name)).to_have_attribute("data-state", "completed", timeout=PATIENCE)

    def search(self, query: str) -> Locator:
        """The hits."""
        self.page.locator("#query").fill(query)
        self.page.locator("#query").press("Enter")
        expect(self.page.locator("#result-count")).not_to_be_empty()
        return self.page.locator(".hit")

    def overflow(self) -> int:
        """Pixels by which the page is wider than the window."""
        return self.page.evaluate("document.documentElement.scrollWidth - innerWidth")


def start(browser: Browser, url: str, **options: Any) -> Visit:
    context = browser.new_context(**options)
    context.set_default_timeout(30_000)
    visit = Visit(context, context.new_page(), url)
    visit.watch()
    return visit


def make_project(url: str, slug: str, token: str | None = None) -> str:
    """Its id."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = httpx.post(f"{url}/api/v1/projects", json={"slug": slug}, headers=headers)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def pdf(*pages: list[tuple[float, str]], title: str = "") -> bytes:
    """A4 pages of lines: (distance from the top in points, text). One without a full stop is a heading."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(595, 842))
    canvas.setTitle(title)
    for lines in pages:
        for top, text in lines:
            canvas.setFont(*(("Helvetica", 12) if text.endswith(".") else ("Helvetica-Bold", 20)))
            canvas.drawString(72, 842 - top - 12, text)
        canvas.showPage()
    canvas.save()
    return out.getvalue()
