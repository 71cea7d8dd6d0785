"""Citations as files for reference managers."""

import re
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Response

from bioqa.app.answers.service import CurrentService
from bioqa.app.api.citations import cited
from bioqa.app.exports.formats import FORMATS
from bioqa.app.http.errors import FieldError

router = APIRouter(include_in_schema=False)

MOST = 100

FILES = {format.ending: format for format in FORMATS.values() if format.ending != "txt"}
"""Formats by file name extension."""

Pmids = Annotated[str, Query(max_length=2000)]


# Not async: the lookup is quick but blocks.
@router.get("/citations.{ending}")
def citations(ending: str, pmid: Pmids, service: CurrentService) -> Response:
    """Return the citations with these comma-separated PMIDs, in that order, as a file."""
    if ending not in FILES:
        raise HTTPException(404, f"citations are available as {', '.join(FILES)}, not as {ending[:20]}")
    pmids = pmid.split(",")
    if len(set(pmids)) > MOST or not all(re.fullmatch(r"[1-9][0-9]{0,17}", each) for each in pmids):
        raise FieldError("pmid", f"must be comma-separated PMIDs, at most {MOST}")
    return cited(service, pmids, FILES[ending])
