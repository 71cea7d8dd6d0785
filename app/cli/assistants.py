"""The command that serves language-model assistants: mcp."""

import contextlib
import sys
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from bioqa.app.answers.opening import index_location, load_ranker, open_index
from bioqa.app.cli.options import CandidatesOption, DeviceOption, IndexOption, RankerOption
from bioqa.app.settings import Settings, load_settings
from bioqa.bioasq.errors import BioqaError

if TYPE_CHECKING:
    from bioqa.app.mcp.backends import Backend

INSTALL = "pip install 'httpx2>=2.10' 'mcp>=2.3,<3'"
"""The extra mcp. Not by bioqa's name, which somebody else could have on an index."""


def mcp(
    index: IndexOption = None,
    ranker: RankerOption = None,
    candidates: CandidatesOption = None,
    device: DeviceOption = None,
    url: Annotated[
        str | None, typer.Option("--url", help="URL of a running bioqa service to use instead of an index.")
    ] = None,
    api_key: Annotated[
        str | None,
        typer.Option(
            "--api-key", envvar="BIOQA_API_KEY", help="API key for that service; safer in the environment."
        ),
    ] = None,
    http: Annotated[
        bool, typer.Option("--http", help="Serve streamable HTTP at /mcp instead of stdin and stdout.")
    ] = False,
    host: Annotated[str | None, typer.Option(help="Address to listen on with --http. [BIOQA_HOST]")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on with --http. [BIOQA_PORT]")] = None,
) -> None:
    """Serve search and documents to language-model assistants (Model Context Protocol).

    Over stdin and stdout, as assistants start it, or over HTTP.
    """
    from bioqa.app.http.listening import listen
    from bioqa.app.observability import logs

    try:
        from bioqa.app.mcp.server import create_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "httpx2"):
            raise
        raise BioqaError(f"`bioqa mcp` needs packages that are not installed: {INSTALL}") from error
    settings = load_settings(
        index=index, ranker=ranker, candidates=candidates, device=device, host=host, port=port
    )
    if http:
        # The package's server binds by itself, and ends the process in its own way if it cannot.
        for probe in listen(settings.host, settings.port):
            probe.close()
    logs.configure("warning", settings.log_format)
    with _backend(settings, url, api_key) as backend:
        server = create_server(backend)
        if http:
            server.run("streamable-http", host=settings.host, port=settings.port)
        else:
            server.run("stdio")


@contextlib.contextmanager
def _backend(settings: Settings, url: str | None, api_key: str | None) -> "Iterator[Backend]":
    from bioqa.app.answers.service import Service
    from bioqa.app.mcp.backends import LocalBackend, RemoteBackend

    if url is not None:
        yield RemoteBackend(url, api_key)
        return
    index_location(settings)
    # Stdout carries the protocol: what libraries print while they load must not get there.
    with contextlib.redirect_stdout(sys.stderr):
        service = Service(settings, [load_ranker(settings)], partial(open_index, settings))
    try:
        yield LocalBackend(service)
    finally:
        service.close()
