"""Reads a PDF, whole or a range of its pages, into the document tree."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from engine.document import Builder
from engine.errors import Code, InputError, Stage
from engine.extract import Context
from engine.extract.pdf.assemble import add_page, add_scan
from engine.extract.pdf.attachments import take_attachments
from engine.extract.pdf.blocks import PageLayout
from engine.extract.pdf.confidence import page_doubts
from engine.extract.pdf.furniture import REACH, MarginKeys, margin_keys, take_furniture, take_line_numbers
from engine.extract.pdf.guided import guide
from engine.extract.pdf.headings import OutlineEntry, PageHeadings, page_headings
from engine.extract.pdf.layout import layout_page
from engine.extract.pdf.layout_model import LayoutModelError, regions
from engine.extract.pdf.model import PageModel
from engine.extract.pdf.mupdf import MUPDF_ERRORS, Document, open_document, release_memory
from engine.extract.pdf.pictures import PictureStore
from engine.extract.pdf.profile import SAMPLE_PAGES, DocumentProfile, document_profile, sample_numbers
from engine.extract.pdf.properties import read_metadata, read_outline
from engine.extract.pdf.read import read_page
from engine.extract.pdf.rejoined import rejoined
from engine.extract.pdf.router import admits, wants_model
from engine.extract.pdf.scan import ScanPolicy, read_scan, wants_ocr
from engine.extract.pdf.tagged import TaggedHeadings
from engine.ocr.pages import UNREAD
from engine.records import ExtractedDocument


def page_count(path: Path, context: Context) -> int:
    """Pages of the document, without reading them. Raises InputError as `extract` does."""
    document = open_document(path, context.passwords)
    try:
        return document.page_count
    finally:
        document.close()


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read a whole PDF. Raises InputError: ENCRYPTED_DOCUMENT, EXTRACTION_FAILED, LIMIT_EXCEEDED."""
    return extract_pages(path, context, 1, None)


def extract_pages(path: Path, context: Context, first: int, last: int | None) -> ExtractedDocument:
    """Read pages `first` to `last` (1-based, both included; None: to the end).

    What holds for the whole document (body size, heading levels, bookmarks, running headers) is taken
    from the whole document, so that parts agree with each other. Attachments and properties come with
    the part that has page 1.
    """
    document = open_document(path, context.passwords)
    try:
        builder = context.builder()
        if document.page_count > context.settings.limits.pages:
            raise InputError(
                f"the document has {document.page_count} pages, more than the limit of "
                f"{context.settings.limits.pages} (setting limits.pages)",
                Code.LIMIT_EXCEEDED,
                Stage.EXTRACT,
                {"limit": "pages", "value": context.settings.limits.pages},
            )
        builder.metadata.page_count = document.page_count
        read_metadata(document, builder.metadata)
        if first == 1:
            take_attachments(document, builder, context)
        if document.is_repaired:
            builder.warn("file_repaired", "the file is damaged and was repaired while reading")
        _PageReader(document, builder, context).read(first, min(last or document.page_count, document.page_count))
        unread = any(loss.code in UNREAD for loss in builder.warnings)
        if document.is_repaired and not builder.roots and not builder.attached and not unread:
            raise InputError("the file is damaged and nothing could be read from it", stage=Stage.EXTRACT)
        return builder.finish()
    finally:
        document.close()
        release_memory()


@dataclass(slots=True)
class _PageReader:
    """Pages of one document on their way into a builder. Keeps models of the few pages around the current one."""

    document: Document
    builder: Builder
    context: Context
    _models: OrderedDict[int, PageModel] = field(default_factory=lambda: OrderedDict[int, PageModel]())
    _tagged: TaggedHeadings = field(init=False)
    _no_model: bool = False  # the layout model is not installed
    _margins: dict[int, MarginKeys] = field(default_factory=lambda: dict[int, MarginKeys]())

    def __post_init__(self) -> None:
        self._tagged = TaggedHeadings(self.document)

    def read(self, first: int, last: int) -> None:
        profile = self._profile()
        self.builder.metadata.extra["document_kind"] = profile.kind
        outline = read_outline(self.document, self.builder)
        store = PictureStore(self.document, self.builder)
        policy = ScanPolicy(self.document, self.context.settings)
        for number in range(first, last + 1):
            margins = [self._margin_keys(n) for n in self._around(number)]
            model = self._model(number)
            self._models.pop(number, None)
            self._one_page(model, margins, profile, outline.get(number, []), store, policy)
            self._margins.pop(number - REACH - 1, None)

    def _one_page(
        self,
        model: PageModel,
        margins: list[MarginKeys],
        profile: DocumentProfile,
        outline: list[OutlineEntry],
        store: PictureStore,
        policy: ScanPolicy,
    ) -> None:
        builder, number = self.builder, model.number
        builder.start_page(number, round(model.width, 2), round(model.height, 2))
        if wants_ocr(model, self.context.settings):
            page = self.document[number - 1]
            element = read_scan(page, model, builder, self.context, policy)
            if element is not None:
                add_scan(builder, model, element, outline)
                return
        if model.hidden_characters and not model.pictures:
            builder.warn("hidden_text", "text that the page does not show", f"page {number}", model.hidden_characters)
        if model.graphics_skipped:
            builder.warn(
                "drawings_skipped", "drawings or images cannot be looked at, or are too many", f"page {number}"
            )
        numbered = take_line_numbers(model)
        if numbered:
            builder.warn("line_numbers_dropped", "a column of line numbers was left out", f"page {number}", numbered)
        furniture = take_furniture(model, margins, {entry.key for entry in outline if entry.key})
        layout, headings = self._layout(model, profile, outline)
        wanted = self.context.settings.extraction
        keep = wanted.furniture == "keep"
        add_page(builder, layout, headings, furniture, store, keep, wanted.headings_by_model)

    # ------------------------------------------------------------ layout
    def _layout(
        self, model: PageModel, profile: DocumentProfile, outline: list[OutlineEntry]
    ) -> tuple[PageLayout, PageHeadings]:
        """The page's blocks and headings by geometry, then by the layout model too where that is worth its cost."""
        runs = list(model.runs)
        layout = layout_page(model, profile)
        tagged = self._tagged.on_page(model.number)
        headings = page_headings(layout, profile, outline, tagged)
        page = self.builder.pages[model.number]
        page.layout = "geometry"
        wanted = self.context.settings.extraction.profile
        if wanted == "fast" or self._no_model or not admits(model):
            return layout, headings
        if not wants_model(wanted, page_doubts(layout, profile), len(runs)):
            return layout, headings
        model.runs = runs
        if not self._ask_model(model):
            return layout, headings
        page.layout = "model"
        layout = layout_page(model, profile)
        layout.blocks = rejoined(layout.blocks)
        return layout, page_headings(layout, profile, outline, tagged)

    def _ask_model(self, model: PageModel) -> bool:
        page = self.document[model.number - 1]
        try:
            found = regions(page)
        except LayoutModelError as error:
            self._no_model = error.missing
            self.builder.warn("layout_model_skipped", f"read by geometry alone: {error}", f"page {model.number}")
            return False
        guide(model, found, tuple(page.rotation_matrix))
        return bool(found)

    # ------------------------------------------------------------ models
    def _profile(self) -> DocumentProfile:
        numbers = sample_numbers(self.document.page_count)
        return document_profile(self._model(n) for n in numbers)

    def _around(self, number: int) -> Iterator[int]:
        start, end = max(1, number - REACH), min(self.document.page_count, number + REACH)
        return (n for n in range(start, end + 1) if n != number)

    def _margin_keys(self, number: int) -> MarginKeys:
        if number not in self._margins:
            self._margins[number] = margin_keys(self._model(number))
        return self._margins[number]

    def _model(self, number: int) -> PageModel:
        """The page's model; a bounded number is kept, for the sample and the look-ahead."""
        model = self._models.get(number)
        if model is None:
            model = self._read(number)
            if len(self._models) > SAMPLE_PAGES + 2 * REACH:
                self._models.popitem(last=False)
            self._models[number] = model
        return model

    def _read(self, number: int) -> PageModel:
        try:
            return read_page(self.document[number - 1], number)
        except MUPDF_ERRORS as error:
            self.builder.warn("page_unreadable", f"the page cannot be read: {str(error)[:150]}", f"page {number}")
            return PageModel(number, 0.0, 0.0, 0.0, 0.0, [], [])
