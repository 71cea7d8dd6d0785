"""The page at /docs: every operation of the API, to read and to try (Swagger UI, vendored, 5.35.0)."""

from typing import Any, NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from bioqa.app.web.pages import page

router = APIRouter(prefix="/docs", include_in_schema=False)


class Operation(NamedTuple):
    method: str
    path: str
    summary: str


@router.get("", response_class=HTMLResponse)
async def reference(request: Request) -> HTMLResponse:
    return page(request, "reference.html", operations=operations(request.app.openapi()))


def operations(description: dict[str, Any]) -> list[Operation]:
    """The operations of an OpenAPI description, for browsers without JavaScript."""
    return [
        Operation(method.upper(), path, operation.get("description") or operation["summary"])
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    ]
