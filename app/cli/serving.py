"""The command that serves HTTP."""

import logging
from importlib.metadata import version
from typing import Annotated

import typer

from app.cli.options import CandidatesOption, IndexOption, RankerOption
from app.opening import index_place
from app.settings import load_settings


def package_version() -> str:
    return version("bioqa")


def serve(
    index: IndexOption = None,
    ranker: RankerOption = None,
    candidates: CandidatesOption = None,
    host: Annotated[str | None, typer.Option(help="Address to listen at. [BIOQA_HOST]")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen at. [BIOQA_PORT]")] = None,
) -> None:
    """Serve the HTTP API, described at /docs and /openapi.json.

    The index may come later: until it is there, questions get 503 and /readyz tells why.
    """
    import uvicorn

    from app.main import create_app

    settings = load_settings(index=index, ranker=ranker, candidates=candidates, host=host, port=port)
    index_place(settings)
    logging.basicConfig(level=settings.log_level.upper(), format="%(levelname)s: %(message)s")
    uvicorn.run(create_app(settings), host=settings.host, port=settings.port, log_level=settings.log_level)
