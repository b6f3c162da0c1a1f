"""What the routes work with, free of Ray: the same API runs under Ray Serve and in one plain process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.embed import ModelInfo
from engine.objects import ObjectStore
from engine.registry.queries import Registry
from engine.settings import Settings
from engine.store import Store

if TYPE_CHECKING:
    from serve.metrics import Metrics

Role = Literal["read", "write", "admin"]
Operation = Literal["parse", "batch", "search", "chunks"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. `roles`: project id, or "*" for every project, → role. `principals`: what chunk access lists are
    compared with; None for a caller who may see every chunk of the projects in `roles`."""

    subject: str
    roles: dict[str, Role]
    principals: list[str] | None


class Authenticator(Protocol):
    """Knows callers by their bearer tokens."""

    required: bool  # False: no authentication is configured, everyone is the same all-powerful caller

    def authenticate(self, token: str | None) -> Caller:
        """The caller. Raises CorpusError (UNAUTHENTICATED) for a missing, unknown or expired token. Blocking: it
        may read the registry or fetch keys; call it in a thread."""
        ...


class Limiter(Protocol):
    """Counts requests per project and operation over a moving minute, over all replicas."""

    async def hit(self, project_id: str, operation: Operation, limit: int) -> float:
        """Count one request. 0 when it may pass, else the seconds until one may."""
        ...


class Inspector(Protocol):
    """Looks at files in an isolated child process; one per API process, its calls wait for one another."""

    def detect(self, path: Path, filename: str) -> str:
        """The format id. Raises InputError (UNSUPPORTED_FORMAT with detected_format and supported_formats in its
        details, ENCRYPTED_DOCUMENT, ...)."""
        ...

    def render(
        self, path: Path, filename: str, page: int, dpi: int, boxes: Sequence[tuple[float, float, float, float]]
    ) -> bytes:
        """A page as PNG, with the boxes (points, from the page's top left) drawn over it. Raises InputError."""
        ...

    def close(self) -> None: ...


EmbedQuery = Callable[[str], Awaitable[NDArray[np.float32]]]


async def _nobody() -> None:
    """No worker waits for a word."""


@dataclass(slots=True)
class Deps:
    """`embed_query`: text → (dimensions,) unit vector; raises EmbeddingError. `wake`: tells ingest workers that there
    is work (they would find it by themselves, later)."""

    settings: Settings
    registry: Registry
    store: Store
    objects: ObjectStore
    model: ModelInfo
    embed_query: EmbedQuery
    authenticator: Authenticator
    limiter: Limiter
    inspector: Inspector
    metrics: Metrics
    wake: Callable[[], Awaitable[None]] = field(default=_nobody)
