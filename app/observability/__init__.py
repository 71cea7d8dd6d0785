"""Logs, metrics and traces of the service."""

from typing import TYPE_CHECKING

from fastapi import FastAPI

from bioqa.app.answers.service import Service
from bioqa.app.jobs.batches import BatchJobs
from bioqa.app.observability.metrics import Metrics
from bioqa.app.observability.requests import Observed, no_spans
from bioqa.app.settings import Settings
from bioqa.system.errors import BioqaError

if TYPE_CHECKING:
    from bioqa.app.observability.traces import Traces

INSTALL = "pip install 'opentelemetry-exporter-otlp-proto-http>=1.27' 'opentelemetry-sdk>=1.27'"
"""The extra otel. Not by bioqa's name, which somebody else could have on an index."""

QUIET = ("/healthz", "/readyz", "/metrics", "/static/")
"""Requested by machines every few seconds, or by every page."""


def observe(app: FastAPI, settings: Settings, service: Service, batches: BatchJobs) -> None:
    """Observe every request that reaches this middleware, through that added later.

    Raises BioqaError if traces are configured but cannot be made. Call ``close`` when the app ends.
    """
    metrics = Metrics(service, batches)
    traces = _traces(settings.otlp_endpoint) if settings.otlp_endpoint else None
    app.state.metrics, app.state.traces = metrics, traces
    service.observers.append(metrics.answer)
    if traces:
        service.observers.append(traces.answer)
    spans = traces.request if traces else no_spans
    app.add_middleware(
        Observed, finished=metrics.request, is_quiet=lambda path: path.startswith(QUIET), spans=spans
    )


def close(app: FastAPI) -> None:
    """Send the remaining spans."""
    if app.state.traces:
        app.state.traces.close()


def _traces(endpoint: str) -> "Traces":
    try:
        from bioqa.app.observability import traces
    except ModuleNotFoundError as error:
        raise BioqaError(
            f"BIOQA_OTLP_ENDPOINT: traces need a package that is not installed, {error.name}: {INSTALL}"
        ) from error
    return traces.to_collector(endpoint)
