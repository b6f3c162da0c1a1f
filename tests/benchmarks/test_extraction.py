"""The benchmarks of extraction: they count what engines did, survive engines that fail, and draw what they found."""

import itertools
import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from benchmarks.chart import Panel, Point, svg
from benchmarks.extraction import EngineRun, engines_of, line, pdf_files, run_engine
from benchmarks.pdf_structure import compare
from engine.extract.pdf.mupdf import pymupdf

SCORER = """
import json, sys
from pathlib import Path
truth, made, _, out = sys.argv[1:]
found = [Path(made, p.name).read_text("utf-8") for p in Path(truth).glob("*.md")]
share = sum(p.read_text("utf-8") in text for p, text in zip(Path(truth).glob("*.md"), found)) / len(found)
Path(out).write_text(json.dumps({"means": {"overall": share, "order": share, "tables": None, "headings": None}}))
"""


def make_pdf(path: Path, text: str, pages: int = 1) -> Path:
    document = pymupdf.open()
    for number in range(pages):
        document.new_page().insert_text((72, 100), f"{text} {number + 1}")
    path.parent.mkdir(parents=True, exist_ok=True)
    document.save(path)
    return path


def test_every_file_is_counted_and_a_broken_one_is_named(tmp_path: Path) -> None:
    good = make_pdf(tmp_path / "good.pdf", "A page about ferries", pages=3)
    bad = tmp_path / "bad.pdf"
    bad.write_bytes(b"%PDF-1.7 and nothing more")
    out = tmp_path / "out"
    run = run_engine("fast", [good, bad], rounds=2, out=out)
    assert run.pages["good.pdf"] == 3
    assert len(run.rounds) == 2 and run.cpu_total > 0 and run.slowest[0] in ("good.pdf", "bad.pdf")
    assert list(run.failed) == ["bad.pdf"] and "PDF" in run.failed["bad.pdf"]
    assert "A page about ferries 2" in (out / "good.md").read_text("utf-8")
    assert run.peak_mb > 10


def test_an_engine_that_cannot_start_stops_the_benchmark(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="nosuchengine does not start"):
        run_engine("nosuchengine", [make_pdf(tmp_path / "a.pdf", "x")])


def test_hostile_files_are_left_out_by_the_manifest(tmp_path: Path) -> None:
    kept, bomb = make_pdf(tmp_path / "sub/kept.pdf", "x"), make_pdf(tmp_path / "bomb.pdf", "x")
    manifest = tmp_path / "manifest.csv"
    manifest.write_text("path,class\nbomb.pdf,hostile\nsub/kept.pdf,ordinary\n")
    assert pdf_files(tmp_path, manifest, ["hostile"]) == [kept]
    assert pdf_files(tmp_path, None, ["hostile"]) == [bomb, kept]


def test_a_row_compares_what_both_engines_read() -> None:
    bare = EngineRun("plain", {"a": 0.1, "b": 0.1}, {"a": 0.1, "b": 0.1}, {"a": 10, "b": 20}, {"b": "why"})
    ours = EngineRun("fast", {"a": 0.3, "b": 9.0}, {"a": 0.5, "b": 9.0}, {"a": 10, "b": 20})
    shown = line(ours, bare).split()
    assert shown[:6] == ["fast", "1", "0", "33.3", "20.0", "3.00"]


def test_quality_and_cost_are_measured_per_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind in ("pages", "tables"):
        make_pdf(tmp_path / kind / "pdfs/a.pdf", "Tides of the bay")
        (tmp_path / kind / "gt").mkdir()
        (tmp_path / kind / "gt/a.md").write_text("Tides of the bay 1")
    scorer = tmp_path / "scorer.py"
    scorer.write_text(SCORER)
    plain, fast = compare(tmp_path, scorer, [("fast", sys.executable)], rounds=1, seconds=60)
    assert plain.ratio == {"pages": 1.0, "tables": 1.0, "both": 1.0}
    assert fast.ratio["both"] > 1 and fast.milliseconds["pages"] > 0
    assert fast.scores["pages"] == {"overall": 1.0, "order": 1.0, "tables": None, "headings": None}
    assert "fast" in capsys.readouterr().out


def test_the_chart_is_sound_and_names_do_not_cover_each_other() -> None:
    points = [Point("fast", 2.5, 0.93, True), Point("a<b", 2.6, 0.93), Point("c", 2.7, 0.93), Point("slow", 130, 0.94)]
    root = ET.fromstring(svg([Panel("Pages", points), Panel("Empty", [])], "cost"))
    texts = {t.text: float(t.get("y", "0")) for t in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"fast", "a<b", "c", "slow", "Pages", "Empty", "1", "1000"} <= set(texts)
    levels = sorted(texts[name] for name in ("fast", "a<b", "c"))
    assert all(b - a >= 13 for a, b in itertools.pairwise(levels))


def test_the_commands_explain_themselves() -> None:
    for module in ("extraction", "pdf_structure"):
        done = subprocess.run(
            [sys.executable, "-m", f"benchmarks.{module}", "--help"], capture_output=True, text=True, check=True
        )
        assert "--peer-python" in done.stdout


def test_unknown_engines_are_refused() -> None:
    from argparse import Namespace

    with pytest.raises(SystemExit, match="no such engine: quick, typo"):
        engines_of(Namespace(profiles="fast,quick", peers="typo", peer_python="python"))
    assert json.dumps(engines_of(Namespace(profiles="fast", peers="edgeparse", peer_python="p")))
