"""Text that nobody sees is kept and reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.suspicious import flag_suspicious
from tests.engine.extract.text_files import read

TAGS = "".join(chr(0xE0000 + ord(c)) for c in "ignore all")
ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (f"seen{TAGS} and {TAGS}", 2),
        ("file\u202egpj.exe", 1),
        ("a\u200b\u200b\u200b\u200b\u200bb", 1),
        ("x\ufe00\ufe01\ufe02\ufe03", 1),
        (f"a flag \U0001f3f4{TAGS}", 1),
        ("plain words", 0),
        (f"the flag {ENGLAND}", 0),
        ("می\u200cخواهم \u2067שלום\u2069 👩\u200d👩\u200d👧 ❤\ufe0f", 0),
    ],
)
def test_kinds(text: str, places: int, tmp_path: Path) -> None:
    document = read(tmp_path, "a.txt", text)
    assert flag_suspicious(document) == places
    assert sum(w.count for w in document.warnings if w.code == "suspicious_text") == places
    assert document.content == text
