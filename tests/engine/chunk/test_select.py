"""The table of strategies against the files, "auto", and plug-ins."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

from engine.chunk import Piece, select
from engine.chunk.make import make_chunks
from engine.chunk.ruler import Ruler
from engine.document import Builder
from engine.errors import ConfigError
from engine.records import ChunkConfig, ExtractedDocument
from engine.settings import Settings


def test_every_strategy_has_its_file_and_loads(settings: Settings) -> None:
    folder = Path(select.__file__).parent
    for name in select.STRATEGIES:
        assert (folder / f"{name}.py").is_file()
        assert callable(select.chunker_for(name, settings))
    assert select.strategies(settings) == ["auto", "fixed", "recursive", "semantic", "sliding"]


def test_auto_looks_at_the_structure(settings: Settings) -> None:
    plain = Builder("txt", settings.limits)
    plain.paragraph("Just a paragraph. And more.")
    assert select.strategy_for(plain.finish(), "auto") == "recursive"
    headed = Builder("md", settings.limits)
    headed.heading(1, "Title")
    headed.paragraph("Text.")
    assert select.strategy_for(headed.finish(), "auto") == "semantic"
    assert select.strategy_for(headed.finish(), "fixed") == "fixed"


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-30T12:00:01Z something happened",
        "[2026-11-30 12:00:01,123] WARN x",
        "Nov 30 12:00:01 host sshd[1]: accepted",
        '127.0.0.1 - - [30/Nov/2026:12:00:01 +0000] "GET / HTTP/1.1" 200',
        "12:00:01.123 main started",
        "ERROR could not open",
    ],
)
def test_auto_slides_over_logs(line: str, settings: Settings) -> None:
    builder = Builder("txt", settings.limits)
    builder.paragraph("\n".join([line] * 20))
    assert select.strategy_for(builder.finish(), "auto") == "sliding"


def test_prose_is_no_log() -> None:
    assert not select.looks_like_log("\n".join(["In 2026 we walked on.", "It was 12 o'clock."] * 20))


def halves(document: ExtractedDocument, config: ChunkConfig, ruler: Ruler) -> list[Piece]:
    """A plug-in that ignores every limit."""
    middle = len(document.content) // 2
    return [Piece(-5, middle), Piece(middle, middle), Piece(middle, len(document.content) + 100)]


def test_a_plug_in_is_held_to_the_limits(limits, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(chunkers={"halves": "test_select_plugin:chunk"})
    module = types.ModuleType("test_select_plugin")
    module.chunk = halves  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "test_select_plugin", module)
    builder = Builder("txt", settings.limits)
    builder.paragraph(" ".join(f"word{i}" for i in range(2000)))
    document = builder.finish()
    chunks = make_chunks(document, "d", ChunkConfig(strategy="halves"), limits, settings)
    assert max(c.embed_token_count for c in chunks) <= 256
    assert "".join(c.content for c in chunks).replace(" ", "") == document.content.replace(" ", "")


def test_unknown_and_broken_strategies_are_named(settings: Settings) -> None:
    with pytest.raises(ConfigError, match=r"'nope'.*semantic"):
        select.chunker_for("nope", settings)
    with pytest.raises(ConfigError, match="no_such_module"):
        select.chunker_for("mine", Settings(chunkers={"mine": "no_such_module:chunk"}))
