"""Chunks to points and back."""

import uuid

import numpy as np
import pytest

from engine.analyse import query_row
from engine.ids import point_id
from engine.points import EVERYONE, PointContext, build_points, chunk_of, context_of
from engine.records import Box, Chunk, ChunkMetadata, Relation
from engine.store import PAYLOAD_INDEXES

CONTEXT = PointContext("p", "d", "rev", 3, "report.pdf", "finance/report.pdf", "share", "en", "Report")


def chunk(**changes) -> Chunk:
    meta = ChunkMetadata(
        page_numbers=[2, 3],
        section_heading="Outlook",
        section_path=["Part II", "Outlook"],
        chunk_index=4,
        total_chunks=9,
        element_type="table",
        chunk_type="table",
        source_format="pdf",
        extraction_method="mixed",
        char_start=10,
        char_end=60,
        boxes=[Box(2, 1.5, 2.0, 30.0, 40.5), Box(3, 0.0, 0.0, 10.0, 10.0)],
        table_rows=(0, 7),
        acl=["bob", "alice"],
        summary="margins widened",
        keywords=["EBITDA"],
        connect_to=[Relation("image-1", "embeds", "fig. 1", 17)],
    )
    values = {
        "chunk_id": str(uuid.UUID(int=1)),
        "document_id": "d",
        "content": "## Outlook\n\nRevenue will grow in AB-1234",
        "content_hash": "h1",
        "token_count": 11,
        "embed_token_count": 14,
        "metadata": meta,
        "prefix_length": 12,
        "lexical_prefix": "Earlier sentence.",
    }
    return Chunk(**{**values, **changes})


def build(chunks):
    vectors = np.arange(len(chunks) * 2, dtype=np.float32).reshape(-1, 2)
    return build_points(chunks, vectors, "m", [f"e{i}" for i in range(len(chunks))], CONTEXT)


def test_a_chunk_survives_the_way_there_and_back():
    original = chunk()
    [payload] = build([original]).payloads
    back = chunk_of(payload)
    assert back.metadata.acl == ["alice", "bob"]
    back.metadata.acl = original.metadata.acl
    assert back == original
    assert context_of(payload) == CONTEXT
    bare = chunk(metadata=ChunkMetadata([], None, [], 0, 1, "text", "text", "txt", "text", 0, 5))
    assert chunk_of(build([bare]).payloads[0]) == bare


def test_every_indexed_field_is_written():
    [payload] = build([chunk()]).payloads
    assert set(PAYLOAD_INDEXES) <= set(payload)
    assert (payload["generation"], payload["embed_hash"], payload["content_hash"]) == (3, "e0", "h1")
    assert payload["boxes"] == [[2, 1.5, 2.0, 30.0, 40.5], [3, 0.0, 0.0, 10.0, 10.0]]


def test_an_open_chunk_is_for_everyone():
    open_chunk = chunk()
    open_chunk.metadata.acl = []
    [payload] = build([open_chunk]).payloads
    assert payload["acl"] == [EVERYONE]
    assert chunk_of(payload).metadata.acl == []


def test_ids_follow_chunk_and_revision():
    points = build([chunk(), chunk(chunk_id=str(uuid.UUID(int=2)))])
    assert points.ids == [point_id(str(uuid.UUID(int=n)), "rev") for n in (1, 2)]
    assert uuid.UUID(points.ids[0]).version == 5
    np.testing.assert_array_equal(points.dense["m"], [[0, 1], [2, 3]])


@pytest.mark.parametrize(
    ("channel", "inside", "outside"),
    [
        ("content", ["revenue", "earlier", "ebitda", "margins", "outlook", "1234"], ["finance", "pdf"]),
        ("path", ["finance", "report", "pdf", "outlook", "part"], ["revenue", "ebitda"]),
        ("term", ["AB-1234", "123", "finance", "Revenue"], ["margins", "earlier"]),
    ],
)
def test_what_each_channel_knows_of_a_chunk(channel, inside, outside):
    rows = build([chunk()]).sparse[channel]
    assert len(rows) == 1
    known = set(rows.row(0)[0].tolist())
    for word in inside:
        assert known & set(query_row(word, "en", channel)[0].tolist()), word
    for word in outside:
        assert not known & set(query_row(word, "en", channel)[0].tolist()), word


def test_no_chunks_are_no_points():
    points = build([])
    assert len(points) == 0
    assert {channel: len(rows) for channel, rows in points.sparse.items()} == {"content": 0, "path": 0, "term": 0}


def test_unknown_and_missing_payload_fields_are_tolerated():
    [payload] = build([chunk()]).payloads
    payload["from_the_future"] = 1
    del payload["lexical_prefix"], payload["summary"], payload["connect_to"]
    back = chunk_of(payload)
    assert (back.lexical_prefix, back.metadata.summary, back.metadata.connect_to) == ("", "", [])
