"""The local embedder against bare `SentenceTransformer.encode` of the same texts, in turn, one thread.

python -m benchmarks.embedding [--texts 400] [--pairs 5]
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from corpora import sentence

from engine.embed.local import LocalEmbedder
from engine.settings import load


def make_texts(count: int) -> list[str]:
    """Texts as long as chunks are: 20 to 200 words, in random order."""
    draw = random.Random(3)
    return [" ".join(sentence(draw) for _ in range(draw.randint(2, 14))) for _ in range(count)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=400)
    parser.add_argument("--pairs", type=int, default=5)
    a = parser.parse_args()
    import torch
    from sentence_transformers import SentenceTransformer

    from engine.embed.model_files import find_folder

    settings = load({"embedding.threads": 1}, environ={})
    ours, bare = LocalEmbedder(settings), SentenceTransformer(str(find_folder(settings.embedding.model)), device="cpu")
    torch.set_num_threads(1)
    texts = make_texts(a.texts)
    ours.embed_documents(texts[:8])
    bare.encode(texts[:8])
    ratios: list[float] = []
    for n in range(a.pairs):
        begun = time.process_time()
        plain = bare.encode(texts, normalize_embeddings=True)
        middle = time.process_time()
        vectors = ours.embed_documents(texts)
        end = time.process_time()
        ratios.append((middle - begun) / (end - middle))
        worst = float((vectors * plain).sum(axis=1).min())
        rates = f"bare {a.texts / (middle - begun):.1f}, corpus {a.texts / (end - middle):.1f} texts per CPU second"
        print(f"pair {n + 1}: {rates}, ratio {ratios[-1]:.3f}, least cosine {worst:.5f}", flush=True)
    print(f"ratio to bare encode: median {statistics.median(ratios):.3f}, {min(ratios):.3f} to {max(ratios):.3f}")


if __name__ == "__main__":
    main()
