"""Chunking: strategy functions over a document's spans, and the table that names them.

A strategy is `chunk(document, config, counter) -> list[Piece]`; `make_chunks` turns pieces into `Chunk`s
(ids, counts, provenance) and holds them to both token limits. See `engine.chunk.make`.
"""
