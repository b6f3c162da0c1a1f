"""A client of the API for notebooks and services.

    from serve.client import Corpus
    corpus = Corpus("http://127.0.0.1:8016", token="corpus_...")
    corpus.upload("report.pdf", project="demo", wait=True)
    for hit in corpus.search("who signed the lease", project="demo"):
        print(hit.citation, hit.content)

`AsyncCorpus` has the same methods to be awaited. Both need httpx only: neither Ray nor a model is loaded.
"""

from __future__ import annotations

from serve.client.asynchronous import AsyncCorpus
from serve.client.errors import ApiError, ProcessingError
from serve.client.records import Chunk, Document, Event, Hit, Project, Ticket
from serve.client.synchronous import Corpus

__all__ = [
    "ApiError",
    "AsyncCorpus",
    "Chunk",
    "Corpus",
    "Document",
    "Event",
    "Hit",
    "ProcessingError",
    "Project",
    "Ticket",
]
