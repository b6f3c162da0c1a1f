"""The merge join of listing and registry."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.changes import changes
from engine.registry import Known
from engine.sources import Listed


def _known(key: str, etag: str = "e", status: str = "completed", fingerprint: str = "F", mtime: float = 1.0) -> Known:
    return Known(f"id-{key}", key, 10, etag, mtime, "sha", fingerprint, status, 1)


def _verdicts(listing: list[Listed], known: list[Known]) -> list[tuple[str, str, str]]:
    found = changes(listing, known, "F")
    return [((c.listed or c.known).key, c.verdict, c.sha256) for c in found]  # type: ignore[union-attr]


def test_each_kind_of_change() -> None:
    listing = [Listed(k, f"file:///{k}", 10, e, 1.0) for k, e in
               [("a", "e"), ("b", "new"), ("c", "e"), ("c", "e"), ("d", "e"), ("f", "e"), ("g", "e")]]  # fmt: skip
    known = [_known("a"), _known("b"), _known("c", fingerprint="old"), _known("d", status="failed"),
             _known("e"), _known("g", status="skipped"), _known("z", status="processing")]  # fmt: skip
    assert _verdicts(listing, known) == [
        ("a", "unchanged", ""), ("b", "changed", "sha"), ("c", "changed", ""), ("c", "duplicate", ""),
        ("d", "again", ""), ("e", "missing", ""), ("f", "new", ""), ("g", "unchanged", ""), ("z", "missing", ""),
    ]  # fmt: skip


def test_without_etags_size_and_time_decide() -> None:
    same, later = Listed("a", "u", 10, "", 1.0), Listed("a", "u", 10, "", 2.0)
    assert _verdicts([same], [_known("a", etag="")]) == [("a", "unchanged", "")]
    assert _verdicts([later], [_known("a", etag="")]) == [("a", "changed", "sha")]
    assert _verdicts([Listed("a", "u", 10)], [_known("a", etag="")]) == [("a", "changed", "sha")]


@given(st.sets(st.text(min_size=1, max_size=4)), st.sets(st.text(min_size=1, max_size=4)))
def test_every_key_gets_one_verdict(listed: set[str], known: set[str]) -> None:
    def ordered(keys: set[str]) -> list[str]:
        return sorted(keys, key=lambda k: k.encode("utf-8", "surrogatepass"))

    found = _verdicts([Listed(k, k, 10, "e") for k in ordered(listed)], [_known(k) for k in ordered(known)])
    assert {k: v for k, v, _ in found} == {
        **{k: "new" for k in listed - known}, **{k: "unchanged" for k in listed & known},
        **{k: "missing" for k in known - listed},
    }  # fmt: skip
    assert len(found) == len(listed | known)
