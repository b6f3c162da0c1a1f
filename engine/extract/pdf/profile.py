"""What holds for a whole document: the body's type size, and the sizes its headings use.

Computed from a bounded sample of pages spread over the document, never from the part being read, so that a
document read in parts comes out as if read at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from engine.extract.pdf.model import PageModel

SAMPLE_PAGES = 24
_HEADING_RATIO = 1.12  # of the body size; smaller differences are noise
_COMMON_SHARE = 0.3  # of the letters; a size used for that much is no heading's
_MAX_HEADING_WORDS = 25


@dataclass(slots=True)
class DocumentProfile:
    """`body_size` in points; `heading_sizes` largest first; `body_bold` when most text is bold.

    `common_size`: the largest size that a fair share of the text is set in; `mono`: most text has a fixed
    pitch, so that it is a typescript rather than code.
    """

    body_size: float = 10.0
    body_bold: bool = False
    common_size: float = 10.0
    mono: bool = False
    heading_sizes: list[float] = field(default_factory=lambda: list[float]())

    def level(self, size: float) -> int:
        """Heading level 1-6 of a type size; sizes never sampled fall in between."""
        larger = sum(1 for s in self.heading_sizes if s > size + 0.4)
        return min(larger + 1, 6)

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


def document_profile(pages: Iterable[PageModel]) -> DocumentProfile:
    """Weigh type sizes by letters over the sampled pages."""
    sizes: Counter[float] = Counter()
    titles: Counter[float] = Counter()
    bold = mono = 0
    for page in pages:
        for run in page.runs:
            sizes[_rounded(run.size)] += len(run.text)
            bold += len(run.text) if run.bold else 0
            mono += len(run.text) if run.mono else 0
            if len(run.words) <= _MAX_HEADING_WORDS and any(c.isalpha() for c in run.text):
                titles[_rounded(run.size)] += 1
    if not sizes:
        return DocumentProfile()
    total = sum(sizes.values())
    body = max(sizes, key=lambda s: (sizes[s], -s))
    common = max(s for s in sizes if s == body or sizes[s] >= _COMMON_SHARE * total)
    profile = DocumentProfile(body, 2 * bold > total, common, 2 * mono > total)
    large = sorted((s for s in titles if profile.is_large(s)), reverse=True)
    for size in large:
        if not profile.heading_sizes or profile.heading_sizes[-1] - size > 0.4:
            profile.heading_sizes.append(size)
    return profile


def _rounded(size: float) -> float:
    return round(2 * size) / 2
