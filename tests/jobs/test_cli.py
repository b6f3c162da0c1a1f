"""The command line as a user runs it: output, JSON, exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from corpora import write_texts

ROOT = Path(__file__).resolve().parents[2]


def corpus(home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("CORPUS_")}
    return subprocess.run(
        [sys.executable, "-m", "jobs.cli", "--home", str(home), *arguments], cwd=ROOT, text=True, capture_output=True,
        env={**clean, **environment}, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    write_texts(folder / "docs", 3)
    (folder / "docs" / "walrus.md").write_text("# Walruses\n\nThe walrus sleeps on the slipway.\n\n## Food\n\nClams.")
    (folder / "docs" / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    home = folder / "home"
    done = corpus(home, "backfill", str(folder / "docs"), "-p", "demo", "--local", "--source-name", "docs")
    assert done.returncode == 1, done.stderr  # one failure, none allowed
    return home


def test_failures_above_the_bound_set_the_exit_status(filled: Path) -> None:
    docs = str(filled.parent / "docs")
    again = ("backfill", docs, "-p", "demo", "--local", "--source-name", "docs", "-q", "--json", "--max-failed", "1")
    done = corpus(filled, *again)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["totals"]["failed"] == {"total": 1, "EXTRACTION_FAILED": 1}
    assert report["totals"]["skipped"]["unchanged"] == 4
    retried = corpus(filled, "retry", report["run_id"], "--local", "-q", "--json")
    assert retried.returncode == 1
    assert json.loads(retried.stdout)["totals"]["failed"]["total"] == 1


def test_search_cites_document_and_section(filled: Path) -> None:
    done = corpus(filled, "search", "where does the walrus sleep", "-p", "demo", "--json", "--explain")
    first = json.loads(done.stdout)["results"][0]
    assert (first["filename"], first["section_path"][0]) == ("walrus.md", "Walruses")
    assert "slipway" in first["content"]


def test_show_by_key_delete_and_gone(filled: Path) -> None:
    shown = json.loads(corpus(filled, "show", "walrus.md", "-p", "demo", "--json").stdout)
    assert (shown["status"], shown["chunks"][0]["chunk_index"]) == ("completed", 0)
    failed = corpus(filled, "show", "broken.pdf", "-p", "demo").stdout
    assert "EXTRACTION_FAILED" in failed
    target = json.loads(corpus(filled, "show", "000/doc-000000.txt", "-p", "demo", "--json").stdout)["document_id"]
    assert corpus(filled, "delete", target).returncode == 0
    assert corpus(filled, "show", target).returncode == 5


def test_show_gives_a_stored_document_as_markdown(filled: Path) -> None:
    show = ("show", "walrus.md", "-p", "demo", "--markdown")
    whole = corpus(filled, *show)
    assert whole.stdout == (filled.parent / "docs" / "walrus.md").read_text() + "\n"
    assert "read again" in whole.stderr
    (filled.parent / "docs" / "walrus.md").rename(filled.parent / "moved.md")
    try:
        kept = corpus(filled, *show)
    finally:
        (filled.parent / "moved.md").rename(filled.parent / "docs" / "walrus.md")
    assert (kept.stdout.split(), "stored chunks" in kept.stderr) == (whole.stdout.split(), True)
    assert corpus(filled, "show", "broken.pdf", "-p", "demo", "--markdown").returncode == 5


def test_extract_draws_what_was_found_on_each_page(tmp_path: Path) -> None:
    samples = ROOT / "samples" / "documents"
    drawn = corpus(tmp_path, "extract", str(samples / "visitor-guide.pdf"), "--boxes", str(tmp_path / "out"))
    assert (drawn.returncode, drawn.stdout) == (0, ""), drawn.stderr
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["index.html", "page-0001.png", "page-0002.png"]
    assert "&lt;" not in (page := (tmp_path / "out" / "index.html").read_text()) and "197 steps" in page
    refused = corpus(tmp_path, "extract", str(samples / "buoys.csv"), "--boxes", str(tmp_path / "none"))
    assert (refused.returncode, "csv have no pages" in refused.stderr) == (2, True)


def test_export_writes_chunks_navigation_and_manifest(filled: Path, tmp_path: Path) -> None:
    counts = json.loads(corpus(filled, "export", str(tmp_path / "out"), "-p", "demo", "--json").stdout)
    folders = list((tmp_path / "out").iterdir())
    assert counts["documents"] == len(folders) >= 3
    manifests = [json.loads((f / "manifest.json").read_text()) for f in folders]
    walrus = next(m for m in manifests if m["source"]["key"] == "walrus.md")
    assert walrus["HIERARCHY"] == {"Walruses": {}} or "Food" in json.dumps(walrus["HIERARCHY"])


def test_extract_needs_no_store(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("name;age\nAnn;7\n")
    done = corpus(tmp_path / "none", "extract", str(tmp_path / "a.csv"))
    assert "| Ann | 7 |" in done.stdout
    chunks = corpus(tmp_path / "none", "extract", str(tmp_path / "a.csv"), "--chunks").stdout.splitlines()
    assert json.loads(chunks[0])["metadata"]["element_type"] == "table"
    assert not (tmp_path / "none").exists()
    (tmp_path / "bad.docx").write_text("not a zip")
    broken = corpus(tmp_path / "none", "extract", str(tmp_path / "bad.docx"))
    assert broken.returncode == 1 and "EXTRACTION_FAILED" in broken.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("backfill", "/nowhere/at/all", "-p", "demo", "--local"), 4, "no file or folder"),
        (("backfill", "nosuch://x", "-p", "demo", "--local"), 3, "cannot open source"),
        (("search", "x", "-p", "absent"), 5, "absent"),
        (("status", "no-such-run"), 5, "no-such-run"),
        (("--set", "limits.nosuch=1", "status"), 3, "limits.nosuch"),
        (("backfill",), 2, "Missing argument"),
    ],
)
def test_errors_are_one_line_with_their_own_status(
    tmp_path: Path, arguments: tuple[str, ...], status: int, said: str
) -> None:
    done = corpus(tmp_path / "home", *arguments)
    assert done.returncode == status, done.stderr
    assert said in done.stderr and "Traceback" not in done.stderr


def test_plan_changes_nothing(tmp_path: Path) -> None:
    write_texts(tmp_path / "docs", 30)
    done = corpus(tmp_path / "home", "backfill", str(tmp_path / "docs"), "-p", "demo", "--local", "--plan", "--json")
    figures = json.loads(done.stdout)
    assert (figures["inputs"], figures["work"], figures["estimate"]["chunks"]) == (30, 30, 30)
    assert figures["estimate"]["tokens"] > 1000
    assert not (tmp_path / "home" / "store").exists()
