"""Documents made for tests and benchmarks: plain, numbered, unlike one another, the same for the same seed."""

from __future__ import annotations

import random
from pathlib import Path

_WORDS = str.split("""
harbour keeper lamp tide ledger signal storm repair brass lens survey channel buoy anchor winter
rescue pilot chart depth current vessel cargo inspection timetable fuel engine gauge crew report
permit berth crane quay pressure valve rope beacon visibility fog bulletin radio antenna battery
schedule invoice supplier contract
""")


def sentence(draw: random.Random, words: int = 12) -> str:
    """One sentence of random words."""
    return " ".join(draw.choice(_WORDS) for _ in range(words)).capitalize() + "."


def text(seed: int, sentences: int = 6, salt: str = "") -> str:
    """A short text that no other seed or salt gives."""
    draw = random.Random(f"{salt}-{seed}")
    return f"Record {salt}{seed}.\n\n" + " ".join(sentence(draw) for _ in range(sentences))


def write_texts(folder: Path, count: int, sentences: int = 6, salt: str = "", suffix: str = ".txt") -> None:
    """`count` files, at most a thousand a folder."""
    for n in range(count):
        path = folder / f"{n // 1000:03}" / f"doc-{n:06}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(n, sentences, salt), "utf-8")
