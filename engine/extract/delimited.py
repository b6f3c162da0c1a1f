"""Delimited text (.csv, .tsv): encoding and delimiter found, every cell kept, read as a stream."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from engine.decode import file_encoding
from engine.errors import InputError, Stage
from engine.extract import Context
from engine.extract.sheet.grid import Budget
from engine.records import ExtractedDocument
from engine.tables import table_from_rows

_DELIMITERS = (",", ";", "\t", "|", "~", "^")
_SAMPLE_CHARACTERS = 256 << 10
_SAMPLE_ROWS = 500
_RUNAWAY_LINES = 1000  # line breaks in one field: a quote that was never closed
_MAX_PREAMBLE = 20


@dataclass(slots=True)
class Dialect:
    """How the file is written. `delimiter` empty: one column; `quote` empty: quotes are ordinary signs."""

    encoding: str
    errors: str
    delimiter: str = ""
    quote: str = '"'
    escape: str | None = None  # stands before a quote inside a quoted field; None: the quote is doubled


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read a delimited file as one table whose first full row names the columns.

    Raises InputError: LIMIT_EXCEEDED past limits.table_cells or limits.characters.
    """
    builder = context.builder()
    dialect = _find_dialect(path, *file_encoding(path), context.source_format)
    if dialect.errors == "replace":
        builder.warn("encoding_uncertain", f"bytes that do not fit {dialect.encoding} became U+FFFD")
    rows = _rows(path, dialect, Budget(builder.limits))
    if _is_runaway(path, dialect, rows):
        builder.warn("unbalanced_quote", "a quotation mark was never closed; quotes were read as ordinary signs")
        dialect.quote = ""
        rows = _rows(path, dialect, Budget(builder.limits))
    preamble, rows = _split_preamble(rows)
    for line in preamble:
        builder.paragraph(line)
    if rows:
        builder.table(table_from_rows(rows, header=len(rows) > 1))
    builder.metadata.extra |= {"encoding": dialect.encoding, "delimiter": dialect.delimiter}
    return builder.finish()


def _rows(path: Path, dialect: Dialect, budget: Budget) -> list[list[str]]:
    """All rows that are not blank."""
    csv.field_size_limit(budget.limits.characters)
    rows: list[list[str]] = []
    try:
        with path.open(encoding=dialect.encoding, errors=dialect.errors, newline="") as file:
            for row in _parsed(file, dialect):
                for text in row:
                    budget.spend(text)
                if any(text.strip() for text in row):
                    rows.append([text.strip() for text in row])
    except csv.Error as error:
        raise InputError(f"the file cannot be read as delimited text: {error}", stage=Stage.EXTRACT) from error
    return rows[1:] if rows and len(rows[0]) <= 2 and rows[0][0].lower().startswith("sep=") else rows


def _parsed(file: Iterable[str], dialect: Dialect, strict: bool = False) -> Iterator[list[str]]:
    return csv.reader(
        file,
        delimiter=dialect.delimiter or "\x1f",  # unit separator: no delimiter, quotes still honoured
        quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
        quotechar=dialect.quote or '"',
        escapechar=dialect.escape,
        doublequote=dialect.escape is None,
        strict=strict,
    )


# ---------------------------------------------------------------- dialect
def _find_dialect(path: Path, encoding: str, errors: str, source_format: str) -> Dialect:
    """The delimiter that cuts the sample into the most regular columns, none for one column; then the quoting."""
    with path.open(encoding=encoding, errors=errors, newline="") as file:
        sample = file.read(_SAMPLE_CHARACTERS)
    plain = Dialect(encoding, errors)
    first = sample[:20].lstrip("\ufeff").lower()
    if first.startswith("sep=") and len(first) > 4:
        return replace(plain, delimiter=sample.lstrip("\ufeff")[4])
    found = {d: replace(plain, delimiter=d) for d in _DELIMITERS}
    scores = {d: _regularity(sample, dialect) for d, dialect in found.items()}
    best = max(_DELIMITERS, key=lambda d: scores[d])
    if source_format == "tsv" and scores["\t"] > 0:
        best = "\t"
    return _with_quoting(sample, found[best], scores[best]) if scores[best] > 0 else plain


def _with_quoting(sample: str, dialect: Dialect, score: float) -> Dialect:
    """Single quotes, or quotes escaped by a backslash, where rows come out more regular so."""
    other = [replace(dialect, escape="\\")] if '\\"' in sample else []
    if re.search(rf"(?m)(?:^|{re.escape(dialect.delimiter)})'[^'\n]*'(?:{re.escape(dialect.delimiter)}|\r?$)", sample):
        other.append(replace(dialect, quote="'"))
    scored = [(_regularity(sample, variant), variant) for variant in other]
    best = max(scored, key=lambda pair: pair[0], default=(0.0, dialect))
    return best[1] if best[0] > score else dialect


def _regularity(sample: str, dialect: Dialect) -> float:
    """0 for a delimiter that does not cut; else the share of rows with the usual number of fields, and a
    little for more of them. A row cut off at the sample's end does not count."""
    counts: list[int] = []
    try:
        for row in _parsed(io.StringIO(sample, newline=""), dialect):
            if any(text.strip() for text in row):
                counts.append(len(row))
            if len(counts) > _SAMPLE_ROWS:
                break
    except csv.Error:
        return 0.0
    if len(sample) == _SAMPLE_CHARACTERS and len(counts) > 1:
        counts.pop()
    usual, often = max(Counter(counts).items(), key=lambda item: (item[1], item[0]), default=(1, 0))
    if usual < 2:
        return 0.0
    share = often / len(counts)
    # Prose with a comma now and then is no table: most rows must agree, or most must be cut at least.
    return share + min(usual, 50) / 1000 if share >= 0.5 or sum(c > 1 for c in counts) >= 0.6 * len(counts) else 0.0


# ---------------------------------------------------------------- repair
def _is_runaway(path: Path, dialect: Dialect, rows: list[list[str]]) -> bool:
    """Whether an unclosed quotation mark swallowed lines."""
    if any(text.count("\n") > _RUNAWAY_LINES for row in rows for text in row):
        return True
    if not rows or not any("\n" in text for text in rows[-1]):
        return False
    try:
        with path.open(encoding=dialect.encoding, errors=dialect.errors, newline="") as file:
            for _ in _parsed(file, dialect, strict=True):
                pass
    except csv.Error as error:
        return "unexpected end of data" in str(error)
    return False


def _split_preamble(rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Lines of one filled field above a table of three columns or more: titles and remarks."""
    width = Counter(len(row) for row in rows[: 10 * _MAX_PREAMBLE]).most_common(1)[0][0] if rows else 0
    count = 0
    while width > 2 and count < len(rows) - 1 and sum(bool(t) for t in rows[count]) == 1 and rows[count][0]:
        count += 1
    if count > _MAX_PREAMBLE or count == len(rows) - 1:
        return [], rows
    return [row[0] for row in rows[:count]], rows[count:]
