"""Pages that are made from code are up to date."""

from __future__ import annotations

import re

from engine.formats import EXTRACTORS
from scripts.settings_doc import TARGET, page


def test_the_settings_page_matches_the_model() -> None:
    assert TARGET.read_text("utf-8") == page(), "run: python -m scripts.settings_doc"


def test_the_pages_on_formats_name_every_format_and_only_real_losses() -> None:
    docs = TARGET.parent
    formats, extraction = ((docs / name).read_text("utf-8") for name in ("formats.md", "extraction.md"))
    listed = "\n".join(line.split("|")[2] for line in formats.splitlines() if line.startswith("| "))
    assert set(EXTRACTORS) <= set(re.findall(r"\w+", listed))
    kept = extraction.split("## By format")[1].split("Encrypted documents")[0]
    rows = " ".join(line.split("|")[1] for line in kept.splitlines() if line.startswith("| "))
    pictures = {"png", "jpg", "tiff", "bmp", "webp", "gif", "heic"}
    assert set(EXTRACTORS) - pictures <= set(re.findall(r"\w+", rows)) and "pictures" in rows
    code = "".join(path.read_text("utf-8") for path in (docs.parent / "engine").rglob("*.py"))
    losses = re.findall(r"`(image_\w+)`", extraction)
    assert len(losses) >= 6 and all(f'"{loss}"' in code for loss in losses)
    for setting in re.findall(r"`((?:extraction|ocr|limits)\.[a-z_]+)", extraction):
        assert f"`{setting}`" in page(), setting


def test_pages_link_to_pages_that_are_there() -> None:
    for path in TARGET.parent.glob("*.md"):
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text("utf-8")):
            assert (path.parent / link).exists(), f"{path.name}: {link}"
