"""OpenTelemetry traces, sent to a collector by OTLP over HTTP. Imported only if they are configured.

One span per request, within it one per answer, within that one per stage. They contain no question, address,
key or error message: traces may be stored where those must not be.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.datastructures import Headers
from starlette.types import Scope

from bioqa.app.answers.answer import Answer
from bioqa.app.answers.context import request_id, trace_id
from bioqa.app.version import version
from bioqa.system.errors import BioqaError
from bioqa.system.proxies import is_http

STAGES = ("retrieve", "wait", "rerank", "select")


class TracesError(BioqaError):
    """The configured collector is invalid."""


class Traces:
    """Traces of one application, with a provider of its own, which is shut down with it."""

    def __init__(self, processor: SpanProcessor) -> None:
        resource = Resource.create({"service.name": "bioqa", "service.version": version()})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("bioqa")
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def request(self, scope: Scope) -> Iterator[Callable[[str, str, int], None]]:
        """Make a span that continues the request's traceparent, if it has a valid one."""
        came_with = self._propagator.extract(dict(Headers(scope=scope)), Context())
        with self._tracer.start_as_current_span(
            "request", came_with, SpanKind.SERVER, record_exception=False, set_status_on_exception=False
        ) as span:
            trace_id.set(f"{span.get_span_context().trace_id:032x}")

            def end(method: str, route: str, status: int) -> None:
                span.update_name(f"{method} {route}")
                span.set_attribute("http.request.method", method)
                span.set_attribute("http.route", route)
                span.set_attribute("http.response.status_code", status)
                span.set_attribute("bioqa.request_id", request_id.get() or "")
                if status >= 500:
                    span.set_status(Status(StatusCode.ERROR))

            yield end

    def answer(self, answer: Answer) -> None:
        """Add spans for an answer just made. Their durations are measured; their start times are derived."""
        facts: dict[str, str | int | bool] = {
            "bioqa.ranker": answer.ranker,
            "bioqa.candidates": answer.candidates,
            "bioqa.truncated_sentences": answer.truncated_sentences,
            "bioqa.degraded": answer.degraded is not None,
        }
        ended = time.time_ns()
        begun = ended - _ns(answer.timings_ms.total)
        whole = self._tracer.start_span("answer", attributes=facts, start_time=begun)
        inside = set_span_in_context(whole)
        for stage in STAGES:
            until = begun + _ns(getattr(answer.timings_ms, stage))
            self._tracer.start_span(stage, inside, start_time=begun).end(until)
            begun = until
        whole.end(ended)

    def close(self) -> None:
        """Send the remaining spans."""
        self._provider.shutdown()


def _ns(ms: float) -> int:
    return round(1_000_000 * ms)


def to_collector(url: str) -> Traces:
    """Send traces to a collector. Raises TracesError if ``url`` is invalid; it connects only later."""
    if "@" in url:
        raise TracesError(
            "BIOQA_OTLP_ENDPOINT: holds a user or password, which logs would show; "
            "OTEL_EXPORTER_OTLP_HEADERS holds credentials"
        )
    if not is_http(url):
        raise TracesError("BIOQA_OTLP_ENDPOINT: must be like http://collector:4318")
    whole = url if urlsplit(url).path.rstrip("/") else f"{url.rstrip('/')}/v1/traces"
    return Traces(BatchSpanProcessor(OTLPSpanExporter(whole)))
