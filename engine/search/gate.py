"""Which channels a query asks for, and with what weight.

On prose the path and term channels cost accuracy (they find words out of context); on file names and part
numbers they are what finds anything at all. So they join a min-max hybrid only when the query looks like it.
"""

from __future__ import annotations

import re

from engine import words
from engine.search.records import DENSE

_PATH = re.compile(r"[\w.-]+[/\\][\w.-]|\w\.(?=[a-z0-9]*[a-z])[a-z0-9]{2,5}\b", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“„«»”].+[\"”“«»]")

RRF_WEIGHTS = {DENSE: 2.0, "path": 1.0, "content": 2.0, "term": 1.5}
MINMAX_WEIGHTS = {DENSE: 0.5, "path": 0.5, "content": 0.5, "term": 0.5}


def wants_paths(query: str) -> bool:
    """The query names a file or a path: report.pdf, finance/2024."""
    return _PATH.search(query) is not None


def wants_terms(query: str) -> bool:
    """The query holds an identifier, a quotation, or a single word, which may be a part of a longer one."""
    found = list(words.tokens(query))
    return len(found) == 1 or _QUOTED.search(query) is not None or any(words.is_identifier(t.text) for t in found)


def channel_weights(query: str, mode: str, fusion: str) -> dict[str, float]:
    """Channel → weight of a search, before the request's own weights."""
    if mode not in ("hybrid", "lexical"):
        return {mode: 1.0}
    weights = dict(RRF_WEIGHTS if fusion == "rrf" else MINMAX_WEIGHTS)
    if mode == "lexical":
        del weights[DENSE]
    if fusion == "minmax":
        if not wants_paths(query):
            del weights["path"]
        if not wants_terms(query):
            del weights["term"]
    return weights
