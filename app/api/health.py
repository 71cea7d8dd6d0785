"""Probes for load balancers and monitoring."""

from typing import Any

from fastapi import APIRouter, Response

from bioqa.app.answers.service import CurrentService
from bioqa.app.http.schemas import Health, Readiness

router = APIRouter(tags=["about"])

NOT_READY: dict[int | str, dict[str, Any]] = {503: {"model": Readiness, "description": "Not ready, and why"}}


@router.get("/healthz")
async def alive() -> Health:
    """Report that the process runs. Answers at once, whatever else is going on."""
    return Health()


@router.get("/readyz", responses=NOT_READY)
def ready(service: CurrentService, response: Response) -> Readiness:
    """Report whether questions can be answered, and if not, why."""
    reasons = service.reasons_not_ready()
    if reasons:
        response.status_code = 503
    return Readiness(ready=not reasons, reasons=reasons)
