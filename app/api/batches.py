"""Test sets of up to thousands of questions, answered in the background."""

import re
from datetime import UTC, datetime
from math import ceil
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, HTTPException, Path, Query, Request, Response
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, Field

from bioqa.app.api.bioasq import DEGRADED_HEADER, EXAMPLES
from bioqa.app.api.uploads import CurrentUploads, Upload, file_part, request_body, require_files
from bioqa.app.http.errors import FieldError, document_problems, problem
from bioqa.app.http.schemas import BatchAddress, Submission
from bioqa.app.jobs.batches import BatchJobs, NoSubmission
from bioqa.app.jobs.intake import TestSetLimits, entries
from bioqa.app.jobs.records import NOBODY, BatchJob, Entry, State, Viewer
from bioqa.app.jobs.store import KeyReused, TooManyBatches
from bioqa.app.security.keys import ApiKey
from bioqa.system.errors import BioqaError

router = APIRouter(prefix="/v1/bioasq/batches", tags=["batches"])

FULL_RETRY_AFTER_S = 60
LONGEST_KEY = 255


class Cause(BaseModel):
    """A question that failed: it has no answer and gets none."""

    field: str = Field(description="Where in the test set: questions[3].body, …")
    id: str | None = Field(description="The question's id, unless it is missing or a duplicate.")
    message: str


class BatchRestart(BaseModel):
    at: datetime
    reason: str


class BatchRanker(BaseModel):
    name: str
    hash: str


class BatchStatus(BaseModel):
    """The progress of a batch. ``answered``, ``failed`` and ``remaining`` add up to ``questions``."""

    id: str
    state: State
    questions: int
    answered: int
    failed: int = Field(description="Questions that have no answer and get none.")
    remaining: int
    degraded: int = Field(description="Part of the answers: those by BM25, because the ranker failed.")
    seconds_left: float | None = Field(description="Estimated from its own pace; null while unknown.")
    waits_for: str | None = Field(description="What is unavailable, so that nothing is being answered.")
    reason: str | None = Field(description="Why it failed.")
    created: datetime
    started: datetime | None
    finished: datetime | None
    expires: datetime | None = Field(description="When it will be removed.")
    kept: bool = Field(description="Whether it survives a restart of the service.")
    ranker: BatchRanker | None = Field(description="The ranker that answers; null until it starts.")
    index: str | None = Field(description="The index that the answers come from; null until it starts.")
    options: dict[str, Any] = Field(description="The options for all questions that were given.")
    restarts: list[BatchRestart] = Field(
        description="When it was started anew, and why: all answers come from one ranker and one index."
    )
    file_name: str | None = Field(description="The test set's, if it was sent as a file that has a name.")
    owner: str | None = Field(description="The key that submitted it; null where there are no keys.")
    location: str
    submission: str | None = Field(description="Address of its submission; null unless it is done.")


class BatchDetails(BatchStatus):
    faults: list[Cause] = Field(description="The questions without an answer, in the test set's order.")


class BatchPage(BaseModel):
    """Batches, newest first."""

    batches: list[BatchStatus]
    next: int | None = Field(description="``before`` of the next page; null on the last page.")


def _batches(request: Request) -> BatchJobs:
    batches: BatchJobs = request.app.state.batches
    return batches


CurrentBatches = Annotated[BatchJobs, Depends(_batches)]


def _viewer(request: Request) -> Viewer:
    key: ApiKey | None = getattr(request.state, "key", None)
    return NOBODY if key is None else Viewer(key.name, key.is_admin)


CurrentViewer = Annotated[Viewer, Depends(_viewer)]


def _requested_batch(
    request: Request,
    id: Annotated[
        str,
        Path(
            description="A batch's id.",
            max_length=64,
            openapi_examples={"an id": {"value": "8e03978e40d543ddbc936794a57f9324"}},
        ),
    ],
    batches: CurrentBatches,
    viewer: CurrentViewer,
) -> BatchJob:
    batch = batches.get(id)
    if batch is not None:
        request.state.batch = batch.id  # for the log, whether or not it may be seen
    return _check_seen(batch, viewer)


def find_batch(identifier: str, batches: BatchJobs, viewer: Viewer) -> BatchJob:
    """Return a batch that the viewer sees. Raises HTTPException."""
    return _check_seen(batches.get(identifier), viewer)


def _check_seen(batch: BatchJob | None, viewer: Viewer) -> BatchJob:
    if batch is None or not viewer.sees(batch.owner):
        raise HTTPException(404, "there is no such batch; it may have been removed")
    return batch


KnownBatch = Annotated[BatchJob, Depends(_requested_batch)]


def _key(
    idempotency_key: Annotated[
        str | None,
        Header(
            description="A unique name for this request: sent twice, it creates one batch.",
            openapi_examples={"a UUID": {"value": "8e03978e-40d5-43dd-bc93-6894a57f9324"}},
            json_schema_extra={"pattern": r'^("[!#-~]{1,255}"|[!#-~]{1,255})$'},
        ),
    ] = None,
) -> str | None:
    if idempotency_key is None:
        return None
    # A quoted string as in RFC 9651, or the bare characters.
    matched = re.fullmatch(r'"([!#-~]+)"|([!#-~]+)', idempotency_key, re.ASCII)
    key = (matched[1] or matched[2]) if matched else ""
    if not 1 <= len(key) <= LONGEST_KEY:
        raise FieldError("Idempotency-Key", f"must be 1 to {LONGEST_KEY} visible ASCII characters")
    return key


Key = Annotated[str | None, Depends(_key)]

FORM: dict[str, Any] = {
    "file": file_part("The test set as a file, plain or gzip."),
    "ranker": {"type": "string", "description": "As the parameter."},
}


@router.post(
    "",
    status_code=202,
    response_model=BatchDetails,
    responses={
        200: {"model": BatchDetails, "description": "A batch with this Idempotency-Key exists"},
        **document_problems(400, 413, 415, 422, 429, 503),
    },
    openapi_extra=request_body({"$ref": "#/components/schemas/BatchTestSet"}, FORM, ["file"], EXAMPLES),
)
async def submit_a_test_set(
    request: Request,
    response: Response,
    batches: CurrentBatches,
    uploads: CurrentUploads,
    viewer: CurrentViewer,
    key: Key,
    query: Annotated[BatchAddress, Query()],
) -> Response | BatchDetails:
    """Submit a test set to be answered in the background.

    Invalid questions are listed under ``faults``; the others are answered. Filters and other options for all
    questions are parameters of the address.
    """
    ranker, options = query.ranker, query.named_options()
    upload = await uploads.receive(request)
    try:
        taken, ranker = await uploads.parse(_take_entries, upload, ranker, batches.limits)
        name = upload.names.get("file") or None
        batch, new = await uploads.work(batches.submit, taken, ranker, key, viewer, name, options)
        request.state.batch = batch.id
        status = await uploads.work(details, batches, batch)
    except KeyReused:
        raise FieldError("Idempotency-Key", "was used for another test set, ranker or options") from None
    except TooManyBatches:
        headers = {"Retry-After": str(FULL_RETRY_AFTER_S)}
        detail = "too many batches are unfinished, of yours or in all; wait until one is done"
        return problem(429, detail, headers=headers)
    response.headers["Location"] = f"{router.prefix}/{batch.id}"
    response.status_code = 202 if new else 200
    return status


def _take_entries(
    upload: Upload, ranker: str | None, limits: TestSetLimits
) -> tuple[list[Entry], str | None]:
    """The questions of a test set that was sent, and the ranker that is asked for."""
    if upload.body is not None:
        return entries(upload.json(), limits), ranker
    require_files(upload, ["file"])
    in_form = upload.texts.get("ranker") or None
    if ranker and in_form and ranker != in_form:
        raise FieldError("ranker", "differs between the address and the form")
    try:
        testset = upload.file("file")
    except BioqaError as error:
        raise FieldError("file", str(error).removeprefix("file: ")) from error
    return entries(testset, limits), ranker or in_form


@router.get("", responses=document_problems(422, 503))
def the_batches(
    batches: CurrentBatches,
    viewer: CurrentViewer,
    limit: Annotated[int, Query(ge=1, le=100, description="Maximum number of batches.")] = 20,
    before: Annotated[
        int | None, Query(ge=1, le=2**53, description="``next`` of the page before this one.")
    ] = None,
) -> BatchPage:
    """List the batches, newest first."""
    page = batches.page(limit + 1, before, viewer)
    shown = page[:limit]
    return BatchPage(
        batches=[BatchStatus(**status(batches, batch)) for batch in shown],
        next=shown[-1].number if len(page) > limit else None,
    )


@router.get("/{id}", responses=document_problems(404, 422, 503))
def a_batch(batch: KnownBatch, batches: CurrentBatches) -> BatchDetails:
    """Return a batch's progress, its remaining time, and the questions that failed."""
    return details(batches, batch)


@router.get(
    "/{id}/submission",
    response_model=Submission,
    responses={
        200: {
            "description": "The file, validated",
            "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/Submission"}},
                "text/plain": {"schema": {"type": "string"}},
            },
        },
        **document_problems(404, 409, 422, 429, 503),
    },
)
async def the_submission(
    batch: KnownBatch,
    batches: CurrentBatches,
    uploads: CurrentUploads,
    format: Annotated[
        Literal["bioasq", "trec"],
        Query(description="A BioASQ submission, or a TREC run of the documents with the ranker's scores."),
    ] = "bioasq",
) -> Response:
    """Return the answers of a batch that is done, as a file."""
    degraded = {DEGRADED_HEADER: str(batch.counts.degraded)} if batch.counts.degraded else {}
    try:
        if format == "trec":
            text = "".join(f"{line}\n" for line in await uploads.work(batches.run, batch))
            return PlainTextResponse(text, headers=degraded | _attachment(f"run-{batch.id}.txt"))
        file = await uploads.work(batches.submission, batch)
        named = degraded | _attachment(f"submission-{batch.id}.json")
        return Response(file, media_type="application/json", headers=named)
    except NoSubmission as error:
        left = batches.seconds_left(batch)
        headers = {} if batch.state.finished else {"Retry-After": str(max(1, ceil(left or 5)))}
        return problem(409, str(error), headers=headers)


@router.delete(
    "/{id}",
    response_model=BatchDetails,
    responses={204: {"description": "The finished batch was removed"}, **document_problems(404, 422, 503)},
)
def cancel_or_remove(batch: KnownBatch, batches: CurrentBatches) -> Response | BatchDetails:
    """Cancel an unfinished batch, which stays in the list, or remove a finished one."""
    cancelled = batches.cancel_or_remove(batch)
    return Response(status_code=204) if cancelled is None else details(batches, cancelled)


def details(batches: BatchJobs, batch: BatchJob) -> BatchDetails:
    faults = [Cause(field=f.field, id=f.id, message=f.message) for f in batches.faults(batch)]
    return BatchDetails(**status(batches, batch), faults=faults)


def status(batches: BatchJobs, batch: BatchJob) -> dict[str, Any]:
    counts, source, left = batch.counts, batch.source, batches.seconds_left(batch)
    location = f"{batches.root}{router.prefix}/{batch.id}"
    return {
        "id": batch.id,
        "state": batch.state,
        "questions": counts.questions,
        "answered": counts.answered,
        "failed": counts.failed,
        "remaining": counts.remaining,
        "degraded": counts.degraded,
        "seconds_left": None if left is None else round(left, 1),
        "waits_for": batch.waits_for,
        "reason": batch.reason,
        "created": _time(batch.created),
        "started": _time(batch.started),
        "finished": _time(batch.finished),
        "expires": _time(batches.expires(batch)),
        "kept": batches.kept,
        "ranker": None if source is None else BatchRanker(name=source.ranker, hash=source.ranker_hash),
        "index": None if source is None else source.index,
        "restarts": [BatchRestart(at=_moment(r.at), reason=r.reason) for r in batch.restarts],
        "options": dict(batch.options),
        "file_name": batch.file_name,
        "owner": batch.owner,
        "location": location,
        "submission": f"{location}/submission" if batch.state is State.DONE else None,
    }


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else _moment(seconds)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _attachment(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
