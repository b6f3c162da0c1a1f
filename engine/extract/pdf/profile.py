"""What holds for a whole document: the body's type size, and the sizes its headings use.

Computed from a bounded sample of pages spread over the document, never from the part being read, so that a
document read in parts comes out as if read at once.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from engine.extract.pdf.kind import Kind, document_kind
from engine.extract.pdf.model import PageModel

SAMPLE_PAGES = 24
_HEADING_RATIO = 1.12  # of the body size; smaller differences are noise
_COMMON_SHARE = 0.3  # of the letters; a size used for that much is no heading's
_MAX_HEADING_WORDS = 25
_LETTER = re.compile(r"[^\W\d_]")
_SECTION = re.compile(r"^(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+(?=[^\W\d_])")


@dataclass(slots=True)
class DocumentProfile:
    """`body_size` in points; `heading_sizes` largest first; `body_bold` when most text is bold.

    `common_size`: the largest size that a fair share of the text is set in; `mono`: most text has a fixed
    pitch, so that it is a typescript rather than code. `kind`: see `document_kind`. `numbered`: depth of a section
    number (1 for "3", 2 for "3.1") → heading level.
    """

    body_size: float = 10.0
    body_bold: bool = False
    common_size: float = 10.0
    mono: bool = False
    kind: Kind = "generic"
    heading_sizes: list[float] = field(default_factory=lambda: list[float]())
    numbered: dict[int, int] = field(default_factory=lambda: dict[int, int]())

    def level(self, size: float) -> int:
        """Heading level 1-6 of a type size; sizes never sampled fall in between."""
        larger = sum(1 for s in self.heading_sizes if s > size + 0.4)
        return min(larger + 1, 6)

    def style_level(self, size: float) -> int:
        """Level of a title by its type alone; titles in the body's size come below all larger ones."""
        return self.level(size) if self.is_large(size) else min(len(self.heading_sizes) + 1, 6)

    def is_large(self, size: float) -> bool:
        """Whether a type size stands out from the body, and is not a second body size."""
        least = max(_HEADING_RATIO * self.body_size, self.body_size + 0.9)
        return size >= least and size > self.common_size + 0.4


def sample_numbers(page_count: int) -> list[int]:
    """1-based numbers of the pages to sample, first and last among them."""
    if page_count <= SAMPLE_PAGES:
        return list(range(1, page_count + 1))
    step = (page_count - 1) / (SAMPLE_PAGES - 1)
    return sorted({1 + round(n * step) for n in range(SAMPLE_PAGES)})


def document_profile(sample: Iterable[PageModel]) -> DocumentProfile:
    """Weigh type sizes by letters over the sampled pages."""
    pages = list(sample)
    sizes: Counter[float] = Counter()
    titles: Counter[float] = Counter()
    bold = mono = 0
    for page in pages:
        for run in page.runs:
            sizes[_rounded(run.size)] += len(run.text)
            bold += len(run.text) if run.bold else 0
            mono += len(run.text) if run.mono else 0
            if len(run.words) <= _MAX_HEADING_WORDS and _LETTER.search(run.text):
                titles[_rounded(run.size)] += 1
    if not sizes:
        return DocumentProfile(kind=document_kind(pages))
    total = sum(sizes.values())
    body = max(sizes, key=lambda s: (sizes[s], -s))
    common = max(s for s in sizes if s == body or sizes[s] >= _COMMON_SHARE * total)
    profile = DocumentProfile(body, 2 * bold > total, common, 2 * mono > total, document_kind(pages))
    large = sorted((s for s in titles if profile.is_large(s)), reverse=True)
    for size in large:
        if not profile.heading_sizes or profile.heading_sizes[-1] - size > 0.4:
            profile.heading_sizes.append(size)
    profile.numbered = _numbered_levels(pages, profile)
    return profile


def section_depth(text: str) -> int:
    """Levels of the section number that a title begins with; 0 without one."""
    number = _SECTION.match(text) if text[:1].isdigit() else None
    return number.group(1).count(".") + 1 if number else 0


def _numbered_levels(pages: list[PageModel], profile: DocumentProfile) -> dict[int, int]:
    """The usual level of numbered titles by the depth of their number, each deeper than the one above."""
    seen: dict[int, Counter[int]] = {}
    for page in pages:
        for before, run in itertools.pairwise([None, *page.runs]):
            assert run is not None
            text = run.text
            if before is not None and before.text[:1].isdigit() and abs(before.y0 - run.y0) < 2:
                text = f"{before.text} {text}"  # the number stands apart from its title
            depth = section_depth(text) if len(run.words) <= _MAX_HEADING_WORDS else 0
            if depth and (profile.is_large(run.size) or (run.bold and not profile.body_bold)):
                seen.setdefault(depth, Counter())[profile.style_level(run.size)] += 1
    levels: dict[int, int] = {}
    above = 0
    for depth in sorted(seen):
        above = max(seen[depth].most_common(1)[0][0], above + 1)
        levels[depth] = min(above, 6)
    return levels


def _rounded(size: float) -> float:
    return round(2 * size) / 2
