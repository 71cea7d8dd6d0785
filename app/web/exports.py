"""Citations as files for reference managers."""

import re
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Response

from bioqa.app.answers.service import CurrentService
from bioqa.app.http.errors import FieldError
from bioqa.app.web.citations import FORMATS

router = APIRouter(include_in_schema=False)

MOST = 100

Pmids = Annotated[str, Query(max_length=2000)]


# Not async: the lookup is quick but blocks.
@router.get("/citations.{ending}")
def citations(ending: str, pmid: Pmids, service: CurrentService) -> Response:
    """Return the citations with these comma-separated PMIDs, in that order, as a file."""
    if ending not in FORMATS:
        raise HTTPException(404, f"citations are available as {', '.join(FORMATS)}, not as {ending[:20]}")
    format = FORMATS[ending]
    pmids = list(dict.fromkeys(pmid.split(",")))
    if len(pmids) > MOST or not all(re.fullmatch(r"[1-9][0-9]{0,17}", each) for each in pmids):
        raise FieldError("pmid", f"must be comma-separated PMIDs, at most {MOST}")
    found = service.documents(pmids)
    if missing := [each for each in pmids if each not in found]:
        raise HTTPException(404, f"not in the index: {', '.join(missing)}")
    name = f"pubmed-{pmids[0]}" if len(pmids) == 1 else f"pubmed-{len(pmids)}-articles"
    return Response(
        format.write([found[each] for each in pmids]),
        media_type=f"{format.media_type}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.{ending}"'},
    )
