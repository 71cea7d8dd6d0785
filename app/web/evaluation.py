"""The page at /evaluate: evaluate a submission against a golden file."""

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from bioqa.app.api.batches import BatchStatus, CurrentBatches, CurrentViewer, known, status
from bioqa.app.api.evaluation import evaluated, validated
from bioqa.app.api.uploads import CurrentUploads, require_files
from bioqa.app.http.errors import FieldError
from bioqa.app.jobs.batches import BatchJobs, NoSubmission
from bioqa.app.jobs.records import Viewer
from bioqa.app.web.pages import page
from bioqa.bioasq.measures import EDITIONS

router = APIRouter(prefix="/evaluate", include_in_schema=False)

SHOWN_FAULTS = 100

YEARS = {2: "BioASQ 1 and 2", 3: "BioASQ 3 and 4", 5: "BioASQ 5 to 7", 8: "BioASQ 8", 9: "BioASQ 9 and later"}


@router.get("", response_class=HTMLResponse)
def form(
    request: Request,
    batches: CurrentBatches,
    viewer: CurrentViewer,
    batch: Annotated[str | None, Query(max_length=64)] = None,
) -> HTMLResponse:
    """The form for two files; with ``batch``, for the answers to that test set."""
    return _page(request, "evaluate.html", batch and _status(batch, batches, viewer))


@router.post("", response_class=HTMLResponse)
async def evaluate(
    request: Request, uploads: CurrentUploads, batches: CurrentBatches, viewer: CurrentViewer
) -> HTMLResponse:
    upload = await uploads.receive(request)
    # Browsers send an empty file if none was chosen.
    upload = replace(upload, files={name: content for name, content in upload.files.items() if content})
    batch = None
    if identifier := upload.texts.get("batch"):
        batch = await uploads.work(_status, identifier, batches, viewer)
        answers = await uploads.work(_answers, identifier, batches, viewer)
        upload = replace(upload, files={**upload.files, "submission": answers})
    require_files(upload, ["submission", "golden"])
    return _page(
        request,
        "evaluation.html",
        batch,
        evaluation=await uploads.parse(evaluated, upload),
        validation=await uploads.parse(validated, upload),
        most=SHOWN_FAULTS,
    )


def _page(request: Request, template: str, batch: object, **context: Any) -> HTMLResponse:
    return page(request, template, batch=batch, editions=EDITIONS, years=YEARS, **context)


def _status(identifier: str, batches: BatchJobs, viewer: Viewer) -> BatchStatus:
    return BatchStatus(**status(batches, known(identifier, batches, viewer)))


def _answers(identifier: str, batches: BatchJobs, viewer: Viewer) -> bytes:
    try:
        return batches.submission(known(identifier, batches, viewer))
    except NoSubmission as error:
        raise FieldError("batch", f"cannot be evaluated: {error}") from error
