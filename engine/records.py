"""The records that stages exchange. Plain dataclasses: no behaviour beyond small derived values.

Boxes are in points (1/72 inch), origin at the top left of the page as a reader sees it.
Page numbers are 1-based. Character spans are half-open [start, end) over `ExtractedDocument.content`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from pydantic import ConfigDict


# ---------------------------------------------------------------- extraction (the IR)
@dataclass(slots=True)
class Box:
    """A rectangle on a page, in points from the page's top left."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(slots=True)
class Loss:
    """One entry of a document's loss report: something dropped, cut, skipped or replaced.

    `code` is a short snake_case kind (e.g. `image_skipped`, `macro_removed`, `page_ocr_low_confidence`),
    `place` a human-readable position (`page 3`, `sheet Prices`), `count` how often.
    """

    code: str
    message: str
    place: str = ""
    count: int = 1


@dataclass(slots=True)
class TableCell:
    """One cell at its origin (0-based row and column, header rows included), with its spans."""

    row: int
    col: int
    text: str
    rowspan: int = 1
    colspan: int = 1
    header: bool = False


@dataclass(slots=True)
class ExtractedTable:
    """A table. `headers` + `rows` is the flat view (a merged cell's text stands at its origin only);
    `cells` is the exact one, rows counted from the first header row."""

    headers: list[str]
    rows: list[list[str]]
    page_number: int | None = None
    caption: str | None = None
    cells: list[TableCell] = field(default_factory=list)
    box: Box | None = None
    table_id: str = ""


@dataclass(slots=True)
class ExtractedImage:
    """A picture inside a document. `data` may be empty when only its place and texts are kept."""

    __pydantic_config__ = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")  # for engine.schema's codecs

    data: bytes = field(repr=False)
    mime_type: str
    caption: str | None = None
    alt_text: str | None = None
    page_number: int | None = None
    box: Box | None = None
    image_id: str = ""


@dataclass(slots=True)
class StructureElement:
    """A node of the one tree per document, in source order.

    `type`: heading, paragraph, list, list_item, code, table, image, caption, note (footnotes and
    endnotes), comment, page_header, page_footer, speaker_notes, ocr_page (children: what OCR read).
    A heading owns everything below it until the next heading of its level or higher.
    `level`: heading 1-6, or list nesting depth from 1. For `code`, `attributes["language"]`.
    A `table` carries `table`; an `image` carries `image`.
    """

    type: str
    level: int | None
    content: str
    children: list[StructureElement] = field(default_factory=lambda: list[StructureElement]())
    page_number: int | None = None
    box: Box | None = None
    table: ExtractedTable | None = None
    image: ExtractedImage | None = None
    method: str = "text"  # text, ocr or vision: how this text was read
    attributes: dict[str, str] = field(default_factory=lambda: dict[str, str]())


@dataclass(slots=True)
class ExtractedPage:
    page_number: int
    content: str
    tables: list[ExtractedTable] = field(default_factory=lambda: list[ExtractedTable]())
    images: list[ExtractedImage] = field(default_factory=lambda: list[ExtractedImage]())
    ocr_confidence: float | None = None  # 0..1; None when no OCR was needed
    ocr_engine: str | None = None
    width: float | None = None  # points
    height: float | None = None
    layout: str | None = None  # how a PDF page's blocks were found: geometry, model; None elsewhere


@dataclass(slots=True)
class DocumentMetadata:
    title: str | None = None
    author: str | None = None
    created_date: datetime | None = None
    modified_date: datetime | None = None
    page_count: int | None = None
    word_count: int = 0
    language: str = "und"  # ISO 639-1, "und" when it cannot be told
    headings: list[str] = field(default_factory=lambda: list[str]())
    source_format: str = ""
    extra: dict[str, str] = field(default_factory=lambda: dict[str, str]())


@dataclass(slots=True)
class ChildDocument:
    """A document found inside another (attachment, archive member), as a file in scratch.

    `inner_path` is its path inside the parent, unique there; `path` the scratch file to process.
    `error` is set instead of `path` when the member could not be taken out (encrypted, over a limit).
    """

    inner_path: str
    filename: str
    path: str = ""
    error_code: str = ""
    error_message: str = ""


@dataclass(slots=True)
class PendingPage:
    """A page whose text is still wanted from a vision engine: its rendered picture in scratch, turned upright.

    `to_page`: the affine map (a, b, c, d, e, f: x' = ax + cy + e, y' = bx + dy + f) from its pixels to points of
    the page; None where the picture is the page as it stands. `reading`: what Tesseract read, in its pixels.
    """

    page_number: int
    image_path: str
    width: float  # points, of the page
    height: float
    ocr_confidence: float | None  # what Tesseract reached, None when it was not run
    to_page: tuple[float, float, float, float, float, float] | None = None
    reading: OcrResult | None = None


@dataclass(slots=True)
class ExtractedDocument:
    """Everything known of one document after extraction. Build it with `engine.document.Builder`."""

    content: str
    pages: list[ExtractedPage]
    tables: list[ExtractedTable]
    images: list[ExtractedImage]
    metadata: DocumentMetadata
    structure: list[StructureElement]
    warnings: list[Loss] = field(default_factory=lambda: list[Loss]())
    attached: list[ChildDocument] = field(default_factory=lambda: list[ChildDocument]())
    pending: list[PendingPage] = field(default_factory=lambda: list[PendingPage]())
    spans: list[Span] = field(default_factory=lambda: list[Span]())


@dataclass(slots=True)
class Span:
    """A leaf of the tree laid over `content`: what chunkers work on, in source order.

    `content[start:end]` is its text exactly as rendered (Markdown: `## ` for headings, `- ` for list
    items, fences for code, pipe rows for tables). `section_path`: headings above it, outermost first;
    a heading span's own text is the last entry of its own path.
    """

    type: str
    start: int
    end: int
    section_path: list[str]
    level: int | None = None
    page_number: int | None = None
    box: Box | None = None
    method: str = "text"
    table: ExtractedTable | None = None
    language: str | None = None  # of code


# ---------------------------------------------------------------- OCR
@dataclass(slots=True)
class OcrWord:
    """One recognised word and its place, in pixels of the picture given; confidence 0..1."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    confidence: float = 1.0


@dataclass(slots=True)
class OcrLine:
    """One recognised line. `box` in pixels of the picture given, confidence 0..1.

    `paragraph` numbers the layout block it belongs to, in reading order. `words`: empty where the engine tells
    no places of words. `engine`: which one read it, where a reading is put together from two.
    """

    text: str
    confidence: float
    x0: float
    y0: float
    x1: float
    y1: float
    paragraph: int = 0
    words: list[OcrWord] = field(default_factory=lambda: list[OcrWord]())
    engine: str = ""


@dataclass(slots=True)
class OcrResult:
    """What an OCR or vision engine read on one picture: lines in reading order, and the confidence
    of the whole (mean over lines weighted by text length, 0 when nothing was read)."""

    lines: list[OcrLine]
    confidence: float
    engine: str


# ---------------------------------------------------------------- chunks
@dataclass(slots=True)
class ChunkConfig:
    """How to chunk. Token limits count in cl100k_base; the embedding model's own limit binds as well."""

    strategy: str = "auto"  # auto, semantic, fixed, sliding, recursive, or a plug-in's name
    max_tokens: int = 512
    overlap_tokens: int = 64
    respect_structure: bool = True
    include_headings: bool = True


@dataclass(slots=True)
class Relation:
    """An edge from a chunk to another chunk or asset (seed 2's `connect_to`)."""

    target: str
    relation: str  # embeds or related
    ref: str
    position: int


@dataclass(slots=True)
class ChunkMetadata:
    page_numbers: list[int]
    section_heading: str | None
    section_path: list[str]
    chunk_index: int
    total_chunks: int
    element_type: str  # text, table, code, image_caption
    chunk_type: str  # text, image, table
    source_format: str
    extraction_method: str  # text, ocr, vision, mixed
    char_start: int
    char_end: int
    boxes: list[Box] = field(default_factory=lambda: list[Box]())
    table_rows: tuple[int, int] | None = None  # first and last body row covered, 0-based
    acl: list[str] = field(default_factory=lambda: list[str]())
    summary: str = ""
    keywords: list[str] = field(default_factory=lambda: list[str]())
    connect_to: list[Relation] = field(default_factory=lambda: list[Relation]())


@dataclass(slots=True)
class Chunk:
    """A passage. `content` = heading prefix + text; `prefix_length` says where the text begins.

    `lexical_prefix` (heading, sentence before) is added for the sparse channels only.
    """

    chunk_id: str
    document_id: str
    content: str
    content_hash: str  # SHA-256 hex of the normalised text without prefix
    token_count: int  # cl100k_base, of content
    embed_token_count: int  # in the embedding model's tokenizer, special tokens and model prefix included
    metadata: ChunkMetadata
    prefix_length: int = 0
    lexical_prefix: str = ""


# ---------------------------------------------------------------- the way through the pipeline
@dataclass(slots=True)
class SourceItem:
    """One row of a manifest: an object to look at. `key` is relative to the source's root."""

    project_id: str
    source: str
    key: str
    uri: str
    size: int
    etag: str = ""
    mtime: float | None = None  # seconds since the epoch
    known_generation: int = 0  # with known_sha256: of the row it was read from
    known_sha256: str = ""  # of the published bytes, when only the bytes can tell whether anything changed
    problem: str = ""  # why it cannot be read, when the listing already found out


@dataclass(slots=True)
class Redaction:
    """One entry of the redaction audit: what kind of personal data stood where, never the data.

    `position`: characters from the start of `place`, which is `content` (the redacted document's) or, for text
    outside it, `metadata.title`, `page_header`, `image alt text`, ...
    """

    type: str
    position: int
    place: str = "content"


@dataclass(slots=True)
class Failure:
    code: str
    stage: str
    message: str


@dataclass(slots=True)
class Prepared:
    """One document on its way: identity, then whatever the stages have found so far.

    Exactly one of these holds at the end of PREPARE: `failure` is set, `skip_reason` is set, or
    `chunks` are there (or wait for `document.pending` pages).
    """

    document_id: str
    project_id: str
    source: str
    key: str
    uri: str
    filename: str
    size: int
    etag: str = ""
    mtime: float | None = None
    parent_id: str | None = None
    inner_path: str = ""
    content_sha256: str = ""
    fingerprint: str = ""
    generation: int = 0
    document: ExtractedDocument | None = None
    chunks: list[Chunk] = field(default_factory=lambda: list[Chunk]())
    failure: Failure | None = None
    skip_reason: str = ""
    seconds: dict[str, float] = field(default_factory=lambda: dict[str, float]())
    child_ids: list[str] = field(default_factory=lambda: list[str]())  # of the documents found directly inside
    redactions: list[Redaction] = field(default_factory=lambda: list[Redaction]())

    @property
    def revision(self) -> str:
        """Same bytes, same options → same revision, so that a repeated publish is the same write."""
        return f"{self.content_sha256[:16]}{self.fingerprint[:16]}"


@dataclass(slots=True)
class Outcome:
    """How one input ended; the rows of the run report. `status`: published, skipped or failed."""

    run_id: str
    document_id: str
    project_id: str
    source: str
    key: str
    parent_id: str | None
    status: str
    reason: str = ""  # of a skip: unchanged, empty, duplicate_key, superseded, deleted
    code: str = ""
    stage: str = ""
    message: str = ""
    source_format: str = ""
    bytes: int = 0
    pages: int = 0
    chunks: int = 0
    embedded: int = 0
    reused: int = 0
    tokens: int = 0
    warnings: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: dict[str, float]())
    cost: float = 0.0
