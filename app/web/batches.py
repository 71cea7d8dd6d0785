"""The pages at /batches: submit a test set, see its progress, fetch its submission."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from bioqa.app.api import batches as api
from bioqa.app.api.batches import CurrentBatches, CurrentViewer, KnownBatch
from bioqa.app.api.uploads import CurrentUploads
from bioqa.app.http.schemas import BatchAddress
from bioqa.app.web.pages import page

router = APIRouter(prefix="/batches", include_in_schema=False)

SHOWN_FAULTS = 100

Before = Annotated[int | None, Query(ge=1, le=2**53)]


@router.get("", response_class=HTMLResponse)
def the_batches(
    request: Request, batches: CurrentBatches, viewer: CurrentViewer, before: Before = None
) -> HTMLResponse:
    listed = api.the_batches(batches, viewer, limit=20, before=before)
    return page(
        request,
        "batches.html",
        batches=listed.batches,
        next=listed.next,
        kept=batches.kept,
        everybodys=viewer.sees_all,
    )


@router.post("")
async def submit(
    request: Request, batches: CurrentBatches, uploads: CurrentUploads, viewer: CurrentViewer
) -> Response:
    status = await api.submit_a_test_set(
        request, Response(), batches, uploads, viewer, key=None, query=BatchAddress()
    )
    if isinstance(status, Response):
        return status
    return RedirectResponse(f"{router.prefix}/{status.id}", 303)


@router.get("/{id}", response_class=HTMLResponse)
def a_batch(request: Request, batch: KnownBatch, batches: CurrentBatches) -> HTMLResponse:
    details = api.details(batches, batch)
    return page(request, "batch.html", batch=details, finished=batch.state.finished, most=SHOWN_FAULTS)


@router.post("/{id}/cancel")
def cancel(batch: KnownBatch, batches: CurrentBatches) -> RedirectResponse:
    """Cancel a batch; one that has finished in the meantime keeps its results."""
    batches.cancel(batch)
    return RedirectResponse(f"{router.prefix}/{batch.id}", 303)


@router.post("/{id}/remove")
def remove(batch: KnownBatch, batches: CurrentBatches) -> RedirectResponse:
    """Remove a finished batch; the page offers nothing else."""
    if not batch.state.finished:
        return RedirectResponse(f"{router.prefix}/{batch.id}", 303)
    batches.remove(batch)
    return RedirectResponse(router.prefix, 303)
