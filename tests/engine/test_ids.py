"""Derived ids: fixed values, and no two tuples of parts that give the same one."""

from __future__ import annotations

import hashlib
import uuid

from hypothesis import given
from hypothesis import strategies as st

from engine.ids import (
    NAMESPACE,
    child_id,
    chunk_id,
    content_hash,
    document_id_for,
    embed_hash,
    point_id,
    upload_id_for,
)


def test_the_namespace_and_ids_never_change() -> None:
    assert uuid.uuid5(uuid.NAMESPACE_URL, "https://corpus.invalid/ids/v1") == NAMESPACE
    expected = str(uuid.uuid5(NAMESPACE, "document\x1fp\x1fs3://bucket\x1fa/b.pdf"))
    assert document_id_for("p", "s3://bucket", "a/b.pdf") == expected
    assert expected == "e6ec3595-2ff4-53a0-bd6e-3ff22000cf07"


parts = st.tuples(*[st.text("ab\x1f\\s", max_size=4)] * 3)


@given(parts, parts)
def test_different_parts_give_different_ids(left: tuple[str, str, str], right: tuple[str, str, str]) -> None:
    assert (document_id_for(*left) == document_id_for(*right)) == (left == right)


def test_kinds_do_not_collide() -> None:
    made = [child_id("a", "b"), upload_id_for("a", "b"), point_id("a", "b"), document_id_for("a", "b", "")]
    assert len(set(made)) == 4


def test_names_that_are_not_unicode_have_ids() -> None:
    assert document_id_for("p", "s", "caf\udce9.txt") != document_id_for("p", "s", "caf\\udce9.txt")


def test_the_content_hash_is_of_the_normalised_text() -> None:
    assert content_hash(" ﬁne\u00a0 print\n") == hashlib.sha256(b"fine print").hexdigest()
    assert content_hash("a b") != content_hash("ab")


def test_occurrence_and_document_matter() -> None:
    digest = content_hash("x")
    assert len({chunk_id("d", digest, 0), chunk_id("d", digest, 1), chunk_id("e", digest, 0)}) == 3


def test_embed_hash_separates_model_and_input() -> None:
    assert embed_hash("m", "\x1fx") != embed_hash("m\x1f", "x")
    assert len(embed_hash("m", "x")) == 64
