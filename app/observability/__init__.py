"""What the service does, for those who run it: logs, metrics, traces."""

from fastapi import FastAPI

from app.observability.metrics import Metrics
from app.observability.requests import Observed
from app.service import Service
from app.settings import Settings

QUIET = frozenset({"/healthz", "/readyz", "/metrics"})


def observe(app: FastAPI, settings: Settings, service: Service) -> None:
    """Watch every request of ``app`` that gets as far as here, past what is added later."""
    metrics = Metrics(service)
    app.state.metrics = metrics
    service.observers.append(metrics.answer)
    app.add_middleware(Observed, finished=metrics.request, quiet_paths=QUIET)
