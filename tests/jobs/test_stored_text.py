"""The Markdown of a stored document put together from its chunks: every part once, with the headings between."""

from __future__ import annotations

from engine.chunk.make import make_chunks
from engine.document import Builder
from engine.embed.make import model_limits
from engine.records import ChunkConfig, ExtractedDocument
from engine.settings import Settings
from engine.tables import table_from_rows
from jobs.stored_text import joined

SETTINGS = Settings()


def document() -> ExtractedDocument:
    builder = Builder("md", SETTINGS.limits)
    builder.heading(1, "Handbook")
    for number in range(3):
        builder.heading(2, f"Part {number}")
        builder.paragraph(" ".join(f"Sentence {number}.{n} speaks of the lamp and of the oil." for n in range(40)))
    builder.heading(2, "Prices")
    builder.table(table_from_rows([["what", "price"], *([f"rope {n}", f"£{n}.50"] for n in range(150))]))
    builder.list_block([(1, "-", "first"), (2, "-", "inner")])
    return builder.finish()


def test_text_from_chunks_is_the_text() -> None:
    made = document()
    for strategy, overlap in (("semantic", 0), ("sliding", 64), ("fixed", 32)):
        config = ChunkConfig(strategy, overlap_tokens=overlap)
        chunks = make_chunks(made, "d", config, model_limits(SETTINGS), SETTINGS)
        assert len(chunks) > 8
        payloads = [
            {
                "content": c.content,
                "char_start": c.metadata.char_start,
                "char_end": c.metadata.char_end,
                "section_path": c.metadata.section_path,
            }
            for c in chunks
        ]
        assert joined(payloads).split() == made.content.split(), strategy
        assert joined(payloads).count("| what | price |") == 1
