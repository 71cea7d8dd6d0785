"""Metrics for Prometheus."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from bioqa.app.observability.metrics import MEDIA_TYPE, Metrics

router = APIRouter(tags=["about"])


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(request: Request) -> Response:
    """Return all metrics in Prometheus' text format."""
    counted: Metrics = request.app.state.metrics
    return Response(counted.text(), media_type=MEDIA_TYPE)
