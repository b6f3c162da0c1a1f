"""Takes encoded binary data (data: URIs, base64 blocks) out of a document's text before it is chunked.

Nobody searches for it, and one inlined picture would fill hundreds of chunks. Each is replaced in the tree by a note of
its kind and length, and counted in the loss report.
"""

from __future__ import annotations

import math
import re
from collections import Counter

from engine.document import derive, walk
from engine.records import ExtractedDocument, ExtractedTable, Loss

SHORTEST = 512  # characters; keys, hashes and signatures are shorter
_SAMPLE = 4096
_LEAST_BITS = 4.8  # entropy per character; words run together stay below, base64 of real data is near 6
_BLOB = re.compile(
    r"data:(?P<kind>[\w.+/-]{0,80})(?:;[\w=.+-]{1,60}){0,4},(?P<uri>[A-Za-z0-9+/=_%-]{64,})"
    rf"|(?<![A-Za-z0-9+/_-])(?P<run>[A-Za-z0-9+/_-]{{{SHORTEST},}}+={{0,2}})"
    r"|(?<![A-Za-z0-9+/])(?P<lines>(?:[A-Za-z0-9+/]{60,76}+\n[ \t]*){7,}+(?:[A-Za-z0-9+/]{1,76}={0,2})?)"
)


def drop_blobs(document: ExtractedDocument) -> int:
    """Replace encoded data in every text of the tree; derive again if there was any. Returns how many."""
    places: Counter[str] = Counter()
    for element in walk(document.structure):
        place = f"page {element.page_number}" if element.page_number else ""
        element.content = _without(element.content, place, places)
        if element.table is not None:
            _clean_table(element.table, place, places)
    if places:
        derive(document)
        message = "encoded binary data inside the text was replaced by a note"
        document.warnings += [Loss("base64_dropped", message, place, count) for place, count in places.items()]
    return sum(places.values())


def _clean_table(table: ExtractedTable, place: str, places: Counter[str]) -> None:
    for cell in table.cells:
        cell.text = _without(cell.text, place, places)
    flat: Counter[str] = Counter() if table.cells else places  # the flat view shows the cells once more
    table.headers = [_without(name, place, flat) for name in table.headers]
    table.rows = [[_without(text, place, flat) for text in row] for row in table.rows]
    if table.caption:
        table.caption = _without(table.caption, place, places)


def _without(text: str, place: str, places: Counter[str]) -> str:
    if len(text) < 64:
        return text

    def note(found: re.Match[str]) -> str:
        blob = found["uri"] or found["run"] or found["lines"]
        if not found["uri"] and not looks_encoded(blob):
            return found.group()
        places[place] += 1
        return f"[{found['kind'] or 'base64'} data of {len(blob)} characters left out]"

    return _BLOB.sub(note, text)


def looks_encoded(text: str) -> bool:
    """Whether the characters are spread as evenly as base64 spreads them: mixed case, digits, high entropy."""
    sample = text[:_SAMPLE]
    counts = Counter(sample)
    kinds = (any(c.isupper() for c in counts), any(c.islower() for c in counts), any(c.isdigit() for c in counts))
    bits = -sum(n / len(sample) * math.log2(n / len(sample)) for n in counts.values())
    return all(kinds) and bits >= _LEAST_BITS
