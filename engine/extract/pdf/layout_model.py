"""The layout model that PyMuPDF carries: which regions of a page are titles, tables, lists, captions, margins.

A small graph network (6 MB, ONNX) over the lines of the text layer: place, type, alignment and character
pattern of each line, no picture of the page. The wheel also has a variant that looks at the rendered page;
it costs six times as much and gained nothing measurable beside this package's geometry. Loaded at the
first page that is sent to it, never by `import`. MuPDF never frees what it works out about a page for the model
(0.15 MB on average), which `limits.recycle_rss_mb` makes good.

Licence: the model and its code are part of the PyMuPDF wheel ("Dual Licensed - GNU AFFERO GPL 3.0 or Artifex
Commercial License", its METADATA and COPYING), which fits this project's AGPL-3.0-or-later.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.extract.pdf.guided import HEADING_LABELS
from engine.extract.pdf.model import Rectangle, Region
from engine.extract.pdf.mupdf import MUPDF_ERRORS, Page, pymupdf

_PACKAGE = "pymupdf.layout"
_MODEL = "resources/onnx/layout_rf2.4.1"  # by lines alone; the wheel has others
_SAME_REGION = 0.55  # probability above which two neighbouring lines belong together (the package's own default)
_NEIGHBOURS = 20  # of each line in the graph, the package's own figure
MAX_LINES = 600  # of one page: 0.45 CPU seconds
_OWN_FEATURES = ("num_ratio", "is_text", "is_vector", "is_image", "is_hline_vector", "is_vline_vector")

Line = tuple[Rectangle, str]
Floats = NDArray[np.float32]


class LayoutModelError(Exception):
    """The model failed on a page, or is not installed (`missing`). The page is read without it."""

    def __init__(self, message: str, missing: bool = False):
        super().__init__(message)
        self.missing = missing


def available() -> bool:
    """Whether the model and its runtime are installed, without loading them."""
    from importlib.util import find_spec

    return find_spec("onnxruntime") is not None and (_folder() / f"{_MODEL}.onnx").is_file()


def regions(page: Page) -> list[Region]:
    """The regions of a page, boxes in points of the unturned page, in the order of their first lines; empty for
    a page without text.

    Raises LayoutModelError: not installed, too many lines, or the model failed.
    """
    model = _loaded()
    try:
        lines, features = _read(page, model)
        return model.label(lines, features) if lines else []
    except (*MUPDF_ERRORS, *model.failures) as error:
        raise LayoutModelError(f"the layout model failed: {_first_line(error)}") from error


# ---------------------------------------------------------------- the model
@dataclass(slots=True)
class _Model:
    """The loaded network, its class names, and the package's own functions that make its inputs."""

    session: Any
    labels: list[str]
    feature_names: list[str]
    features_of: Any
    graph: ModuleType
    edges: ModuleType
    failures: tuple[type[Exception], ...]

    def label(self, lines: Sequence[Line], features: Floats) -> list[Region]:
        nodes, index, links = self._run(lines, features)
        groups = _groups(len(lines), [pair for pair, p in zip(index, links, strict=True) if p > _SAME_REGION])
        return [self._region([lines[n][0] for n in group], nodes[group]) for group in groups]

    def _run(self, lines: Sequence[Line], features: Floats) -> tuple[Floats, list[tuple[int, int]], list[float]]:
        """Class probabilities of each line; the pairs of neighbouring lines; of each pair, the probability that it is
        of one region."""
        boxes = [list(box) for box, _ in lines]
        places = np.array(boxes, dtype=np.float32)
        if len(lines) > 1:
            index: list[tuple[int, int]] = self.edges.build_edge_index(places, "4D")
            between = self.edges.get_edge_attr(places, index, "SEO")
        else:
            index, between = [(0, 0)], np.zeros((1, self.edges.get_edge_dim("SEO")), dtype=np.float32)
        patterns = [self.graph.get_text_pattern(text) for _, text in lines]
        inputs = {
            "x": np.asarray(self.graph.get_boxes_transform(boxes), dtype=np.float32),
            "edge_index": np.array(index, dtype=np.int64).T,
            "edge_attr": between,
            "rf_features": features,
            "text_patterns": np.array(patterns, dtype=np.float32),
            "k": np.array(min(len(lines), _NEIGHBOURS), dtype=np.int64),
            "batch": np.zeros(len(lines), dtype=np.int64),
        }
        nodes, links = self.session.run(None, inputs)
        return _softmax(nodes), index, _softmax(links)[:, 1].tolist() if len(lines) > 1 else [0.0]

    def _region(self, boxes: Sequence[Rectangle], probabilities: Floats) -> Region:
        """The label that most lines of the region have."""
        best = Counter(probabilities.argmax(axis=1).tolist()).most_common()
        tied = [label for label, votes in best if votes == best[0][1]]
        means = probabilities.mean(axis=0)
        label = max(tied, key=lambda n: float(means[n]))
        box = (min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes))
        heading = sum(float(means[n]) for n, name in enumerate(self.labels) if name in HEADING_LABELS)
        return Region(self.labels[label], box, round(float(means[label]), 4), round(heading, 4))


@cache
def _loaded() -> _Model:
    """The model, loaded once a process (0.3 CPU seconds, about 60 MB)."""
    try:
        runtime: Any = import_module("onnxruntime")
        yaml: Any = import_module("yaml")
        _stand_in()
        config = yaml.safe_load((_folder() / f"{_MODEL}.yaml").read_text("utf-8"))
        return _Model(
            _session(runtime),
            list(config["data"]["class_list"]),
            [name for name in config["data"]["rf_names"] if name not in _OWN_FEATURES],
            import_module("pymupdf.features").fz_features_for_region,
            import_module(f"{_PACKAGE}.common_util"),
            import_module(f"{_PACKAGE}.pymupdf_util_edge"),
            _failures(runtime),
        )
    except (ImportError, OSError, AttributeError, LookupError, TypeError) as error:
        raise LayoutModelError(f"the layout model is not installed: {_first_line(error)}", missing=True) from error


def _session(runtime: Any) -> Any:
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # The arena stays on, unlike in the package: without it, buffers and what MuPDF keeps lie mixed on the heap, which
    # then grows by 0.6 MB a page. With it, the largest page's buffers stay (MAX_LINES bounds them at 150 MB).
    runtime.set_default_logger_severity(3)
    return runtime.InferenceSession(str(_folder() / f"{_MODEL}.onnx"), options, providers=["CPUExecutionProvider"])


def _failures(runtime: Any) -> tuple[type[Exception], ...]:
    """What ONNX Runtime raises; its exceptions have no base class of their own."""
    names: dict[str, Any] = vars(runtime.capi.onnxruntime_pybind11_state)
    return tuple(v for v in names.values() if isinstance(v, type) and issubclass(v, Exception))


def _stand_in() -> None:
    """Let the package's modules be imported without its `__init__`, which would load another model into PyMuPDF."""
    if sys.modules.get(_PACKAGE) is None:
        package = ModuleType(_PACKAGE)
        package.__path__ = [str(_folder())]
        sys.modules[_PACKAGE] = package


def _folder() -> Path:
    return Path(pymupdf.__file__).parent / "layout"


# ---------------------------------------------------------------- what it reads
def _flags() -> int:
    """The package's own ones but TEXT_SEGMENT and TEXT_TABLE_HUNT: they double the cost and change no score here."""
    names = (
        "PRESERVE_IMAGES", "PRESERVE_WHITESPACE", "PRESERVE_LIGATURES", "ACCURATE_BBOXES", "COLLECT_VECTORS",
        "COLLECT_STYLES", "PARAGRAPH_BREAK", "COLLECT_STRUCTURE", "LAZY_VECTORS", "CLIP", "FUZZY_VECTORS",
    )  # fmt: skip
    return sum(int(getattr(pymupdf, f"TEXT_{name}")) for name in names)


def _read(page: Page, model: _Model) -> tuple[list[Line], Floats]:
    """The page's lines as the model was trained on them, and its features of each."""
    textpage = page.get_textpage(flags=_flags())
    lines = _lines(textpage.extractDICT()["blocks"], float(page.rect.width), float(page.rect.height))
    if len(lines) > MAX_LINES:
        raise LayoutModelError(f"the page has {len(lines)} lines, more than {MAX_LINES}")
    kept: list[Line] = []
    rows: list[list[float]] = []
    unseen: list[bool] = []
    for box, text in lines:
        found = model.features_of(textpage, pymupdf.mupdf.FzRect(*box), 0)
        digits = sum(c.isdigit() for c in text) / len(text)
        rows.append([digits, 1.0, 0.0, 0.0, 0.0, 0.0, *(float(getattr(found, name)) for name in model.feature_names)])
        kept.append((box, text))
        unseen.append(found.invisible == 1)
    if not all(unseen) and any(unseen):
        kept = [line for line, hidden in zip(kept, unseen, strict=True) if not hidden]
        rows = [row for row, hidden in zip(rows, unseen, strict=True) if not hidden]
    return kept, np.array(rows, dtype=np.float32)


def _lines(blocks: Sequence[dict[str, Any]], width: float, height: float) -> list[Line]:
    """The distinct lines on the page, those of nested blocks too."""
    found: dict[Rectangle, str] = {}
    stack = list(reversed(blocks))
    while stack:
        block = stack.pop()
        if block["type"] == 2:
            stack.extend(reversed(block["blocks"]))
        for line in block.get("lines", ()) if block["type"] == 0 else ():
            text = " ".join(span["text"] for span in line["spans"]).strip()
            x0, y0, x1, y1 = line["bbox"]
            if text and x1 >= 0 and y1 >= 0 and x0 <= min(x1, width) and y0 <= min(y1, height):
                found.setdefault((x0, y0, x1, y1), text)
    return list(found.items())


# ---------------------------------------------------------------- arithmetic
def _groups(count: int, pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The lines joined by `pairs`, each group in order."""
    parent = list(range(count))

    def root(n: int) -> int:
        while parent[n] != n:
            parent[n] = parent[parent[n]]
            n = parent[n]
        return n

    for a, b in pairs:
        parent[root(a)] = root(b)
    groups: dict[int, list[int]] = {}
    for n in range(count):
        groups.setdefault(root(n), []).append(n)
    return list(groups.values())


def _softmax(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:150]
