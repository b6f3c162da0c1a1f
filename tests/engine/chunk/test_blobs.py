"""Encoded data is replaced by a note, counted, and nothing else is."""

from __future__ import annotations

import base64
import hashlib
import random

from engine.chunk.blobs import drop_blobs, looks_encoded
from engine.document import Builder
from engine.tables import table_from_rows

DATA = base64.b64encode(random.Random(5).randbytes(1_500_000)).decode()


def test_a_two_megabyte_data_uri_becomes_a_note(builder: Builder, chunked) -> None:
    """P36: encoded data is left out of the text, and said to be, rather than cut into hundreds of chunks."""
    builder.start_page(3)
    builder.paragraph(f"Before data:image/png;base64,{DATA} after.")
    document = builder.finish()
    (chunk,) = chunked(document)
    assert chunk.content == "Before [image/png data of 2000000 characters left out] after."
    assert document.content == chunk.content
    assert [(w.code, w.place, w.count) for w in document.warnings] == [("base64_dropped", "page 3", 1)]


def test_bare_base64_and_mime_lines_and_cells(builder: Builder) -> None:
    builder.paragraph(f"key: {DATA[:4000]} end")
    builder.paragraph("\n".join(DATA[i : i + 76] for i in range(0, 2000, 76)))
    builder.table(table_from_rows([["name", "blob"], ["x", DATA[:1000]]]))
    document = builder.finish()
    assert drop_blobs(document) == 3
    assert "[base64 data of 4000 characters left out] end" in document.content
    assert "| x | [base64 data of 1000 characters left out] |" in document.content
    assert DATA[:60] not in document.content


def test_what_only_looks_long_is_kept(builder: Builder) -> None:
    texts = [
        "a" * 200_000,
        hashlib.sha512(b"x").hexdigest() * 8,
        "ACGT" * 500,
        "/".join(f"folder{i}" for i in range(200)),
        "ThisIsAVeryLongIdentifier1WithoutAnySpaces" * 20,
    ]
    for text in texts:
        builder.paragraph(text)
    document = builder.finish()
    assert drop_blobs(document) == 0
    assert all(text in document.content for text in texts)
    assert not looks_encoded(texts[4])
