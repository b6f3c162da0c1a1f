"""Reading the ledger: ranges in byte order, keyset pages, retries, plans that use their indexes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import Connection

from engine.records import Failure
from engine.registry import Claim, Project, documents
from engine.registry.models import DOCUMENTS
from engine.registry.queries import Registry
from engine.registry.text import encode_json

from .ledger import child, claim, document_id, ingest, keys_of

# ICU or libc collations put these in other orders
AWKWARD = ["B", "a", "Z/1", "a b", "a-b", "a/b", "ab", "é", "e\u0301", "ß", "中", "文", "😀", "\ue000", "_", "~", ""]


def test_known_comes_in_byte_order(registry: Registry, project: Project) -> None:
    registry.claim([claim(project, key) for key in AWKWARD])
    assert keys_of(list(registry.known(project.id, "files"))) == sorted(AWKWARD, key=lambda k: k.encode())
    assert sorted(AWKWARD) == sorted(AWKWARD, key=lambda k: k.encode())


@pytest.mark.parametrize("page", [1, 2, 3, 5000])
def test_ranges_laid_end_to_end_miss_nothing(
    registry: Registry, project: Project, page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "PAGE", page)
    registry.claim([claim(project, key) for key in AWKWARD])
    registry.claim([claim(project, "a", document_id=document_id("twin")), claim(project, "x", source="other")])
    everything = sorted([*AWKWARD, "a"])
    assert keys_of(list(registry.known(project.id, "files"))) == everything
    marks = ["a", "ab", "é"]
    starts, ends = [None, *marks], [*marks, None]
    parts = [list(registry.known(project.id, "files", s, before=e)) for s, e in zip(starts, ends, strict=True)]
    assert [k for part in parts for k in keys_of(part)] == everything
    assert keys_of(list(registry.known(project.id, "files", "a", "ab"))) == ["a", "a", "a b", "a-b", "a/b", "ab"]
    assert keys_of(list(registry.known(project.id, "files", "中", "中"))) == ["中"]
    assert list(registry.known(project.id, "files", "b", "a")) == []
    assert list(registry.known(project.id, "nowhere")) == []


def test_known_shows_neither_deleted_nor_children_nor_other_projects(registry: Registry, project: Project) -> None:
    other = registry.project("other", create=True)
    ingest(registry, project, "a", "b", "c")
    registry.claim([child(project, "a", "a/inner")])
    registry.claim([claim(other, "theirs")])
    registry.delete(document_id("b"))
    assert keys_of(list(registry.known(project.id, "files"))) == ["a", "c"]
    assert keys_of(list(registry.known(other.id, "files"))) == ["theirs"]


def test_a_reader_may_change_rows_while_it_reads(
    registry: Registry, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "PAGE", 3)
    keys = [f"k{n:02}" for n in range(20)]
    registry.claim([claim(project, key) for key in keys])
    seen: list[str] = []
    for known in registry.known(project.id, "files"):
        seen.append(known.key)
        registry.delete(known.document_id) if int(known.key[1:]) % 2 else ingest(registry, project, known.key)
    assert seen == keys
    assert keys_of(list(registry.known(project.id, "files"))) == keys[::2]


def test_lists_come_newest_first_and_page_by_the_last_id(registry: Registry, project: Project) -> None:
    for number in range(7):
        source = "files" if number % 3 else "mail"
        registry.claim([claim(project, f"k{number}", source=source)])
    registry.claim([claim(registry.project("other", create=True), "theirs")])
    newest_first = [f"k{n}" for n in range(6, -1, -1)]
    assert [d.key for d in registry.documents(project.id)] == newest_first
    seen: list[str] = []
    after = None
    while page := registry.documents(project.id, after=after, limit=3):
        seen += [d.key for d in page]
        after = page[-1].document_id
    assert seen == newest_first
    assert [d.key for d in registry.documents(project.id, source="mail")] == ["k6", "k3", "k0"]
    assert [d.source for d in registry.documents(project.id, source="mail", limit=1)] == ["mail"]
    assert registry.documents(project.id, after=document_id("unknown")) == []
    registry.delete(document_id("k3"))
    assert [d.key for d in registry.documents(project.id, after=document_id("k3"))] == ["k2", "k1", "k0"]


def test_documents_of_one_batch_page_without_loss(registry: Registry, project: Project) -> None:
    registry.claim([claim(project, f"k{n}") for n in range(25)])
    first = registry.documents(project.id, limit=10)
    second = registry.documents(project.id, limit=10, after=first[-1].document_id)
    third = registry.documents(project.id, limit=10, after=second[-1].document_id)
    assert len({d.key for d in [*first, *second, *third]}) == 25


def test_lists_filter_by_status(registry: Registry, project: Project) -> None:
    ingest(registry, project, "a", "b")
    registry.claim([claim(project, "c"), claim(project, "d")])
    registry.fail([(document_id("d"), 1, Failure("OCR_FAILED", "ocr", "m"))])
    assert {d.key for d in registry.documents(project.id, status="completed")} == {"a", "b"}
    assert [d.key for d in registry.documents(project.id, status="processing")] == ["c"]
    assert [d.key for d in registry.documents(project.id, status="failed", source="files")] == ["d"]
    assert registry.documents(project.id, status="no such") == []


def test_failed_documents_come_back_as_claims(registry: Registry, project: Project) -> None:
    run = registry.start_run(project.id, "files", "file:///files", {})
    wanted = claim(project, "a", etag="e7", mtime=None)
    registry.claim([wanted], run)
    registry.claim([claim(project, "b", source="mail"), claim(project, "c")])
    registry.fail([(document_id(k), 1, Failure("OCR_FAILED", "ocr", "m")) for k in "ab"])
    assert list(registry.failed(project.id, run_id=run)) == [wanted]
    assert [c.key for c in registry.failed(project.id)] == ["a", "b"]
    assert [c.key for c in registry.failed(project.id, source="mail")] == ["b"]
    assert registry.claim(list(registry.failed(project.id))) == {document_id("a"): 2, document_id("b"): 2}
    assert list(registry.failed(project.id)) == []


def test_active_takes_thousands_of_ids(registry: Registry, project: Project) -> None:
    keys = [f"k{n}" for n in range(1200)]
    ingest(registry, project, *keys)
    registry.delete(document_id("k0"))
    found = registry.active([document_id(key) for key in [*keys, "other"]])
    assert len(found) == 1199
    assert set(found.values()) == {"r1"}
    assert registry.stats(project.id)["chunks"] == 3 * 1199


def test_stats_agree_with_a_count(registry: Registry, project: Project) -> None:
    ingest(registry, project, *"abcdef")
    registry.claim([claim(project, "a"), claim(project, "g")])
    ingest(registry, project, "b", revision="r2")
    registry.delete(document_id("c"))
    registry.fail([(document_id("a"), 2, Failure("X", "ocr", ""))])
    d = DOCUMENTS.c
    real = registry.read(lambda c: c.execute(sa.select(d.status, sa.func.count()).group_by(d.status)).all())
    shown = registry.read(lambda c: c.execute(sa.select(sa.func.sum(d.chunk_count))).scalar())
    stats = registry.stats(project.id)
    assert stats == {
        "completed": 4, "pending": 0, "processing": 1, "failed": 1, "skipped": 0, "visible": 5, "chunks": 15,
    }  # fmt: skip
    assert {s: n for s, n in real} == {"completed": 4, "processing": 1, "failed": 1, "deleted": 1}
    assert shown == 15


def fill(registry: Registry, project: Project, count: int) -> None:
    """Rows in bulk, past the API: half completed, zero-padded keys."""
    source_id = registry.source_ids([(project.id, "files")])[project.id, "files"]
    time = datetime.now(UTC)

    def rows(start: int) -> list[dict[str, object]]:
        return [
            {
                "id": document_id(str(n)),
                "project_id": project.id,
                "source_id": source_id,
                "status": "failed" if n % 1000 == 0 else "completed",
                "swept_generation": 1,
                "claimed_at": time,
                "created_at": time,
                "updated_at": time,
                "key": f"folder/{n:09}",
                "warnings": [],
                "metadata": {},
            }
            for n in range(start, min(start + 5000, count))
        ]

    def work(connection: Connection) -> None:
        for start in range(0, count, 5000):
            connection.execute(sa.insert(DOCUMENTS), rows(start))

    registry.write(work)
    if registry.engine.dialect.name == "postgresql":
        with registry.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(sa.text("VACUUM ANALYZE documents"))


def _plans(registry: Registry, use: Callable[[], object]) -> str:
    """The plans of every SELECT on documents that `use` sends, with values bound as the product binds them."""
    plans: list[str] = []
    prefix = "EXPLAIN " if registry.engine.dialect.name == "postgresql" else "EXPLAIN QUERY PLAN "

    def before(_c: Connection, cursor: object, statement: str, parameters: object, _x: object, _m: bool) -> None:
        if statement.startswith("SELECT") and "documents" in statement:
            cursor.execute(prefix + statement, parameters)  # type: ignore[attr-defined]
            plans.extend(str(row) for row in cursor.fetchall())  # type: ignore[attr-defined]

    event.listen(registry.engine, "before_cursor_execute", before)
    use()
    event.remove(registry.engine, "before_cursor_execute", before)
    return "\n".join(plans)


def test_every_long_read_goes_through_its_index(registry: Registry, project: Project) -> None:
    fill(registry, project, 20_000)
    some = [document_id(str(n)) for n in range(100)]
    uses: dict[str, Callable[[], object]] = {
        "ix_documents_key": lambda: list(registry.known(project.id, "files", "folder/000010000", "folder/000010100")),
        "ix_documents_age": lambda: registry.documents(project.id, after=some[0]),
        "ix_documents_open": lambda: list(registry.failed(project.id)),
        "pk_documents sqlite_autoindex_documents_1": lambda: registry.active(some),
        "ix_documents_unswept": lambda: list(registry.stale(10)),
        "ix_documents_parent": lambda: registry.children(some[0]),
    }
    for names, use in uses.items():
        plan = _plans(registry, use)
        assert any(name in plan for name in names.split()), plan
        assert "Seq Scan on documents" not in plan, plan
        assert "SCAN documents\n" not in plan, plan
    assert "ix_documents_open" in _plans(registry, lambda: registry.stats(project.id))
    assert "ix_documents_open" in _plans(registry, lambda: registry.documents(project.id, status="failed"))
    for sorted_use in (uses["ix_documents_key"], uses["ix_documents_age"], uses["ix_documents_unswept"]):
        plan = _plans(registry, sorted_use)
        assert "TEMP B-TREE" not in plan, plan
        assert "Sort" not in plan, plan


@pytest.mark.slow
def test_streaming_two_hundred_thousand_rows_keeps_memory_flat(registry: Registry, project: Project) -> None:
    fill(registry, project, 200_000)
    next(registry.known(project.id, "files"))
    tracemalloc.start()
    count = sum(1 for _ in registry.known(project.id, "files"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 200_000
    assert peak < 20_000_000, "a page's worth, not the source's"


def test_json_is_plain(registry: Registry) -> None:
    assert encode_json({"a": [float("nan"), (1, "é")], "t": datetime(2026, 1, 2, tzinfo=UTC)}) == (
        '{"a": [null, [1, "\\u00e9"]], "t": "2026-01-02 00:00:00+00:00"}'
    )


def test_claims_and_failed_are_the_same_record() -> None:
    assert list(Claim.__dataclass_fields__)[:11] == [
        "document_id", "project_id", "source", "key", "uri", "filename", "size", "etag", "mtime", "parent_id",
        "inner_path",
    ]  # fmt: skip
