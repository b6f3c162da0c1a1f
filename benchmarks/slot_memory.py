"""Resident memory of one prepare slot over many documents, with real samples and with a leaking plug-in.

python -m benchmarks.slot_memory [--documents 1000]
python -m benchmarks.slot_memory --folder DIR [--profile balanced]   # its PDFs, in one child that is never replaced
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "tests"
SAMPLES = Path(__file__).resolve().parents[1] / "samples" / "documents"


def measure(files: list[Path], count: int, overrides: dict[str, object]) -> None:
    """Prepare `count` documents, the files in turn; print memory and how often the child was replaced."""
    from engine.isolate import tree_rss
    from engine.prepare import NoLedger, Preparer, Run
    from engine.records import SourceItem
    from engine.settings import load
    from engine.sources.local import local_uri

    preparer = Preparer(load(overrides, environ={}), Run("bench", ""), NoLedger())
    slot = preparer._slot  # pyright: ignore[reportPrivateUsage]
    resident: list[float] = []
    for n in range(count):
        file = files[n % len(files)]
        item = SourceItem("p", "s", f"{n}/{file.name}", local_uri(bytes(file)), file.stat().st_size)
        list(preparer.prepare([item]))
        resident.append(tree_rss(slot.pid) / 2**20 if slot.pid else 0.0)
    preparer.close()
    slope = (resident[-1] - resident[99]) * 1024 / max(count - 100, 1)
    figures = f"at 100 {resident[99]:.0f}, at the end {resident[-1]:.0f}, highest {max(resident):.0f} MiB"
    print(f"  {count} documents, children started {slot.started}, resident after a document: {figures}", flush=True)
    print(f"  growth from the 100th to the last: {slope:.0f} KiB a document", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--folder", type=Path, help="measure these PDFs instead of the samples")
    parser.add_argument("--profile", default="fast", help="extraction profile for --folder")
    a = parser.parse_args()
    a.documents = max(a.documents, 101)
    if a.folder is not None:
        never: dict[str, object] = {
            "limits.recycle_documents": 10**6,
            "limits.recycle_rss_mb": 10**5,
            "limits.rss_mb": 10**5,
        }
        print(f"PDFs of {a.folder}, profile {a.profile}, no OCR:")
        never |= {"extraction.profile": a.profile, "ocr.enabled": False}
        measure(sorted(a.folder.rglob("*.pdf")), a.documents, never)
        return
    fast = [f for f in sorted(SAMPLES.iterdir()) if f.suffix not in (".doc", ".ppt")]
    print("samples of every family:")
    measure(fast, a.documents, {})
    sys.path.insert(0, str(TESTS))
    os.environ["PYTHONPATH"] = str(TESTS)
    with tempfile.TemporaryDirectory() as folder:
        leaking = Path(folder) / "a.poison"
        leaking.write_text("leak\nA document whose parser loses 2 MiB each time.")
        print("a plug-in that leaks 2 MiB a document:")
        plug_in = {"extractors": {"poison": "poison_extractor:extract"}, "formats": {"poison": [".poison"]}}
        measure([leaking], a.documents, {**plug_in, "limits.recycle_rss_mb": 600})


if __name__ == "__main__":
    main()
