"""Traces by OpenTelemetry, sent as OTLP over HTTP; off, and without any cost, unless an endpoint is configured.

Each process calls `setup` once when it starts and `shutdown` before it ends. Spans carry no text of documents, no
queries, no names of files: attributes come from `ATTRIBUTES` only, and exceptions leave their type and code behind,
never their message.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Literal, get_args

from engine.errors import ConfigError, CorpusError
from engine.settings import Telemetry

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

log = logging.getLogger(__name__)

Kind = Literal["internal", "server", "consumer", "client"]
Attribute = Literal[
    "http.request.method", "http.route", "http.response.status_code", "url.scheme", "error.type",
    "corpus.request_id", "corpus.project_id", "corpus.document_id", "corpus.batch_id", "corpus.run_id",
    "corpus.delivery_id", "corpus.generation", "corpus.attempt", "corpus.stage", "corpus.code", "corpus.format",
    "corpus.mode", "corpus.top_k", "corpus.count", "corpus.bytes", "corpus.pages", "corpus.chunks",
    "corpus.batch_size", "corpus.outcome",
]  # fmt: skip
ATTRIBUTES = frozenset(get_args(Attribute))
Attributes = Mapping[Attribute, str | int | float | bool]

TRACEPARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}").fullmatch
EXPORT_SECONDS = 5
FLUSH_SECONDS = 5.0
LONGEST_VALUE = 128

_provider: TracerProvider | None = None  # this process's; None: tracing is off
_nothing: AbstractContextManager[None] = nullcontext()


def setup(telemetry: Telemetry, service: str, replica: str = "") -> None:
    """Begin to trace when an endpoint is set, as `service` (corpus-api, corpus-ingest, ...). A second call does
    nothing. Raises ConfigError for an endpoint that is no http(s) address."""
    global _provider  # one per process, as the SDK's own, which is left to others
    if not telemetry.otlp_endpoint or _provider is not None:
        return
    if not re.fullmatch(r"https?://[^/\s]+.*", telemetry.otlp_endpoint):
        raise ConfigError("telemetry.otlp_endpoint must be an http(s) address such as http://collector:4318")
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    names = {"service.name": service, "service.namespace": "corpus"}
    resource = Resource.create({**names, "service.instance.id": replica} if replica else names)
    address = telemetry.otlp_endpoint.rstrip("/").removesuffix("/v1/traces") + "/v1/traces"
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=address, timeout=EXPORT_SECONDS)))
    _provider = provider


def enabled() -> bool:
    return _provider is not None


def span(
    name: str, traceparent: str = "", attributes: Attributes | None = None, kind: Kind = "internal"
) -> AbstractContextManager[Span | None]:
    """A span around a piece of work: under the one that `traceparent` (W3C) names, else under the current one.

    An exception marks it as failed with type and code and goes on. Yields None when tracing is off.
    """
    return _nothing if _provider is None else _span(_provider, name, traceparent, attributes or {}, kind)


def annotate(attributes: Attributes) -> None:
    """Add attributes to the current span."""
    if _provider is not None:
        from opentelemetry.trace import get_current_span

        get_current_span().set_attributes(_shown(attributes))


def current_traceparent() -> str:
    """The current span as a W3C traceparent, to be handed on with queued work; empty when there is none."""
    if _provider is None:
        return ""
    from opentelemetry.trace import get_current_span

    context = get_current_span().get_span_context()
    if not context.is_valid:
        return ""
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{int(context.trace_flags):02x}"


def trace_id_of(traceparent: str) -> str:
    """The trace id in a valid W3C traceparent, else an empty string."""
    return traceparent[3:35] if TRACEPARENT(traceparent) else ""


def flush(seconds: float = FLUSH_SECONDS) -> bool:
    """Send what has ended so far; False when that takes longer than `seconds`."""
    provider = _provider
    return provider is None or _within(seconds, provider.force_flush)


def shutdown(seconds: float = FLUSH_SECONDS) -> None:
    """Send what is left, for at most `seconds`, and stop tracing."""
    global _provider
    provider, _provider = _provider, None
    if provider is not None and not _within(seconds, provider.shutdown):
        log.warning("not all spans could be sent before the end")


@contextmanager
def _span(provider: TracerProvider, name: str, traceparent: str, attributes: Attributes, kind: Kind) -> Generator[Span]:
    from opentelemetry.trace import SpanKind, Status, StatusCode

    tracer = provider.get_tracer("corpus")
    with tracer.start_as_current_span(
        name,
        context=_parent(traceparent),
        kind=SpanKind[kind.upper()],
        attributes=_shown(attributes),
        record_exception=False,  # it would send the message
        set_status_on_exception=False,
    ) as current:
        try:
            yield current
        except BaseException as error:
            current.set_attribute("error.type", type(error).__qualname__)
            if isinstance(error, CorpusError):
                current.set_attribute("corpus.code", error.code.value)
            current.set_status(Status(StatusCode.ERROR))
            raise


def _parent(traceparent: str) -> Context | None:
    """None: the current context. A broken traceparent begins a new trace below nothing."""
    if not traceparent:
        return None
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    return TraceContextTextMapPropagator().extract({"traceparent": traceparent})


def _shown(attributes: Attributes) -> dict[str, str | int | float | bool]:
    return {
        name: value[:LONGEST_VALUE] if isinstance(value, str) else value
        for name, value in attributes.items()
        if name in ATTRIBUTES
    }


def _within(seconds: float, work: Callable[[], object]) -> bool:
    """Run `work` beside this thread; whether it ended in time. The SDK's own time limits are not kept."""
    thread = threading.Thread(target=work, name="corpus-trace-flush", daemon=True)
    thread.start()
    thread.join(seconds)
    return not thread.is_alive()
