"""Several ranked lists into one. Fused here, because the store's weighted RRF is another formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.store import Hit

K = 60
Lists = Mapping[str, Sequence[Hit]]
Scored = list[tuple[str, float]]


def rrf(lists: Lists, weights: Mapping[str, float], k: int = K) -> Scored:
    """(id, score), best first, by reciprocal rank: the sum of weight / (k + rank + 1) over the channels, rank
    from 0 (Cormack, Clarke & Buettcher 2009, with weights)."""
    scores: dict[str, float] = {}
    for channel, hits in lists.items():
        for rank, hit in enumerate(hits):
            scores[hit.id] = scores.get(hit.id, 0.0) + weights[channel] / (k + rank + 1)
    return _ordered(scores, {})


def minmax(lists: Lists, weights: Mapping[str, float]) -> Scored:
    """(id, score in 0..1), best first: each channel's scores stretched to 0..1 over its list, then the weighted
    mean. What a channel did not find counts 0 there. Equal scores are settled by reciprocal rank."""
    whole = sum(weights[channel] for channel in lists) or 1.0
    scores: dict[str, float] = {}
    for channel, hits in lists.items():
        low = min((h.score for h in hits), default=0.0)
        span = max((h.score for h in hits), default=0.0) - low
        for hit in hits:
            share = (hit.score - low) / span if span > 0 else 1.0
            scores[hit.id] = scores.get(hit.id, 0.0) + weights[channel] * share / whole
    return _ordered(scores, dict(rrf(lists, weights)))


def single(lists: Lists) -> Scored:
    """(id, score) of the one channel, its own scores and order kept."""
    [hits] = lists.values()
    return [(hit.id, hit.score) for hit in hits]


def _ordered(scores: Mapping[str, float], ties: Mapping[str, float]) -> Scored:
    return sorted(scores.items(), key=lambda item: (-item[1], -ties.get(item[0], 0.0), item[0]))
