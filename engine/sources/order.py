"""Key order for listings that come in any order: an external merge sort in bounded memory."""

from __future__ import annotations

import heapq
import json
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from typing import IO

from engine.sources import Listed

BUFFER = 100_000  # listed objects held at a time; each run on disk keeps a file open


def in_key_order(items: Iterable[Listed]) -> Iterator[Listed]:
    """The same objects sorted by the UTF-8 bytes of their keys (ties by URI). Larger listings are sorted
    in runs of `BUFFER` on disk and merged."""
    stream = iter(items)
    runs: list[IO[str]] = []
    while buffer := sorted(islice(stream, BUFFER), key=_order):
        if len(buffer) < BUFFER and not runs:
            yield from buffer
            return
        runs.append(_spill(buffer))
    yield from heapq.merge(*(map(_parse, run) for run in runs), key=_order)


def _order(item: Listed) -> tuple[bytes, str]:
    return item.key.encode("utf-8", "surrogatepass"), item.uri


def _spill(buffer: list[Listed]) -> IO[str]:
    run = tempfile.TemporaryFile("w+", encoding="utf-8", prefix="corpus-order-")  # noqa: SIM115 - closed when collected
    run.writelines(json.dumps(asdict(item)) + "\n" for item in buffer)
    run.seek(0)
    return run


def _parse(line: str) -> Listed:
    return Listed(**json.loads(line))
