"""The command ``serve``, and the serving of judging sheets."""

import logging
import os
import socket
from contextlib import ExitStack
from typing import Annotated

import typer

from bioqa.app.answers.opening import index_location
from bioqa.app.cli.console import say
from bioqa.app.cli.options import CandidatesOption, DeviceOption, IndexOption, RankerOption
from bioqa.app.environment import service_links, unknown_variables
from bioqa.app.judging.judgments import JudgmentLog
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


def serve_judging(log: JudgmentLog, settings: Settings) -> None:
    """Serve a sheet until a signal arrives. Raises CannotListen."""
    import uvicorn

    from bioqa.app.http.listening import listen
    from bioqa.app.http.server import bind_protocol, connections_of
    from bioqa.app.observability import logs
    from bioqa.app.web.judging import create_judging_app

    with ExitStack() as stack:
        sockets = [stack.enter_context(socket) for socket in listen(settings.host, settings.port)]
        logs.configure(settings.log_level, settings.log_format)
        for listening in sockets:
            say(f"judging at {_address(listening)}; Ctrl-C ends it, and nothing is lost")
        config = uvicorn.Config(
            create_judging_app(log, settings),
            http=bind_protocol(connections_of(settings)),
            log_config=None,
            access_log=False,
            server_header=False,
            forwarded_allow_ips=settings.trusted_proxies,
            timeout_graceful_shutdown=5,
        )
        uvicorn.Server(config).run(sockets)


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"
