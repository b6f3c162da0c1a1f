"""Runs one extraction engine over PDFs and reports what each file cost; started by benchmarks in a process of its own.

    python benchmarks/extract_worker.py ENGINE ROUNDS SECONDS [OUT] < PATHS

One path a line on stdin. Every file is read once to warm up, then in whole rounds, of which no new one begins after
SECONDS. Markdown goes to OUT/NAME.md. Prints a JSON line per reading: round (0: the warm-up), path, CPU and wall
seconds, pages, characters, resident bytes at their highest, error. A reading that takes longer than a minute and a
half ends the process, which its caller takes for a failure of that file.

It must run under the interpreter of a foreign engine too, so it imports nothing of this project at the top.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

Reader = Callable[[Path], tuple[str, int]]  # a file's Markdown and its number of pages
ROOT = Path(__file__).resolve().parents[1]
READING_SECONDS = 90


def plain() -> Reader:
    """PyMuPDF's text alone: what all others are multiples of."""
    sys.modules["pymupdf.layout"] = None  # type: ignore[assignment]  # its model is not used here
    pymupdf: Any = import_module("pymupdf")

    def read(path: Path) -> tuple[str, int]:
        document = pymupdf.open(path)
        texts = [page.get_text() for page in document]
        document.close()
        return "\n\n".join(texts), len(texts)

    return read


def ours(profile: str, ocr: bool) -> Reader:
    sys.path[0] = str(ROOT)
    from engine.document import to_markdown
    from engine.extract import Context
    from engine.extract.pdf import extract
    from engine.isolated import calm_collector
    from engine.settings import load

    settings = load({"extraction.profile": profile, "ocr.enabled": ocr}, environ={})
    kept = tempfile.TemporaryDirectory(prefix="benchmark-")
    scratch = Path(kept.name)
    calm_collector()  # as the process that reads documents does

    def read(path: Path) -> tuple[str, int]:
        document = extract(path, Context("pdf", path.name, settings, scratch))
        for left in Path(kept.name).iterdir():
            left.unlink()
        return to_markdown(document), document.metadata.page_count or 0

    return read


def liteparse() -> Reader:
    parser: Any = import_module("liteparse").LiteParse(
        ocr_enabled=False, output_format="markdown", quiet=True, num_workers=1
    )

    def read(path: Path) -> tuple[str, int]:
        result = parser.parse(str(path))
        return result.text, len(result.pages)

    return read


def pdf_inspector() -> Reader:
    engine: Any = import_module("pdf_inspector")

    def read(path: Path) -> tuple[str, int]:
        result = engine.process_pdf(str(path))
        return result.markdown or "", result.page_count

    return read


def edgeparse() -> Reader:
    engine: Any = import_module("edgeparse")

    def read(path: Path) -> tuple[str, int]:
        return engine.convert(str(path), format="markdown", raster_table_ocr=False), 0

    return read


def pymupdf4llm(layout: bool) -> Reader:
    pymupdf: Any = import_module("pymupdf")
    engine: Any = import_module("pymupdf4llm")
    engine.use_layout(layout)
    options: dict[str, Any] = {"use_ocr": False} if layout else {}

    def read(path: Path) -> tuple[str, int]:
        document = pymupdf.open(path)
        text, pages = engine.to_markdown(document, **options), document.page_count
        document.close()
        return text, pages

    return read


ENGINES: dict[str, Callable[[], Reader]] = {
    "plain": plain,
    "fast": lambda: ours("fast", False),
    "balanced": lambda: ours("balanced", False),
    "accurate": lambda: ours("accurate", False),
    "fast+ocr": lambda: ours("fast", True),
    "balanced+ocr": lambda: ours("balanced", True),
    "accurate+ocr": lambda: ours("accurate", True),
    "liteparse": liteparse,
    "pdf-inspector": pdf_inspector,
    "edgeparse": edgeparse,
    "pymupdf4llm": lambda: pymupdf4llm(True),
    "pymupdf4llm-no-layout": lambda: pymupdf4llm(False),
}


def cpu_seconds() -> float:
    """CPU time of this process and of the children it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def reading(read: Reader, path: Path, number: int) -> tuple[dict[str, object], str]:
    signal.alarm(READING_SECONDS)
    cpu, wall, error, text, pages = cpu_seconds(), time.perf_counter(), "", "", 0
    try:
        text, pages = read(path)
    except Exception as problem:  # noqa: BLE001 - whatever a foreign engine raises is its answer to this file
        error = f"{type(problem).__name__}: {problem}"[:200] or type(problem).__name__
    wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
    signal.alarm(0)
    told: dict[str, object] = {"round": number, "path": str(path), "cpu": cpu, "wall": wall, "pages": pages}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return told | {"characters": len(text), "peak": peak, "error": error}, text


def main() -> None:
    engine, rounds, seconds, *out = sys.argv[1:]
    paths = [Path(line) for line in sys.stdin.read().splitlines() if line]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what engines print is not an answer
    read = ENGINES[engine]()
    begun = time.perf_counter()
    for number in range(int(rounds) + 1):
        if number > 1 and time.perf_counter() - begun > float(seconds):
            break
        for path in paths:
            told, text = reading(read, path, number)
            print(json.dumps(told), file=answers, flush=True)
            if out and number == 0:
                Path(out[0], f"{path.stem}.md").write_text(text, "utf-8", errors="replace")


if __name__ == "__main__":
    main()
