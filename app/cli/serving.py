"""The command ``serve``."""

import logging
import os
from contextlib import ExitStack
from typing import Annotated

import typer

from bioqa.app.answers.opening import index_location
from bioqa.app.cli.options import CandidatesOption, DeviceOption, IndexOption, RankerOption
from bioqa.app.environment import service_links, unknown_variables
from bioqa.app.settings import Settings, load_settings


def serve(
    index: IndexOption = None,
    ranker: RankerOption = None,
    candidates: CandidatesOption = None,
    device: DeviceOption = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on. [BIOQA_HOST]")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on. [BIOQA_PORT]")] = None,
) -> None:
    """Serve the web page at / and the HTTP API, described at /openapi.json.

    The index may be created later: until then, questions get 503 and /readyz says why.
    """
    from bioqa.app.http.listening import listen
    from bioqa.app.http.server import server_of
    from bioqa.app.main import create_app
    from bioqa.app.observability import logs

    settings = load_settings(
        index=index, ranker=ranker, candidates=candidates, device=device, host=host, port=port
    ).check()
    index_location(settings)
    # Before the rankers are loaded, which takes seconds: a port that is taken is reported at once.
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket) for socket in listen(settings.host, settings.port)]
        logs.configure(settings.log_level, settings.log_format)
        log_environment()
        server_of(create_app(settings), settings).run(sockets)


def log_environment() -> None:
    """Log the variables that look like settings and are none."""
    log = logging.getLogger("bioqa")
    for sentence in unknown_variables(os.environ, Settings.model_fields):
        log.warning(sentence)
    if links := service_links(os.environ):
        log.debug("ignored, as Kubernetes sets them for a service: %s", ", ".join(links))
