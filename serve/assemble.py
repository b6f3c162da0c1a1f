"""Puts together what the API works with, from the settings: the same parts in one process and on Ray."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from engine.embed import ModelInfo
from engine.inspector import Inspector
from engine.objects.open import open_objects
from engine.registry.queries import Registry
from engine.settings import Settings
from engine.store import Store
from serve.auth import make_authenticator
from serve.deps import Deps, EmbedQuery, Limiter
from serve.metrics import Metrics


def introduce(model: ModelInfo, registry: Registry, store: Store) -> None:
    """Make the model known to registry and store, before anything is searched or published with it.

    Raises ConfigError when it is another than the one that filled the store, StorageError when one of them cannot
    be reached.
    """
    registry.register_model(
        model.vector_name, {"model": model.model, "dimensions": model.dimensions, "fingerprint": model.fingerprint}
    )
    store.ensure({model.vector_name: model.dimensions})


def make_deps(
    settings: Settings,
    registry: Registry,
    store: Store,
    model: ModelInfo,
    embed_query: EmbedQuery,
    limiter: Limiter,
    metrics: Metrics,
    wake: Callable[[], Awaitable[None]],
) -> Deps:
    """Everything the routes need.

    Raises ConfigError when settings do not fit, StorageError when the object store cannot be reached.
    """
    return Deps(
        settings=settings,
        registry=registry,
        store=store,
        objects=open_objects(settings),
        model=model,
        embed_query=embed_query,
        authenticator=make_authenticator(settings, registry),
        limiter=limiter,
        inspector=Inspector(settings),
        metrics=metrics,
        wake=wake,
    )
