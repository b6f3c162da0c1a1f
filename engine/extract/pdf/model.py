"""The page model: what later steps know of a page, free of any PDF library.

All coordinates are in points in the page's reading frame: turned so that the main text runs left to right
and its lines follow top to bottom (vertical Japanese columns become rows). `PageModel.to_page` maps a box
back to the page as a reader sees it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.document import page_box
from engine.records import Box

Rectangle = tuple[float, float, float, float]
Transform = tuple[float, float, float, float, float, float]
IDENTITY: Transform = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(slots=True)
class Word:
    text: str
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(slots=True, frozen=True)
class Region:
    """What the layout model says of one region of a page. `box` in points; `score`: mean probability of `label`
    over the region's lines, `heading`: the same of being a title or a section heading; 0-1.

    `label`: text, title, picture, table, list-item, page-header, page-footer, section-header, footnote,
    caption, formula.
    """

    label: str
    box: Rectangle
    score: float
    heading: float = 0.0


@dataclass(slots=True)
class Run:
    """Words on one baseline that stand close together, in reading order, with their common style."""

    words: list[Word]
    x0: float
    y0: float
    x1: float
    y1: float
    text: str  # the words with the spaces found between them
    size: float  # points
    bold: bool = False
    italic: bool = False
    mono: bool = False
    rtl: bool = False
    sequence: int = 0  # place in the file's own drawing order
    region: Region | None = None  # where the layout model was asked

    @property
    def height(self) -> float:
        return self.y1 - self.y0


@dataclass(slots=True)
class Line:
    """Runs of one row of one column, joined."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    bold: bool
    italic: bool
    mono: bool
    rtl: bool
    runs: list[Run] = field(default_factory=lambda: list[Run]())


@dataclass(slots=True)
class Rule:
    """A straight horizontal or vertical line drawn on the page, or the edge of a drawn rectangle.

    `weak`: the edge of a mere background, which need not be the edge of a cell.
    """

    x0: float
    y0: float
    x1: float
    y1: float
    weak: bool = False

    @property
    def horizontal(self) -> bool:
        return self.x1 - self.x0 >= self.y1 - self.y0


@dataclass(slots=True)
class Picture:
    """A raster image placed on the page. `xref` is its object number (0: inline)."""

    x0: float
    y0: float
    x1: float
    y1: float
    xref: int
    pixels: int

    @property
    def area(self) -> float:
        return (self.x1 - self.x0) * (self.y1 - self.y0)


@dataclass(slots=True)
class Widget:
    """A filled form field or a comment, with the place where it stands."""

    kind: str  # field, comment
    text: str
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(slots=True)
class PageModel:
    """One page. `width` and `height` are of the page as seen; `frame_*` of the reading frame."""

    number: int
    width: float
    height: float
    frame_width: float
    frame_height: float
    runs: list[Run]
    asides: list[Run]  # text that runs in another direction than the main text
    rules: list[Rule] = field(default_factory=lambda: list[Rule]())
    pictures: list[Picture] = field(default_factory=lambda: list[Picture]())
    widgets: list[Widget] = field(default_factory=lambda: list[Widget]())
    frame_to_page: Transform = IDENTITY
    hidden_characters: int = 0
    drawings: int = 0  # painted paths, text glyphs not counted
    graphics_skipped: bool = False  # too many drawing instructions to look at
    vertical: bool = False  # vertical writing: columns from right to left
    regions: list[Region] = field(default_factory=lambda: list[Region]())  # in the reading frame; empty: not asked

    def to_page(self, x0: float, y0: float, x1: float, y1: float) -> Box:
        """A frame rectangle as a box on the page a reader sees."""
        a, b, c, d, e, f = self.frame_to_page
        return page_box(self.number, a * x0 + c * y0 + e, b * x0 + d * y0 + f, a * x1 + c * y1 + e, b * x1 + d * y1 + f)

    @property
    def characters(self) -> int:
        """Text characters on the page, white space not counted."""
        return sum(len(w.text) for run in (*self.runs, *self.asides) for w in run.words)


def apply(matrix: Transform, box: Rectangle) -> Rectangle:
    """A rectangle under an axis-keeping transform (multiples of 90 degrees), corners in order."""
    a, b, c, d, e, f = matrix
    x0, y0, x1, y1 = box
    ux, uy = a * x0 + c * y0 + e, b * x0 + d * y0 + f
    vx, vy = a * x1 + c * y1 + e, b * x1 + d * y1 + f
    return min(ux, vx), min(uy, vy), max(ux, vx), max(uy, vy)


def invert(matrix: Transform) -> Transform:
    """The inverse of a transform. Raises ZeroDivisionError for a degenerate one."""
    a, b, c, d, e, f = matrix
    det = a * d - b * c
    return d / det, -b / det, -c / det, a / det, (c * f - d * e) / det, (b * e - a * f) / det


def compose(first: Transform, then: Transform) -> Transform:
    """The transform that applies `first`, then `then`."""
    a, b, c, d, e, f = first
    p, q, r, s, t, u = then
    return a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u
