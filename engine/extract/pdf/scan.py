"""Pages without usable text: which ones they are, and rendering them for OCR within bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from engine.document import Builder
from engine.extract import Context
from engine.extract.pdf.model import PageModel
from engine.extract.pdf.mupdf import MUPDF_ERRORS, Document, Page, pymupdf
from engine.extract.scans import ocr_page
from engine.ocr.pages import NOT_RENDERED
from engine.ocr.quality import broken_share, is_garbage, junk_share, worth
from engine.records import StructureElement
from engine.settings import Settings

_SHOWN = 0.02  # share of the page that images must cover to be worth reading
_SCANNED = 0.6  # share above which an image is the page itself
_MANY_DRAWINGS = 40  # painted paths that may be letters drawn as outlines
_JUNK = 0.1  # share of nonsense words above which the text of a scan is read again
_OLD_OCR_TRUST = 0.7  # what the invisible text of a scan is believed, which some OCR program left there
_RENDER_PIXELS = 24_000_000  # of one rendered page; large sheets are rendered at a lower resolution
_BLANK_RANGE = 12  # of 256 grey levels
_MAX_OBJECTS = 300_000


@dataclass(slots=True)
class ScanPolicy:
    """What is kept per document: the images too large to decode, and the language of the page read last."""

    document: Document
    settings: Settings
    likely: str | None = None
    _oversized: set[int] | None = field(default=None)

    def refuses(self, page: Page) -> bool:
        """Whether rendering the page would decode an image above limits.image_pixels.

        An oversized image that no page lists may hide in a pattern or a form, so it bars every page.
        """
        oversized = self._find_oversized()
        if not oversized:
            return False
        listed = {item[0] for item in page.get_images()}
        return bool(oversized & listed) or not self._listed_elsewhere(oversized)

    def _find_oversized(self) -> set[int]:
        if self._oversized is None:
            limit = self.settings.limits.image_pixels
            objects = range(1, min(self.document.xref_length(), _MAX_OBJECTS))
            self._oversized = {xref for xref in objects if _pixels(self.document, xref) > limit}
        return self._oversized

    def _listed_elsewhere(self, oversized: set[int]) -> bool:
        pages = range(min(self.document.page_count, 3000))
        listed = {item[0] for number in pages for item in self.document.get_page_images(number)}
        return oversized <= listed


def _pixels(document: Document, xref: int) -> int:
    """Pixels of an image object; 0 for other objects."""
    if document.xref_get_key(xref, "Subtype")[1] != "/Image":
        return 0
    return _number(document, xref, "Width") * _number(document, xref, "Height")


def _number(document: Document, xref: int, key: str) -> int:
    kind, value = document.xref_get_key(xref, key)
    return int(value) if kind == "int" else 0


def page_text(model: PageModel) -> str:
    return "\n".join(run.text for run in (*model.runs, *model.asides))


def wants_ocr(model: PageModel, settings: Settings) -> bool:
    """Whether the page shows something its text layer does not say, or says in garbage."""
    text = page_text(model)
    characters = len("".join(text.split()))
    covered = _covered(model)
    shows = covered >= _SHOWN or model.drawings >= _MANY_DRAWINGS
    if characters < settings.ocr.min_characters:
        return shows or (characters > 0 and broken_share(text) > 0.3)
    if is_garbage(text):
        return True
    if covered >= _SCANNED:
        sparse = characters < 4 * settings.ocr.min_characters
        hidden = model.hidden_characters > 0.5 * characters
        return (sparse and not hidden) or (hidden and junk_share(text) > _JUNK)
    return False


def _covered(model: PageModel) -> float:
    """Share of the page under images: the largest one, or their sum where a scan comes in strips."""
    page = max(model.frame_width * model.frame_height, 1.0)
    areas = [p.area / page for p in model.pictures]
    return min(sum(areas), 1.0)


def read_scan(
    page: Page, model: PageModel, builder: Builder, context: Context, policy: ScanPolicy
) -> StructureElement | None:
    """Render the page and read it by OCR: its `ocr_page` element, None when its own text is the better one."""
    hidden = model.hidden_characters > 0.5 * model.characters
    layer = worth(page_text(model), _OLD_OCR_TRUST if hidden else 1.0)
    if not context.settings.ocr.enabled:
        return ocr_page(builder, context.scratch, (model.width, model.height), context.settings)
    picture = render(page, model, builder, context, policy)
    if picture is None:
        return None
    points = (model.width, model.height)
    element = ocr_page(builder, picture, points, context.settings, context.language, layer, policy.likely)
    engine = builder.pages[model.number].ocr_engine or ""
    policy.likely = engine.partition(":")[2] or policy.likely
    return element


def render(page: Page, model: PageModel, builder: Builder, context: Context, policy: ScanPolicy) -> Path | None:
    """The page as a grey PNG in scratch, or None with a warning when it is blank or must not be rendered."""
    place = f"page {builder.page}"
    try:
        if policy.refuses(page):
            builder.warn(NOT_RENDERED, "an image passes limits.image_pixels, so the page was not rendered", place)
            return None
        scale = _scale(page, model, context.settings)
        pixmap = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csGRAY, alpha=False)
        samples = pixmap.samples_mv
        if max(samples) - min(samples) <= _BLANK_RANGE:
            builder.warn("blank_page", "the page shows nothing", place)
            return None
        picture = context.scratch / f"page-{builder.page:05d}.png"
        pixmap.set_dpi(round(72 * scale), round(72 * scale))
        pixmap.save(str(picture))
    except MUPDF_ERRORS as error:
        builder.warn(NOT_RENDERED, f"the page cannot be rendered: {str(error)[:150]}", place)
        return None
    return picture


def _scale(page: Page, model: PageModel, settings: Settings) -> float:
    """Pixels per point: the wanted resolution, up to half more where a scan has it, less for huge sheets."""
    wanted = settings.ocr.dpi / 72
    scans = [p for p in model.pictures if p.area > 0.3 * model.frame_width * model.frame_height]
    native = max((math.sqrt(p.pixels / p.area) for p in scans), default=0.0)
    wanted = max(wanted, min(native, 1.5 * wanted))
    points = max(float(page.rect.width) * float(page.rect.height), 1.0)
    bound = min(_RENDER_PIXELS, settings.limits.image_pixels)
    return min(wanted, math.sqrt(bound / points))
