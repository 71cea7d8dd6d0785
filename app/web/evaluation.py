"""The page at /evaluate: evaluate a submission against a golden file, or compare several."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from bioqa.app.api.batches import BatchStatus, CurrentBatches, CurrentViewer, find_batch, status, the_batches
from bioqa.app.api.comparing import MOST_SYSTEMS, unique_names
from bioqa.app.api.evaluation import evaluate_upload, validate_upload
from bioqa.app.api.uploads import CurrentUploads, Upload, Uploads, require_files
from bioqa.app.http.errors import FieldError
from bioqa.app.jobs.batches import BatchJobs, NoSubmission
from bioqa.app.jobs.records import Viewer
from bioqa.app.reports.report import SHOWN_QUESTIONS
from bioqa.app.web.comparing import compare_uploads, is_run, report
from bioqa.app.web.pages import day, page
from bioqa.bioasq.measures import EDITIONS, LATEST

router = APIRouter(prefix="/evaluate", include_in_schema=False)

SHOWN_FAULTS = 100
OFFERED_BATCHES = 5

YEARS = {2: "BioASQ 1 and 2", 3: "BioASQ 3 and 4", 5: "BioASQ 5 to 7", 8: "BioASQ 8", 9: "BioASQ 9 and later"}


@router.get("", response_class=HTMLResponse)
def form(
    request: Request,
    batches: CurrentBatches,
    viewer: CurrentViewer,
    batch: Annotated[str | None, Query(max_length=64)] = None,
) -> HTMLResponse:
    """The form for files; with ``batch``, for the answers to that test set."""
    chosen = [_status(batch, batches, viewer)] if batch else []
    return _page(request, "evaluate.html", _list_offered(batches, viewer, chosen), chosen)


@router.post("", response_class=HTMLResponse)
async def evaluate(
    request: Request, uploads: CurrentUploads, batches: CurrentBatches, viewer: CurrentViewer
) -> HTMLResponse:
    upload = await uploads.receive(request, repeated=("submission", "batch"))
    # Browsers send an empty file if none was chosen.
    files = {name: content for name, content in upload.files.items() if content}
    answered: dict[str, BatchStatus] = {}
    for field, identifier in upload.texts.items():
        if field.startswith("batch") and identifier:
            answered[field] = await uploads.work(_status, identifier, batches, viewer)
            files[field] = await uploads.work(_answers, identifier, batches, viewer)
    upload = replace(upload, files=files)
    sent = [field for field in files if field.startswith("submission")]
    require_files(upload, ["golden"] if answered else ["submission", "golden"])
    if len(answered) + len(sent) > MOST_SYSTEMS:
        raise FieldError("submission", f"must be at most {MOST_SYSTEMS}, test sets included")
    names = unique_names(
        {field: batch.file_name or f"answers of {day(batch.created)}" for field, batch in answered.items()}
        | {field: upload.names.get(field, "") for field in sent}
    )
    edition = _edition(upload)
    if upload.texts.get("report"):
        comparison = await uploads.parse(report, upload, names, edition, SHOWN_QUESTIONS)
        attached = {"Content-Disposition": 'attachment; filename="comparison.html"'}
        return HTMLResponse(comparison, headers=attached)
    chosen = [*answered.values()]
    return _page(
        request,
        "evaluation.html",
        await uploads.work(_list_offered, batches, viewer, chosen),
        chosen,
        **await _results(uploads, upload, names, edition),
        most=SHOWN_FAULTS,
    )


async def _results(
    uploads: Uploads, upload: Upload, names: Mapping[str, str], edition: int
) -> dict[str, Any]:
    """What is shown of one submission, with its faults, or of several."""
    faults, evaluation = {}, None
    for field, name in names.items():
        if await uploads.parse(is_run, upload, field):
            continue
        alone = replace(upload, files={**upload.files, "submission": upload.files[field]})
        if len(names) == 1 and not await uploads.parse(is_run, upload, "golden"):
            evaluation = await uploads.parse(evaluate_upload, alone)
        faults[name] = await uploads.parse(validate_upload, alone)
    comparison = await uploads.parse(compare_uploads, upload, names, edition, SHOWN_QUESTIONS)
    return {"evaluation": evaluation, "validations": faults, "comparison": comparison}


def _edition(upload: Upload) -> int:
    """The edition of intervals and differences: the one that was chosen, or the latest."""
    text = upload.texts.get("editions", "")
    if text and text not in map(str, EDITIONS):
        raise FieldError("editions", f"must be some of {', '.join(map(str, EDITIONS))}, each once")
    return int(text) if text else LATEST


def _page(
    request: Request, template: str, offered: list[BatchStatus], chosen: list[BatchStatus], **context: Any
) -> HTMLResponse:
    return page(
        request,
        template,
        offered=offered,
        chosen=[batch.id for batch in chosen],
        editions=EDITIONS,
        years=YEARS,
        most_systems=MOST_SYSTEMS,
        **context,
    )


def _list_offered(batches: BatchJobs, viewer: Viewer, chosen: list[BatchStatus]) -> list[BatchStatus]:
    """The test sets to choose from: those chosen, and the latest that are done."""
    ids = {batch.id for batch in chosen}
    latest = the_batches(batches, viewer).batches
    return [*chosen, *(batch for batch in latest if batch.submission and batch.id not in ids)][
        :OFFERED_BATCHES
    ]


def _status(identifier: str, batches: BatchJobs, viewer: Viewer) -> BatchStatus:
    return BatchStatus(**status(batches, find_batch(identifier, batches, viewer)))


def _answers(identifier: str, batches: BatchJobs, viewer: Viewer) -> bytes:
    try:
        return batches.submission(find_batch(identifier, batches, viewer))
    except NoSubmission as error:
        raise FieldError("batch", f"cannot be evaluated: {error}") from error
