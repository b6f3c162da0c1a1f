"""Embeds through an OpenAI-compatible server: POST {base}/v1/embeddings.

Requests are bounded in inputs and tokens and run a few at a time on an event loop of their own thread, so
that the synchronous methods work anywhere. Every answer is checked before a vector is believed.
"""

from __future__ import annotations

import asyncio
import random
import re
import threading
from collections.abc import Coroutine
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import httpx
import numpy as np
from numpy.typing import NDArray

from engine.embed import ModelInfo
from engine.embed.gateway_model import KNOWN, gateway_info
from engine.embed.limits import ModelLimits, longest_fitting
from engine.embed.make import model_limits
from engine.errors import ConfigError, EmbeddingError, Stage
from engine.settings import Settings

REQUEST_TOKENS = 100_000  # of one request; servers of this kind take 300,000 or more
BACKOFF_SECONDS = 0.5
BACKOFF_CAP = 30.0
RETRY_AFTER_CAP = 300.0  # a server that asks for a longer pause is treated as down
T = TypeVar("T")


class GatewayEmbedder:
    """An `Embedder` over HTTP. Safe to call from any thread; `close` ends its thread and connections."""

    def __init__(self, settings: Settings) -> None:
        if not settings.gateway.url:
            raise ConfigError("embedding.backend is gateway but gateway.url (LLM_GATEWAY_URL) is empty")
        self.info: ModelInfo = gateway_info(settings.embedding)
        self._limits: ModelLimits = model_limits(settings)
        self._base = settings.gateway.url.rstrip("/")
        if not self._base.startswith(("http://", "https://")):
            raise ConfigError("gateway.url (LLM_GATEWAY_URL) must begin with http:// or https://")
        self._endpoint = self._base + ("" if self._base.endswith("/v1") else "/v1") + "/embeddings"
        self._key = settings.gateway.api_key
        self._timeout = settings.gateway.timeout_seconds
        self._attempts = settings.gateway.attempts
        self._batch = settings.embedding.gateway_batch
        self._concurrency = settings.embedding.gateway_concurrency
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: httpx.AsyncClient | None = None

    def count_tokens(self, texts: list[str]) -> list[int]:
        return self._limits.count(texts)

    def embed_documents(self, texts: list[str]) -> NDArray[np.float32]:
        counts = self._limits.count(texts)
        over = [i for i, count in enumerate(counts) if count > self.info.max_tokens]
        if over:
            raise self._error(
                f"{len(over)} of {len(texts)} texts are over the limit of {self.info.max_tokens} tokens",
                positions=over[:20],
                longest=max(counts),
            )
        return self._embed([self.info.document_prefix + text for text in texts], counts)

    def embed_queries(self, texts: list[str]) -> NDArray[np.float32]:
        prefix = self.info.query_prefix
        inputs = [prefix + longest_fitting(text, prefix, self._limits) for text in texts]
        return self._embed(inputs, self._limits.encode(inputs, True))

    def close(self) -> None:
        """End the event loop and close the connections. The embedder may be used again afterwards."""
        with self._lock:
            loop, client = self._loop, self._client
            self._loop = self._client = None
        if loop is not None:
            if client is not None:
                asyncio.run_coroutine_threadsafe(client.aclose(), loop).result()
            loop.call_soon_threadsafe(loop.stop)

    # ------------------------------------------------------------ requests
    def _embed(self, inputs: list[str], counts: list[int]) -> NDArray[np.float32]:
        if not inputs:
            return np.empty((0, self.info.dimensions), np.float32)
        return self._run(self._embed_all(inputs, counts))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="embedding-gateway", daemon=True).start()
            loop = self._loop
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    async def _embed_all(self, inputs: list[str], counts: list[int]) -> NDArray[np.float32]:
        gate = asyncio.Semaphore(self._concurrency)

        async def one(batch: slice) -> NDArray[np.float32]:
            async with gate:
                return await self._request(inputs[batch])

        tasks = [asyncio.ensure_future(one(batch)) for batch in request_batches(counts, self._batch)]
        try:
            return np.concatenate(await asyncio.gather(*tasks))
        finally:
            for task in tasks:  # after a failure the others are not worth paying for
                task.cancel()

    async def _request(self, inputs: list[str]) -> NDArray[np.float32]:
        """Vectors of one request, tried again while the failure looks temporary."""
        for attempt in range(self._attempts):
            try:
                response = await self._post(inputs)
            except httpx.RequestError as error:
                failure, pause = self._error(f"could not be reached: {type(error).__name__}"), None
            else:
                if response.status_code == 200:
                    return self._vectors(response, len(inputs))
                failure = self._error(_status_text(response), status=response.status_code)
                pause = _retry_after(response)
                if not _temporary(response.status_code) or (pause or 0) > RETRY_AFTER_CAP:
                    raise failure
            if attempt + 1 == self._attempts:
                raise failure
            await asyncio.sleep(_pause(attempt, pause))
        raise self._error("was not asked: gateway.attempts is zero")

    async def _post(self, inputs: list[str]) -> httpx.Response:
        if self._client is None:
            limits = httpx.Limits(max_connections=self._concurrency)
            self._client = httpx.AsyncClient(timeout=self._timeout, limits=limits)
        headers = {}
        if self._key.get_secret_value():
            headers["Authorization"] = f"Bearer {self._key.get_secret_value()}"
        body: dict[str, object] = {"model": self.info.model, "input": inputs, "encoding_format": "float"}
        native = KNOWN.get(self.info.model.rsplit("/", 1)[-1])
        if native is not None and native.dimensions != self.info.dimensions:
            body["dimensions"] = self.info.dimensions
        return await self._client.post(self._endpoint, json=body, headers=headers)

    # ------------------------------------------------------------ answers
    def _vectors(self, response: httpx.Response, expected: int) -> NDArray[np.float32]:
        """The answer's vectors in the order of the inputs, unit length. Raises EmbeddingError."""
        try:
            data = response.json()["data"]
            rows = {int(row["index"]): row["embedding"] for row in data}
            matrix = np.array([rows[i] for i in range(expected)], np.float64)
        except (ValueError, KeyError, TypeError) as error:
            raise self._error(f"gave an answer that is not a list of {expected} embeddings") from error
        if len(data) != expected:
            raise self._error(f"gave {len(data)} embeddings for {expected} inputs")
        if matrix.ndim != 2 or matrix.shape[1] != self.info.dimensions:
            got = matrix.shape[1] if matrix.ndim == 2 else "no"
            raise self._error(f"gave vectors of {got} dimensions, {self.info.dimensions} are configured")
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not np.isfinite(norms).all() or (norms == 0).any():
            raise self._error("gave a vector that is not finite or is zero")
        return (matrix / norms).astype(np.float32)

    def _error(self, what: str, **details: object) -> EmbeddingError:
        """An error that names model and server, and never the key."""
        message = f"embedding model {self.info.model} at {_public(self._base)} {what}"
        return EmbeddingError(message, stage=Stage.EMBED, details=details)


def request_batches(counts: list[int], inputs: int, tokens: int = REQUEST_TOKENS) -> list[slice]:
    """Consecutive runs of at most `inputs` texts and `tokens` tokens (a longer text goes alone)."""
    found: list[slice] = []
    start = total = 0
    for at, count in enumerate(counts):
        if at > start and (at - start >= inputs or total + count > tokens):
            found.append(slice(start, at))
            start, total = at, 0
        total += count
    return [*found, slice(start, len(counts))]


def _temporary(status: int) -> bool:
    return status in (408, 429) or status >= 500


def _pause(attempt: int, asked: float | None) -> float:
    """Seconds to wait: exponential with full jitter, and at least what the server asked for."""
    backoff = random.uniform(0, min(BACKOFF_CAP, BACKOFF_SECONDS * 2**attempt))
    return backoff if asked is None else asked + backoff * 0.1


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds from a Retry-After header, given as a number or as a date (RFC 9110)."""
    value = response.headers.get("Retry-After", "").strip()
    if re.fullmatch(r"\d+(\.\d+)?", value):
        return float(value)
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


def _status_text(response: httpx.Response) -> str:
    """The status and the server's short error code; never its message, which may quote input or key."""
    try:
        error = response.json()["error"]
        code = str(error.get("code") or error.get("type") or "")
    except (ValueError, KeyError, TypeError, AttributeError):
        code = ""
    shown = f" ({code})" if re.fullmatch(r"[A-Za-z0-9_.\-]{1,60}", code) else ""
    return f"answered {response.status_code}{shown}"


def _public(url: str) -> str:
    """The URL without user, password and query."""
    parsed = httpx.URL(url)
    return str(parsed.copy_with(username=None, password=None, query=None, fragment=None))
