"""Redaction: personal data in every text of a document's tree becomes a typed placeholder.

Runs before chunking, on text from all sources (text layer, OCR, vision). What was removed is never
returned, logged or kept: the audit names kind and position only. File names are left as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from engine.document import derive, walk
from engine.errors import ConfigError
from engine.records import ExtractedDocument, ExtractedTable, Loss, Redaction, StructureElement
from engine.redact.names import find_names
from engine.redact.patterns import COLUMNS, RULES, Found, column_kind, find
from engine.settings import Settings

VERSION = "1"  # raise it when the same text would be redacted differently: part of the pipeline's fingerprint
KINDS = frozenset({rule.type for rule in RULES} | {kind for kind, _ in COLUMNS})
_NAMES = frozenset({"NAME", "ORGANIZATION"})
_PLACEHOLDER = re.compile(r"\[(" + "|".join(sorted(KINDS)) + r")_REDACTED\]")
_PEOPLE_KEYS = re.compile(
    r"author|creator|manager|last_?modified_?by|owner|from|to|cc|bcc|sender|reply.?to", re.IGNORECASE
)
_PLAIN_ATTRIBUTES = {"language", "marker"}
_MOST_KNOWN = 2000  # names looked for again in the rest of the document
Transform = Callable[[str, str, str], str]  # text, name of its column, place → text


def redact(document: ExtractedDocument, settings: Settings) -> list[Redaction]:
    """Replace personal data in the whole document by placeholders such as `[EMAIL_REDACTED]`, in place.

    Picture bytes are dropped, because nothing looks into them. Content, spans, pages and tables are
    derived again. `settings.security.pii_entities` narrows the kinds; empty: all. Raises ConfigError for an
    unknown kind or when the model for names is not installed.
    """
    kinds = wanted_kinds(settings)
    redactor = _Redactor(kinds)
    _each_text(document, redactor.collect)
    redactor.learn()
    _each_text(document, redactor.replace)
    _drop_pictures(document)
    if document.metadata.language not in ("en", "und") and redactor.uses_names:
        message = "names are recognised by a model of English and may be missed in this language"
        document.warnings.append(Loss("redaction_language", message, document.metadata.language))
    derive(document)
    inside = [Redaction(m[1], m.start()) for m in _PLACEHOLDER.finditer(document.content)]
    return inside + redactor.outside


def wanted_kinds(settings: Settings) -> frozenset[str]:
    """The kinds to redact. Raises ConfigError for a name that is none."""
    asked = {name.upper().removesuffix("_REDACTED") for name in settings.security.pii_entities}
    unknown = asked - KINDS
    if unknown:
        raise ConfigError(f"security.pii_entities: unknown {sorted(unknown)}; there are {sorted(KINDS)}")
    return frozenset(asked) or KINDS


class _Redactor:
    """Finds in a first pass over all texts, replaces in a second, so that a name found once goes everywhere."""

    def __init__(self, kinds: frozenset[str]) -> None:
        self.kinds = kinds
        self.uses_names = bool(kinds & _NAMES)
        self.outside: list[Redaction] = []
        self._texts: dict[str, None] = {}
        self._names: dict[str, list[Found]] = {}
        self._known: re.Pattern[str] | None = None
        self._kind_of: dict[str, str] = {}

    def collect(self, text: str, column: str, place: str) -> str:
        if place != "code":  # identifiers look like names to the model
            self._texts[text] = None
        return text

    def learn(self) -> None:
        """Run the model once over all distinct texts; remember names of two words and more."""
        if not self.uses_names:
            return
        self._names = find_names(self._texts, self.kinds)
        for text, found in self._names.items():
            for one in found:
                name = text[one.start : one.end]
                if " " in name and len(self._kind_of) < _MOST_KNOWN:
                    self._kind_of.setdefault(name, one.type)
        if self._kind_of:
            longest_first = sorted(self._kind_of, key=lambda name: (-len(name), name))
            self._known = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, longest_first)) + r")(?!\w)")

    def replace(self, text: str, column: str, place: str) -> str:
        """The text with placeholders. `column`: the name of the column it stands in, for table cells."""
        if not text.strip():
            return text
        whole = self._whole(text, column, place)
        found = [whole] if whole else _without_overlaps(self._found(text, column, place))
        parts: list[str] = []
        at = length = 0
        for one in found:
            placeholder = f"[{one.type}_REDACTED]"
            length += one.start - at
            if place not in ("content", "code"):
                self.outside.append(Redaction(one.type, length, place))
            parts += [text[at : one.start], placeholder]
            length += len(placeholder)
            at = one.end
        return "".join([*parts, text[at:]])

    def _whole(self, text: str, column: str, place: str) -> Found | None:
        """The kind of a text that is personal data all of it, by its column or its metadata key."""
        kind = column_kind(column, self.kinds) if column else None
        if (
            kind is None
            and "NAME" in self.kinds
            and place.startswith("metadata.")
            and _PEOPLE_KEYS.fullmatch(place[9:])
        ):
            kind = "NAME"
        return Found(kind, 0, len(text)) if kind and any(c.isalnum() for c in text) else None

    def _found(self, text: str, column: str, place: str) -> list[Found]:
        """Everything found in the text, the surest first."""
        front = f"{column}: " if column else ""  # "Passport: C01X00T47" says more than the cell alone
        numbers = find(front + text, self.kinds - _NAMES)
        found = [Found(f.type, max(0, f.start - len(front)), f.end - len(front)) for f in numbers]
        found = [f for f in found if f.end > f.start] + find(text, self.kinds & _NAMES)
        if place == "code":
            return [f for f in found if f.type not in _NAMES]
        found += self._names.get(text, [])
        if self._known is not None:
            found += [Found(self._kind_of[m[0]], m.start(), m.end()) for m in self._known.finditer(text)]
        return found


def _without_overlaps(found: list[Found]) -> list[Found]:
    """The findings in order of place; of two that overlap the earlier in the list stays."""
    kept: list[Found] = []
    taken: dict[int, None] = {}
    for one in found:
        if not any(at in taken for at in range(one.start, one.end)):
            kept.append(one)
            taken.update(dict.fromkeys(range(one.start, one.end)))
    return sorted(kept, key=lambda one: one.start)


# ---------------------------------------------------------------- every text of a document
def _each_text(document: ExtractedDocument, change: Transform) -> None:
    for element in walk(document.structure):
        _element_texts(element, change)
    meta = document.metadata
    meta.title = change(meta.title, "", "metadata.title") if meta.title else meta.title
    meta.author = change(meta.author, "", "metadata.author") if meta.author else meta.author
    meta.extra = {key: change(value, "", f"metadata.{key}") for key, value in meta.extra.items()}
    for loss in document.warnings:
        loss.message = change(loss.message, "", "warning")
        loss.place = change(loss.place, "", "warning")


def _element_texts(element: StructureElement, change: Transform) -> None:
    place = element.type if element.type in ("page_header", "page_footer", "code") else "content"
    element.content = change(element.content, "", place)
    for name in element.attributes.keys() - _PLAIN_ATTRIBUTES:
        element.attributes[name] = change(element.attributes[name], "", f"attribute {name}")
    if element.table is not None:
        _table_texts(element.table, change)
    if element.image is not None:
        image = element.image
        alt_place = "image alt text" if image.caption else "content"  # content shows the caption, else the alt text
        image.caption = change(image.caption, "", "content") if image.caption else image.caption
        image.alt_text = change(image.alt_text, "", alt_place) if image.alt_text else image.alt_text


def _table_texts(table: ExtractedTable, change: Transform) -> None:
    """Both views of a table; the name of a column helps to tell what stands in its cells."""
    names = list(table.headers)
    for cell in table.cells:
        column = names[cell.col] if not cell.header and cell.col < len(names) else ""
        cell.text = change(cell.text, column, "content")
    table.headers = [change(name, "", "content") for name in names]
    table.rows = [list(_row_texts(row, names, change)) for row in table.rows]
    table.caption = change(table.caption, "", "content") if table.caption else table.caption


def _row_texts(row: list[str], names: list[str], change: Transform) -> Iterator[str]:
    for at, text in enumerate(row):
        yield change(text, names[at] if at < len(names) else "", "content")


def _drop_pictures(document: ExtractedDocument) -> None:
    dropped = 0
    for element in walk(document.structure):
        if element.image is not None and element.image.data:
            element.image.data = b""
            dropped += 1
    if dropped:
        message = "picture bytes were dropped: redaction of personal data does not look into pictures"
        document.warnings.append(Loss("image_dropped", message, "", dropped))
