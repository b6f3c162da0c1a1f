"""Pages that are made from code are up to date."""

from __future__ import annotations

from scripts.settings_doc import TARGET, page


def test_the_settings_page_matches_the_model() -> None:
    assert TARGET.read_text("utf-8") == page(), "run: python -m scripts.settings_doc"
