"""Backfills in this process (`--local`): accounting, resuming, changes, containers, poison documents."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import pytest
from corpora import text, write_texts

from engine.errors import ConfigError, SourceError, StorageError
from engine.registry.queries import open_registry
from engine.settings import Settings, load
from engine.sources import local
from engine.store import Condition, Filter
from engine.store.open import open_store
from jobs.backfill import BackfillResult, backfill
from jobs.estimate import estimate

HERE = Path(__file__).resolve().parents[1]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load({"home": tmp_path / "home", "scratch": tmp_path / "scratch"}, environ={})


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    return folder


def run(docs: Path, settings: Settings, **options: object) -> BackfillResult:
    result = backfill(str(docs), "demo", settings, local=True, source_name="docs", **options)
    assert result.totals.as_dict()["accounted"] is True
    return result


def points(settings: Settings) -> Iterator[dict[str, object]]:
    store = open_store(settings, ray=False)
    project = open_registry(settings).project("demo").id
    for batch in store.scroll(Filter([Condition("project_id", "any", [project])])):
        yield from (record.payload for record in batch)
    store.close()


def test_a_second_run_reads_and_embeds_nothing(docs: Path, settings: Settings) -> None:
    write_texts(docs, 5)
    first = run(docs, settings)
    assert (first.totals.published, first.totals.embedded) == (5, first.totals.chunks)
    for file in docs.rglob("*.txt"):  # same size and time, unreadable bytes: reading any would show
        kept = file.stat()
        file.write_bytes(b"\0" * kept.st_size)
        os.utime(file, ns=(kept.st_atime_ns, kept.st_mtime_ns))
    second = run(docs, settings)
    assert dict(second.totals.skipped) == {"unchanged": 5}
    assert (second.totals.bytes, second.totals.embedded) == (0, 0)


def test_only_what_changed_is_worked_on(docs: Path, settings: Settings) -> None:
    write_texts(docs, 4)
    run(docs, settings)
    changed, gone, touched = (docs / "000" / f"doc-{n:06}.txt" for n in (0, 1, 2))
    changed.write_text(changed.read_text() + "\n\nA paragraph about walruses.")
    gone.unlink()
    os.utime(touched, ns=(1, 1))
    (docs / "new.txt").write_text(text(99))
    result = run(docs, settings)
    assert (result.totals.published, result.totals.skipped["unchanged"], result.totals.missing) == (2, 2, 1)
    assert result.totals.bytes == sum(f.stat().st_size for f in (changed, touched, docs / "new.txt"))
    assert any("walruses" in str(p["content"]) for p in points(settings))
    revisions = {(p["document_id"], p["revision"]) for p in points(settings)}
    assert len(revisions) == len({document for document, _ in revisions}) == 5
    assert run(docs, settings, delete_missing=True).totals.deleted == 1
    assert not any(gone.name in str(p["key"]) for p in points(settings))


def test_a_large_deletion_is_refused(docs: Path, settings: Settings) -> None:
    write_texts(docs, 4)
    run(docs, settings)
    for n in range(3):
        (docs / "000" / f"doc-{n:06}.txt").unlink()
    with pytest.raises(ConfigError, match="3 of 4 documents"):
        run(docs, settings, delete_missing=True)
    assert len({p["document_id"] for p in points(settings)}) == 4


def test_nothing_is_deleted_on_the_word_of_a_listing_that_is_not_whole(
    docs: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_texts(docs, 4)
    run(docs, settings)
    (docs / "000" / "doc-000003.txt").unlink()
    (docs / "closed").mkdir()
    entries = local._entries

    def denied(path: bytes, base: bytes) -> list[tuple[bytes, bool]]:
        if path.endswith(b"closed"):
            raise PermissionError(13, "Permission denied")  # root reads everything, so it cannot be set up for real
        return entries(path, base)

    monkeypatch.setattr(local, "_entries", denied)
    with pytest.raises(ConfigError, match="not whole"):
        run(docs, settings, delete_missing=True)
    totals = run(docs, settings).totals
    assert (dict(totals.failed), totals.missing, totals.unlisted) == ({"SOURCE_UNAVAILABLE": 1}, 1, 1)


def test_planning_keeps_nothing(docs: Path, settings: Settings) -> None:
    write_texts(docs, 2)
    run(docs, settings)
    other = settings.model_copy(update={"chunking": type(settings.chunking)(max_tokens=64)})
    assert estimate(str(docs), "demo", other, local=True, source_name="docs")["work"] == 2
    assert dict(run(docs, settings).totals.skipped) == {"unchanged": 2}


def test_changed_options_reach_published_documents_and_equal_texts_are_not_embedded_again(
    docs: Path, settings: Settings
) -> None:
    write_texts(docs, 3)
    run(docs, settings)
    result = run(docs, settings.model_copy(update={"ocr": settings.ocr.model_copy(update={"dpi": 150})}))
    assert (result.totals.published, result.totals.embedded, result.totals.reused) == (3, 0, 3)


def test_what_is_inside_is_published_under_its_parent_and_goes_with_it(docs: Path, settings: Settings) -> None:
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = "The lamp", "ann@example.org", "bo@example.org"
    mail.set_content("See the attached note about the lamp.")
    mail.add_attachment(b"The lamp burns whale oil.", maintype="text", subtype="plain", filename="note.txt")
    with zipfile.ZipFile(docs / "box.zip", "w") as box:
        box.writestr("letters/lamp.eml", mail.as_bytes())
        box.writestr("plain.txt", text(1))
        box.writestr("broken.pdf", b"%PDF-1.4 nothing here")
    result = run(docs, settings)
    totals = result.totals
    assert (totals.published, totals.inside_published, dict(totals.inside_failed)) == (1, 3, {"EXTRACTION_FAILED": 1})
    keys = {str(p["key"]) for p in points(settings)}
    assert "box.zip!/letters/lamp.eml!/note.txt" in keys
    assert run(docs, settings).totals.published == 1, "something inside failed, so it is tried again"
    with zipfile.ZipFile(docs / "box.zip", "w") as box:
        box.writestr("plain.txt", text(1))
    again = run(docs, settings)
    assert (again.totals.published, again.totals.inside_published, again.totals.embedded) == (1, 1, 1)
    assert {str(p["key"]) for p in points(settings)} == {"box.zip", "box.zip!/plain.txt"}
    assert dict(run(docs, settings).totals.skipped) == {"unchanged": 1}


def test_bad_input_is_one_outcome_each(docs: Path, settings: Settings, tmp_path: Path) -> None:
    (docs / "good.txt").write_text(text(1))
    (docs / "empty.txt").write_bytes(b"")
    (docs / "blank.txt").write_text(" \n\t\n")
    (docs / "noise.bin").write_bytes(bytes(range(256)) * 8)
    (docs / "gone.txt").symlink_to(tmp_path / "nowhere")
    os.mkfifo(docs / "pipe.txt")
    (docs / "not-word.docx").write_text("plain text")
    (docs / "big.txt").write_bytes(b"x" * ((1 << 20) + 1))
    Path(os.fsdecode(os.fsencode(docs) + b"/caf\xe9.txt")).write_text(text(2))
    small = settings.model_copy(update={"limits": settings.limits.model_copy(update={"file_mb": 1})})
    result = run(docs, small)
    frame = result.to_pandas().set_index("key")
    assert frame["status"].to_dict() == {
        "good.txt": "published", "caf\\xe9.txt": "published", "empty.txt": "skipped", "blank.txt": "skipped",
        "noise.bin": "failed", "gone.txt": "failed", "pipe.txt": "failed", "not-word.docx": "failed",
        "big.txt": "failed",
    }  # fmt: skip
    assert frame["code"].to_dict() | {} == {
        **dict.fromkeys(["good.txt", "caf\\xe9.txt", "empty.txt", "blank.txt"], ""),
        "noise.bin": "UNSUPPORTED_FORMAT", "gone.txt": "SOURCE_UNAVAILABLE", "pipe.txt": "SOURCE_UNAVAILABLE",
        "not-word.docx": "EXTRACTION_FAILED", "big.txt": "FILE_TOO_LARGE",
    }  # fmt: skip


def test_poison_documents_fail_alone(docs: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    write_texts(docs, 6)
    for deed in ("segv", "loop", "memory"):
        (docs / f"{deed}.poison").write_text(f"{deed}\nnever read")
    (docs / "fine.poison").write_text("fine\nA plug-in's own text.")
    update: dict[str, object] = {
        "limits": settings.limits.model_copy(update={"document_seconds": 10, "rss_mb": 1024}),
        "extractors": {"poison": "poison_extractor:extract"},
        "formats": {"poison": [".poison"]},
    }
    result = run(docs, settings.model_copy(update=update))
    assert result.totals.published == 7
    codes = result.to_pandas().set_index("key")["code"].to_dict()
    assert codes["segv.poison"] == "EXTRACTION_FAILED"
    assert codes["loop.poison"] == "EXTRACTION_TIMEOUT"
    assert codes["memory.poison"] == "LIMIT_EXCEEDED"


def test_duplicate_keys_of_a_manifest_are_said(docs: Path, settings: Settings) -> None:
    (docs / "a.txt").write_text(text(1))
    (docs / "list.jsonl").write_text('{"uri": "a.txt"}\n{"uri": "a.txt"}\n')
    result = backfill(str(docs / "list.jsonl"), "demo", settings, local=True, manifest=True)
    assert (result.totals.published, dict(result.totals.skipped)) == (1, {"duplicate_key": 1})


def test_names_that_cannot_be_stored_are_failures_of_their_own(docs: Path, settings: Settings) -> None:
    deep = docs / ("d" * 200)
    for _ in range(10):
        deep = deep / ("d" * 200)
    deep.mkdir(parents=True)
    (deep / "a.txt").write_text(text(1))
    with zipfile.ZipFile(docs / "box.zip", "w") as box:
        box.writestr("x" * 2100 + ".txt", text(2))
        box.writestr("short.txt", text(3))
    totals = run(docs, settings).totals
    assert (totals.published, dict(totals.failed)) == (1, {"SOURCE_UNAVAILABLE": 1})
    assert totals.inside_published == 2, "the archive's overlong name was shortened"


def test_caps_stop_cleanly_and_the_next_run_goes_on(docs: Path, settings: Settings) -> None:
    write_texts(docs, 5)
    first = run(docs, settings, max_documents=2)
    assert (first.status, first.totals.published) == ("capped", 2)
    second = run(docs, settings)
    assert (second.status, second.totals.published, second.totals.skipped["unchanged"]) == ("completed", 3, 2)


def test_an_empty_source_is_said_before_any_work(docs: Path, settings: Settings) -> None:
    with pytest.raises(SourceError, match="holds no documents"):
        run(docs, settings)


def test_another_model_under_the_same_vector_is_refused(docs: Path, settings: Settings) -> None:
    (docs / "a.txt").write_text(text(1))
    run(docs, settings)
    other = settings.model_copy(update={"embedding": settings.embedding.model_copy(update={"document_prefix": "x: "})})
    with pytest.raises(ConfigError):
        run(docs, other)


def test_what_a_parser_says_in_the_wrong_form_fails_its_document_alone(docs: Path, settings: Settings) -> None:
    (docs / "good.txt").write_text(text(1))
    (docs / "odd.md").write_text(
        '---\ndate: "2020-01-01T00:00:00+23:59:59.999"\nid: 0x' + "f" * 6000 + "\n---\n# Tides\n\nHigh."
    )
    (docs / "odd.json").write_text('{"title": "\\ud800bad", "body": "Some words."}')
    totals = run(docs, settings).totals
    assert (totals.published, dict(totals.failed)) == (3, {})


def test_a_broken_manifest_is_a_message_and_a_broken_row_a_failure(docs: Path, settings: Settings) -> None:
    (docs / "a.txt").write_text(text(1))
    rows = ['{"uri": "a.txt"}', '{"uri": "file:///tmp/a%00b"}', '{"uri": "http://[x"}', '{"uri": "b", "size": "many"}']
    (docs / "rows.jsonl").write_text("\n".join([*rows, '{"uri": "c", "size": 100000000000000000000}']))
    result = backfill(str(docs / "rows.jsonl"), "demo", settings, local=True, manifest=True)
    assert (result.totals.published, dict(result.totals.failed)) == (1, {"SOURCE_UNAVAILABLE": 4})
    for name, body in (
        ("broken.jsonl", b"{"),
        ("list.jsonl", b"[1]\n"),
        ("latin.csv", b"uri\n\xff\n"),
        ("x.parquet", b"no"),
    ):
        (docs / name).write_bytes(body)
        with pytest.raises(ConfigError, match="manifest"):
            backfill(str(docs / name), "demo", settings, local=True, manifest=True)


def test_a_lost_store_is_said(docs: Path, settings: Settings) -> None:
    (docs / "a.txt").write_text(text(1))
    run(docs, settings)
    shutil.rmtree(settings.home / "store")
    (docs / "b.txt").write_text(text(2))
    with pytest.raises(StorageError, match="has no points of project 'demo'"):
        run(docs, settings)
