"""Vision engine behind an OpenAI-compatible chat endpoint: the page picture goes in, its text comes out."""

from __future__ import annotations

import base64
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import httpx
from PIL import Image

from engine.errors import Code, ConfigError, CorpusError, Stage
from engine.ocr.transcript import PROMPT, transcript, unfenced
from engine.records import OcrResult
from engine.settings import Settings

_RETRIED = {408, 409, 425, 429, 500, 502, 503, 504}
_MAX_WAIT = 60.0


@dataclass
class GatewayVision:
    """`url`: base of an OpenAI-compatible API (with or without /v1). Retries what may pass, with backoff."""

    url: str
    model: str
    api_key: str = field(repr=False, default="")
    timeout_seconds: float = 60.0
    attempts: int = 6
    max_tokens: int = 4096
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    _client: httpx.Client | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        return f"gateway:{self.model}"

    def read(self, image_path: Path, known: OcrResult | None = None) -> OcrResult:
        """Read one picture, whatever is `known` of it. Lines carry the whole page as their box: the model gives
        no places.

        The confidence is an estimate from the text alone (share of words that look like words), because
        chat models report none. Raises CorpusError (OCR_FAILED) when every attempt failed.
        """
        answer = self._request(self._payload(image_path))
        with Image.open(image_path) as image:
            width, height = image.size
        return transcript(_text_of(answer), (width, height), self.name)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _payload(self, image_path: Path) -> dict[str, object]:
        kind = "jpeg" if image_path.suffix.lower() in (".jpg", ".jpeg") else "png"
        data = base64.b64encode(image_path.read_bytes()).decode("ascii")
        return {
            "model": self.model,
            "temperature": 0,
            "max_tokens": self.max_tokens,
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": PROMPT},
                        {"type": "image_url", "image_url": {"url": f"data:image/{kind};base64,{data}"}},
                    ],
                }
            ],
        }

    def _request(self, payload: dict[str, object]) -> dict[str, Any]:
        problem = "no attempt was made"
        for attempt in range(self.attempts):
            wait = min(_MAX_WAIT, 0.5 * 2**attempt) * random.uniform(0.5, 1.0)
            try:
                response = self._connection().post(self._endpoint(), json=payload)
            except httpx.TransportError as error:
                problem = f"{type(error).__name__}: {error}"
            else:
                if response.is_success:
                    return _decoded(response)
                problem = f"HTTP {response.status_code}"
                if response.status_code not in _RETRIED:
                    break
                wait = max(wait, retry_after(response))
            if attempt + 1 < self.attempts:
                self.sleep(min(wait, _MAX_WAIT))
        raise CorpusError(f"the vision gateway gave no answer ({problem})", Code.OCR_FAILED, Stage.VISION)

    def _connection(self) -> httpx.Client:
        if self._client is None:
            headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
            self._client = httpx.Client(timeout=self.timeout_seconds, headers=headers, follow_redirects=False)
        return self._client

    def _endpoint(self) -> str:
        base = self.url.rstrip("/")
        return f"{base}/chat/completions" if base.endswith("/v1") else f"{base}/v1/chat/completions"


def gateway_vision(settings: Settings) -> GatewayVision:
    """The gateway engine of the settings. Raises ConfigError without `gateway.url` or a model."""
    if not settings.gateway.url:
        raise ConfigError("ocr.vision is 'gateway' but gateway.url (LLM_GATEWAY_URL) is not set")
    if settings.ocr.vision_model in ("", "rapidocr"):
        raise ConfigError("ocr.vision is 'gateway' but ocr.vision_model (VISION_MODEL) names no gateway model")
    if settings.security.pii_redaction and not settings.ocr.vision_to_gateway_with_pii:
        raise ConfigError(
            "PII redaction is on, so page pictures may not leave for a gateway; set ocr.vision to 'local', or "
            "allow it by ocr.vision_to_gateway_with_pii"
        )
    return GatewayVision(
        settings.gateway.url,
        settings.ocr.vision_model,
        settings.gateway.api_key.get_secret_value(),
        settings.gateway.timeout_seconds,
        settings.gateway.attempts,
    )


def retry_after(response: httpx.Response) -> float:
    """Seconds the server asks to wait (RFC 9110 Retry-After: seconds or a date); 0 without one."""
    value = response.headers.get("retry-after", "").strip()
    if not value:
        return 0.0
    if value.replace(".", "", 1).isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return 0.0


def _decoded(response: httpx.Response) -> dict[str, Any]:
    try:
        return response.json()
    except ValueError as error:
        raise CorpusError("the vision gateway answered no JSON", Code.OCR_FAILED, Stage.VISION) from error


def _text_of(answer: dict[str, Any]) -> str:
    """The assistant's text; content may be a string or a list of typed parts."""
    try:
        content = answer["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError) as error:
        raise CorpusError("the vision gateway's answer holds no message", Code.OCR_FAILED, Stage.VISION) from error
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return unfenced(str(content or ""))
