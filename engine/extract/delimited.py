"""Delimited text (.csv, .tsv): encoding and delimiter found, every cell kept, read as a stream."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.errors import InputError, Stage
from engine.extract import Context
from engine.extract.charset import find_encoding
from engine.extract.sheet.grid import Budget
from engine.records import ExtractedDocument
from engine.tables import table_from_rows

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_CHARACTERS = 256 << 10
_SAMPLE_ROWS = 500
_RUNAWAY_LINES = 1000  # line breaks in one field: a quote that was never closed
_MAX_PREAMBLE = 20


@dataclass(slots=True)
class Dialect:
    """How the file is written. `delimiter` empty: one column."""

    encoding: str
    errors: str
    delimiter: str
    quoted: bool = True


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read a delimited file as one table whose first full row names the columns.

    Raises InputError: LIMIT_EXCEEDED past limits.table_cells or limits.characters.
    """
    builder = context.builder()
    encoding, errors = find_encoding(path)
    if errors == "replace":
        builder.warn("encoding_uncertain", f"bytes that do not fit {encoding} became U+FFFD")
    dialect = Dialect(encoding, errors, _find_delimiter(path, encoding, errors, context.source_format))
    rows = _rows(path, dialect, Budget(builder.limits))
    if _is_runaway(path, dialect, rows):
        builder.warn("unbalanced_quote", "a quotation mark was never closed; quotes were read as ordinary signs")
        dialect.quoted = False
        rows = _rows(path, dialect, Budget(builder.limits))
    preamble, rows = _split_preamble(rows)
    for line in preamble:
        builder.paragraph(line)
    if rows:
        builder.table(table_from_rows(rows, header=len(rows) > 1))
    builder.metadata.extra |= {"encoding": encoding, "delimiter": dialect.delimiter}
    return builder.finish()


def _rows(path: Path, dialect: Dialect, budget: Budget) -> list[list[str]]:
    """All rows that are not blank."""
    csv.field_size_limit(budget.limits.characters)
    rows: list[list[str]] = []
    try:
        with path.open(encoding=dialect.encoding, errors=dialect.errors, newline="") as file:
            for row in _parsed(file, dialect.delimiter, dialect.quoted):
                for text in row:
                    budget.spend(text)
                if any(text.strip() for text in row):
                    rows.append([text.strip() for text in row])
    except csv.Error as error:
        raise InputError(f"the file cannot be read as delimited text: {error}", stage=Stage.EXTRACT) from error
    return rows[1:] if rows and len(rows[0]) <= 2 and rows[0][0].lower().startswith("sep=") else rows


def _parsed(file: Iterable[str], delimiter: str, quoted: bool, strict: bool = False) -> Iterator[list[str]]:
    # "\x1f" (unit separator) stands for "no delimiter": one column, quotes still honoured.
    quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    return csv.reader(file, delimiter=delimiter or "\x1f", quoting=quoting, strict=strict)


# ---------------------------------------------------------------- delimiter
def _find_delimiter(path: Path, encoding: str, errors: str, source_format: str) -> str:
    """The delimiter that cuts the sample into the most regular columns; empty for one column."""
    with path.open(encoding=encoding, errors=errors, newline="") as file:
        sample = file.read(_SAMPLE_CHARACTERS)
    first = sample[:20].lstrip("\ufeff").lower()
    if first.startswith("sep=") and len(first) > 4:
        return sample.lstrip("\ufeff")[4]
    scores = {d: _regularity(sample, d) for d in _DELIMITERS}
    if source_format == "tsv" and scores["\t"] > 0:
        return "\t"
    best = max(_DELIMITERS, key=lambda d: scores[d])
    return best if scores[best] > 0 else ""


def _regularity(sample: str, delimiter: str) -> float:
    """0 for a delimiter that does not cut; else the share of rows with the usual number of fields, and a
    little for more of them. A row cut off at the sample's end does not count."""
    counts: list[int] = []
    try:
        for row in _parsed(io.StringIO(sample, newline=""), delimiter, True):
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
            for _ in _parsed(file, dialect.delimiter, dialect.quoted, strict=True):
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
