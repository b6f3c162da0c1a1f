"""Reads a judged set of PDFs by geometry alone and with the layout model, for `fit_router`."""

from __future__ import annotations

import importlib.util
import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.document import to_markdown
from engine.extract import Context
from engine.extract.pdf import document as reader
from engine.extract.pdf import headings
from engine.extract.pdf.blocks import PageLayout, TextBlock
from engine.extract.pdf.confidence import Doubts, page_doubts
from engine.extract.pdf.heading_chance import model_odds
from engine.extract.pdf.layout_model import regions
from engine.extract.pdf.looks import Looks, page_looks
from engine.extract.pdf.mupdf import pymupdf
from engine.extract.pdf.profile import DocumentProfile
from engine.settings import Settings

MEASURE = {"pages": "overall", "tables": "tables"}  # folder → what counts there
MAX_CELLS = 150
AGAIN = 0.3  # share of a page's geometry that is done anew once the model has spoken


@dataclass(slots=True)
class Judged:
    """A block of text: how it looks, what the model says (log-odds), and whether the truth has it as a heading."""

    text: str
    looks: Looks
    odds: float = 0.0
    is_heading: bool = False


@dataclass(slots=True)
class Sample:
    """One document read both ways. `seconds`: CPU of plain text, of geometry, of the model's share."""

    folder: str
    name: str
    layout: PageLayout
    lines: int
    blocks: list[Judged]  # by geometry alone
    guided: list[Judged]  # with the model
    without: float
    with_model: float
    seconds: tuple[float, float, float]
    has_truth: bool  # about headings

    @property
    def gain(self) -> float:
        return self.with_model - self.without


@dataclass
class Recorder:
    """Stands in the reader for the router and the model: forces the way, and keeps what passes by."""

    cache: dict[Any, Any]
    asked: bool = False
    layout: PageLayout | None = None
    lines: int = 0
    seconds: float = 0.0
    blocks: list[Judged] = field(default_factory=lambda: list[Judged]())

    def __post_init__(self) -> None:
        self._regions, self._looks = regions, page_looks
        reader.regions, reader.wants_model, reader.page_doubts = self.regions, self.wants_model, self.page_doubts
        headings.page_looks = self.page_looks

    def page_looks(self, layout: PageLayout, profile: DocumentProfile) -> list[Looks | None]:
        found = self._looks(layout, profile)
        for block, looks in zip(layout.blocks, found, strict=True):
            if looks is not None and isinstance(block, TextBlock):
                self.blocks.append(Judged(block.text, looks, model_odds(block.lines) or 0.0))
        return found

    def page_doubts(self, layout: PageLayout, profile: DocumentProfile) -> Doubts:
        self.layout = layout
        return page_doubts(layout, profile)

    def wants_model(self, _profile: str, _doubts: Doubts, lines: int) -> bool:
        self.lines = lines
        if self.asked:
            self.blocks.clear()
        return self.asked

    def regions(self, page: Any) -> Any:
        key = (page.parent.name, page.number)
        if key not in self.cache:
            start = time.process_time()
            found = self._regions(page)
            self.cache[key] = (found, time.process_time() - start)
        found, seconds = self.cache[key]
        self.seconds += seconds
        return found

    def read(self, path: Path, asked: bool, settings: Settings, scratch: Path) -> tuple[str, float]:
        """Markdown and CPU seconds of one document, model or not."""
        self.asked, self.seconds, self.layout, self.blocks = asked, 0.0, None, []
        start = time.process_time()
        document = reader.extract(path, Context("pdf", path.name, settings, scratch))
        return to_markdown(document), time.process_time() - start


def samples(
    corpus: Path, scorer: Path, cache: dict[Any, Any], prepare: Callable[[str], None] = lambda name: None
) -> list[Sample]:
    """Every document of the set that reached the router and has a truth that counts. Fills `cache`.

    `prepare` is called with a document's name before it is read, to set the weights that it is read with.
    """
    score = _scorer(scorer)
    recorder = Recorder(cache)
    found: list[Sample] = []
    with tempfile.TemporaryDirectory() as scratch:
        for folder, measure in MEASURE.items():
            for path in sorted((corpus / folder / "pdfs").glob("*.pdf")):
                truth = corpus / folder / "gt" / f"{path.stem}.md"
                prepare(path.stem)
                sample = _sample(path, truth, measure, recorder, score, Path(scratch))
                if sample is not None:
                    found.append(sample)
    return found


def _sample(path: Path, truth: Path, measure: str, recorder: Recorder, score: Any, scratch: Path) -> Sample | None:
    settings = Settings()
    settings.extraction.profile = "balanced"
    written = scratch / truth.name
    results: list[float] = []
    spent: list[float] = []
    blocks: list[list[Judged]] = []
    titles = {_key(t) for t in re.findall(r"^#+ (.*)$", truth.read_text("utf-8"), re.MULTILINE)}
    for asked in (False, True):
        markdown, seconds = recorder.read(path, asked, settings, scratch)
        written.write_text(markdown, "utf-8")
        scores = score((truth, written, MAX_CELLS))
        if measure not in scores or recorder.layout is None:
            return None
        results.append(scores[measure])
        spent.append(seconds)
        blocks.append(recorder.blocks)
        for block in recorder.blocks:
            block.is_heading = _is_title(_key(block.text), titles)
    cost = (_plain(path), spent[0], recorder.seconds + AGAIN * spent[0])
    layout = recorder.layout
    assert layout is not None
    # the doubts of the first pass were of the first layout; the second pass made the same one before it asked
    return Sample(path.parent.parent.name, path.stem, layout, recorder.lines, blocks[0], blocks[1], results[0],
                  results[1], cost, path.parent.parent.name == "pages")  # fmt: skip


def _key(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def _is_title(key: str, titles: set[str]) -> bool:
    """Equal, or one begins with the other: titles broken over two lines are cut in some truths."""
    long = len(key) > 6
    return bool(key) and any(
        key == t or (long and len(t) > 6 and (t.startswith(key) or key.startswith(t))) for t in titles
    )


def _scorer(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("scorer", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"not a Python file: {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.score


def _plain(path: Path) -> float:
    with pymupdf.open(path) as document:
        start = time.process_time()
        for page in document:
            page.get_text()
        return time.process_time() - start
