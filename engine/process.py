"""The stages of one document, as plain functions over records: prepare, look, finish (run in an isolated
child, see `handle`), embed and publish (run in its parent).

Importing this module loads neither torch nor Ray nor any parser; each stage imports its own.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from engine.document import derive
from engine.errors import Code, CorpusError, InputError, Stage
from engine.records import ChunkConfig, ExtractedDocument, Failure, Loss, PendingPage, Prepared
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.extract import Context
    from engine.isolate import Slot
    from engine.ocr import VisionEngine

EMPTY = "empty"
# Formats read in parts, each under its own deadline → the module with `page_count` and `extract_pages`.
PARTED = {"pdf": "engine.extract.pdf", "tiff": "engine.extract.image"}
PAGES_AT_A_LOOK = 8  # under one deadline; a page takes seconds
REDACTED = "pii_redaction"  # key of the metadata that says so: pictures of such a document's pages are not shown
SUPERSEDED = "superseded"  # a newer upload or a delete took the document while this attempt worked on it


@dataclass(slots=True)
class Task:
    """One request to an isolated child.

    `op`: `prepare` (whole document), `parts` (how a big one would be cut), `part` (one page range, tree
    saved at `tree_path`), `merge` (the trees at `tree_paths` become the document), `look` (vision over some
    pages that wait), `finish` (redact and chunk after that). `keep_document`: hand the full tree back, for
    callers that show it. `source_format`: of a document that comes in parts, by its first bytes.
    """

    op: str
    prepared: Prepared
    settings_json: str
    scratch: str
    path: str = ""
    depth: int = 0
    first_page: int = 0
    last_page: int = 0
    losses: list[Loss] = field(default_factory=lambda: list[Loss]())  # of op merge: what `parts` removed
    tree_path: str = ""
    tree_paths: list[str] = field(default_factory=lambda: list[str]())
    keep_document: bool = False
    language: str | None = None
    source_format: str = ""


@dataclass(slots=True)
class Answer:
    """What the child made of a task. Of op `parts`: 1-based inclusive page ranges, the sanitised file they are
    to be read from, and what was removed from it."""

    prepared: Prepared
    path: str = ""
    losses: list[Loss] = field(default_factory=lambda: list[Loss]())
    ranges: list[tuple[int, int]] = field(default_factory=lambda: list[tuple[int, int]]())


def handle(request: bytes) -> bytes:
    """The isolated child's handler: a JSON `Task` in, a JSON `Answer` out."""
    task = _tasks().validate_json(request)
    try:
        return _answers().dump_json(perform(task))
    except (PydanticSerializationError, UnicodeEncodeError) as error:
        said = InputError(f"the document's record cannot be written down: {_short(error)}")
        task.prepared.document, task.prepared.chunks = None, []
        return _answers().dump_json(Answer(failed(task.prepared, said, Stage.EXTRACT)))


@lru_cache(maxsize=1)
def _tasks() -> TypeAdapter[Task]:
    return TypeAdapter(Task)


@lru_cache(maxsize=1)
def _answers() -> TypeAdapter[Answer]:
    return TypeAdapter(Answer)


def ask(slot: Slot, task: Task) -> Answer:
    """Have the child do the task. What kills the child (deadline, memory, crash) becomes the document's failure."""
    try:
        return _answers().validate_json(slot.call(_tasks().dump_json(task)))
    except ValidationError as error:  # what the child says is not to be trusted to have the right form
        said = InputError(f"the parser gave no valid record ({error.error_count()} errors)")
        return Answer(failed(task.prepared, said, Stage.EXTRACT))
    except InputError as error:
        return Answer(failed(task.prepared, error, Stage.EXTRACT))


def perform(task: Task) -> Answer:
    """Do one task. A failure of the document is recorded on it, never raised: this is the per-document
    boundary, the only place where any exception of a parser is caught."""
    p = task.prepared
    try:
        return _OPERATIONS[task.op](task)
    except CorpusError as error:
        p.failure = Failure(error.code, error.stage or Stage.EXTRACT, error.message)
    except (MemoryError, RecursionError) as error:
        p.failure = Failure(Code.LIMIT_EXCEEDED, Stage.EXTRACT, f"the document exhausts {exhausted(error)}")
    except Exception as error:  # noqa: BLE001 - parsers raise anything; it becomes this document's record
        p.failure = Failure(Code.EXTRACTION_FAILED, Stage.EXTRACT, f"{type(error).__name__}: {_short(error)}")
    p.document, p.chunks = None, []
    return Answer(p)


def exhausted(error: BaseException) -> str:
    """What a MemoryError or RecursionError says is used up."""
    return "the stack by its nesting" if isinstance(error, RecursionError) else "memory"


def _short(error: BaseException, limit: int = 300) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= limit else text[:limit] + "…"


# ---------------------------------------------------------------- in the child
@lru_cache(maxsize=2)
def _settings(encoded: str) -> Settings:
    return Settings.model_validate_json(encoded)


@contextmanager
def timed(p: Prepared, stage: Stage) -> Generator[None]:
    """Add the wall seconds of the block to the document's account of `stage`."""
    start = time.monotonic()
    try:
        yield
    except CorpusError as error:
        error.stage = error.stage or stage
        raise
    finally:
        p.seconds[stage] = p.seconds.get(stage, 0.0) + time.monotonic() - start


def _detect(task: Task, settings: Settings) -> str:
    from engine.detect import detect

    p = task.prepared
    with timed(p, Stage.DETECT):
        if Path(task.path).stat().st_size == 0:
            p.skip_reason = EMPTY
            return ""
        return detect(Path(task.path), p.filename, settings).format


def _prepare(task: Task) -> Answer:
    settings = _settings(task.settings_json)
    source_format = _detect(task, settings)
    if task.prepared.skip_reason:
        return Answer(task.prepared)
    _extract(task, settings, source_format)
    if not _waits(task.prepared, settings):
        _finish(task, settings)
    return Answer(task.prepared)


def _extract(task: Task, settings: Settings, source_format: str) -> None:
    from engine.extract import extract
    from engine.sanitize import sanitize

    p, scratch = task.prepared, Path(task.scratch)
    with timed(p, Stage.SANITIZE):
        path, losses = sanitize(Path(task.path), source_format, scratch, settings)
    with timed(p, Stage.EXTRACT):
        document = extract(path, _context(task, settings, source_format))
        _adopt(task, document, losses)


def _adopt(task: Task, document: ExtractedDocument, losses: list[Loss]) -> None:
    """Make an extracted document the task's own: what sanitising removed comes first in its loss report, what is only
    decoration goes, what can be read on the other pictures is added."""
    from engine.extract.picture_text import read_pictures
    from engine.language import language_of
    from engine.sanitize.decoration import drop_decoration

    document.warnings[:0] = losses
    settings = _settings(task.settings_json)
    drop_decoration(document, settings)
    read_pictures(document, Path(task.scratch), settings)
    meta = document.metadata
    if meta.language == "und":
        meta.language = task.language or language_of(document.content)
    task.prepared.document = document


def _waits(p: Prepared, settings: Settings) -> bool:
    """Whether the parent has something to ask before the document can be finished."""
    return _waits_for_vision(p, settings) or waits_for_headings(p, settings)


def waits_for_headings(p: Prepared, settings: Settings) -> bool:
    """Whether a language model is to be asked about headings in doubt."""
    if p.document is None or not settings.extraction.headings_by_model:
        return False
    from engine.extract.pdf.heading_model import has_doubts

    return has_doubts(p.document)


def _waits_for_vision(p: Prepared, settings: Settings) -> bool:
    return bool(p.document and p.document.pending) and settings.ocr.vision != "off"


@lru_cache(maxsize=1)
def _vision(encoded: str) -> VisionEngine:
    from engine.ocr import vision_engine

    return vision_engine(_settings(encoded))


def _look(task: Task) -> Answer:
    """Vision in the child, with the local engine, over some of the pages; the caller asks until none waits."""
    look(task.prepared, _vision(task.settings_json), PAGES_AT_A_LOOK)
    return Answer(task.prepared)


def look(p: Prepared, engine: VisionEngine, at_most: int | None = None) -> None:
    """Let a vision engine read pages that wait, one by one. A page it fails on keeps what Tesseract read."""
    from engine.extract.scans import apply_vision

    document = p.document
    assert document is not None
    with timed(p, Stage.VISION):
        pages = document.pending[:at_most]
        for page in pages:
            try:
                apply_vision(document, page, engine.read(Path(page.image_path), page.reading))
            except CorpusError as error:
                leave(document, page, error.message)
        document.pending = [page for page in document.pending if page not in pages]
        derive(document)


def leave(document: ExtractedDocument, page: PendingPage, reason: str) -> None:
    """Let a page keep what Tesseract read, and say so."""
    document.warnings.append(Loss("vision_failed", reason, f"page {page.page_number}"))


def _complete(task: Task) -> Answer:
    _finish(task, _settings(task.settings_json))
    return Answer(task.prepared)


def _finish(task: Task, settings: Settings) -> None:
    finish(task.prepared, settings)
    document = task.prepared.document
    if document is None:
        return
    if not task.keep_document:
        slim(document)
        return
    from engine.sanitize.pictures import clean_pictures

    with timed(task.prepared, Stage.SANITIZE):
        clean_pictures(document, Path(task.scratch), settings.limits)


def finish(p: Prepared, settings: Settings) -> None:
    """Redact if asked, then chunk. A document without any text ends skipped as empty; one that shows
    something nobody could read fails (OCR_FAILED)."""
    from engine.chunk.make import make_chunks
    from engine.embed.make import model_limits
    from engine.ocr import check_read
    from engine.suspicious import flag_suspicious

    document = p.document
    assert document is not None
    with timed(p, Stage.OCR):
        check_read(document)
    flag_suspicious(document)
    if settings.security.pii_redaction:
        from engine.redact import redact

        with timed(p, Stage.REDACT):
            p.redactions = redact(document, settings)
        document.metadata.extra[REDACTED] = "on"
    with timed(p, Stage.CHUNK):
        config = ChunkConfig(**settings.chunking.model_dump())
        p.chunks = make_chunks(document, p.document_id, config, model_limits(settings), settings)
    if not p.chunks and not document.attached:
        p.skip_reason = EMPTY


def slim(document: ExtractedDocument) -> None:
    """Drop what no later stage reads: the tree, the content and the pictures; facts and losses stay."""
    document.structure, document.content, document.spans = [], "", []
    document.tables, document.images = [], []
    for page in document.pages:
        page.content, page.tables, page.images = "", [], []


# ---------------------------------------------------------------- big documents, in the child
def _parts(task: Task) -> Answer:
    """Page ranges when the document is a big PDF or a TIFF of many pages, else none."""
    settings = _settings(task.settings_json)
    if _detect(task, settings) != task.source_format:
        return Answer(task.prepared)
    reader = import_module(PARTED[task.source_format])
    pages = int(reader.page_count(Path(task.path), _context(task, settings, task.source_format)))
    size = settings.pipeline.part_pages if task.source_format == "pdf" else PAGES_AT_A_LOOK
    if pages > settings.limits.pages:
        raise InputError(
            f"{pages} pages pass the limit of {settings.limits.pages} (setting limits.pages)",
            Code.LIMIT_EXCEEDED,
            Stage.EXTRACT,
            {"limit": "pages", "value": settings.limits.pages},
        )
    if pages <= size:
        return Answer(task.prepared)
    from engine.sanitize import sanitize

    with timed(task.prepared, Stage.SANITIZE):
        path, losses = sanitize(Path(task.path), task.source_format, Path(task.scratch), settings)
    ranges = [(first, min(first + size - 1, pages)) for first in range(1, pages + 1, size)]
    return Answer(task.prepared, str(path), losses, ranges)


def _context(task: Task, settings: Settings, source_format: str) -> Context:
    from engine.extract import Context

    passwords = [s.get_secret_value() for s in settings.password]
    return Context(
        source_format, task.prepared.filename, settings, Path(task.scratch), task.language, passwords, task.depth
    )


def _part(task: Task) -> Answer:
    from engine.schema import dump_document

    settings, p = _settings(task.settings_json), task.prepared
    with timed(p, Stage.EXTRACT):
        context = _context(task, settings, task.source_format)
        reader = import_module(PARTED[task.source_format])
        document = reader.extract_pages(Path(task.path), context, task.first_page, task.last_page)
    Path(task.tree_path).write_bytes(dump_document(document))
    return Answer(task.prepared)


def _merge(task: Task) -> Answer:
    from engine.document import merge
    from engine.schema import load_document

    settings, p = _settings(task.settings_json), task.prepared
    with timed(p, Stage.EXTRACT):
        document = merge([load_document(Path(path).read_bytes()) for path in task.tree_paths], settings.limits)
        _adopt(task, document, task.losses)
    if not _waits(p, settings):
        _finish(task, settings)
    return Answer(task.prepared)


_OPERATIONS = {"prepare": _prepare, "look": _look, "finish": _complete, "parts": _parts, "part": _part, "merge": _merge}


# ---------------------------------------------------------------- outcomes
def failed(p: Prepared, error: CorpusError, stage: Stage) -> Prepared:
    """`p` with the error recorded on it."""
    p.failure = Failure(error.code, error.stage or stage, error.message)
    return p


def total_chunks(group: Sequence[Prepared]) -> int:
    return sum(len(p.chunks) for p in group)
