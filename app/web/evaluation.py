"""The page at /evaluate: evaluate a submission against a golden file."""

from dataclasses import replace

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from bioqa.app.api.evaluation import evaluated, validated
from bioqa.app.api.uploads import CurrentUploads, require_files
from bioqa.app.web.pages import page
from bioqa.bioasq.measures import EDITIONS

router = APIRouter(prefix="/evaluate", include_in_schema=False)

SHOWN_FAULTS = 100

YEARS = {2: "BioASQ 1 and 2", 3: "BioASQ 3 and 4", 5: "BioASQ 5 to 7", 8: "BioASQ 8", 9: "BioASQ 9 and later"}


@router.get("", response_class=HTMLResponse)
async def form(request: Request) -> HTMLResponse:
    return page(request, "evaluate.html", editions=EDITIONS, years=YEARS)


@router.post("", response_class=HTMLResponse)
async def evaluate(request: Request, uploads: CurrentUploads) -> HTMLResponse:
    upload = await uploads.receive(request)
    # Browsers send an empty file if none was chosen.
    upload = replace(upload, files={name: content for name, content in upload.files.items() if content})
    require_files(upload, ["submission", "golden"])
    return page(
        request,
        "evaluation.html",
        evaluation=await uploads.parse(evaluated, upload),
        validation=await uploads.parse(validated, upload),
        most=SHOWN_FAULTS,
        editions=EDITIONS,
        years=YEARS,
    )
