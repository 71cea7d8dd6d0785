"""The command that serves language-model assistants: mcp."""

import contextlib
import socket
import sys
from collections.abc import Iterator
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bioqa.app.answers.opening import index_location, load_ranker, open_index
from bioqa.app.cli.console import say
from bioqa.app.cli.options import CandidatesOption, DeviceOption, IndexOption, RankerOption
from bioqa.app.environment import key_text
from bioqa.app.settings import Settings, load_settings
from bioqa.system.errors import BioqaError
from bioqa.system.secret import Secret

if TYPE_CHECKING:
    from mcp.server import MCPServer

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
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allowed-host",
            metavar="NAME",
            help="Host name by which clients call it with --http; can be repeated. [BIOQA_ALLOWED_HOSTS]",
        ),
    ] = None,
) -> None:
    """Serve search and documents to language-model assistants (Model Context Protocol).

    Over stdin and stdout, as assistants start it, or over HTTP.
    """
    from bioqa.app.observability import logs

    try:
        from bioqa.app.mcp.server import create_server
    except ImportError as error:
        if (package := (error.name or "").partition(".")[0]) not in ("mcp", "mcp_types", "httpx2"):
            raise
        raise BioqaError(f"`bioqa mcp` needs {_lacking(package)}: {INSTALL}") from error
    settings = load_settings(
        index=index,
        ranker=ranker,
        candidates=candidates,
        device=device,
        host=host,
        port=port,
        allowed_hosts=",".join(allowed_host or []) or None,
    )
    with contextlib.ExitStack() as stack:
        sockets = _listening(settings, stack) if http else []
        logs.configure("warning", settings.log_format)
        server = create_server(stack.enter_context(_backend(settings, url, api_key)))
        if http:
            _serve(server, settings, sockets)
        else:
            server.run("stdio")


def _lacking(package: str) -> str:
    """What is wrong with a package that could not be imported."""
    # Version 1 of mcp has no mcp_types.
    name = "mcp" if package == "mcp_types" else package
    try:
        return f"packages of other versions than are installed (of {name} {metadata.version(name)})"
    except metadata.PackageNotFoundError:
        return "packages that are not installed"


def _listening(settings: Settings, stack: contextlib.ExitStack) -> list[socket.socket]:
    from bioqa.app.http.listening import listen
    from bioqa.app.security.hosts import parse_hosts
    from bioqa.system.proxies import is_local

    parse_hosts(settings.allowed_hosts or "")
    if not is_local(settings.host) and settings.api_keys_file is None:
        say(f"warning: no key protects this server: whoever reaches {settings.host} may use it")
    return [stack.enter_context(socket) for socket in listen(settings.host, settings.port)]


def _serve(server: "MCPServer[Any]", settings: Settings, sockets: list[socket.socket]) -> None:
    import uvicorn

    from bioqa.app.http.server import bind_protocol, connections_of
    from bioqa.app.mcp.server import http_app
    from bioqa.app.security.hosts import parse_hosts

    allowed = {settings.host, *parse_hosts(settings.allowed_hosts or "")}
    config = uvicorn.Config(
        http_app(server, settings, allowed),
        http=bind_protocol(connections_of(settings)),
        log_config=None,
        log_level="warning",
        server_header=False,
        forwarded_allow_ips=settings.trusted_proxies,
    )
    uvicorn.Server(config).run(sockets)


@contextlib.contextmanager
def _backend(settings: Settings, url: str | None, api_key: str | None) -> "Iterator[Backend]":
    from bioqa.app.answers.engine import LocalEngine
    from bioqa.app.answers.reopening import ReopeningIndex
    from bioqa.app.answers.service import Service
    from bioqa.app.mcp.backends import LocalBackend, RemoteBackend

    if url is not None:
        yield RemoteBackend(url, _key(api_key))
        return
    settings.check()
    index_location(settings)
    # Stdout carries the protocol: what libraries print while they load must not get there.
    with contextlib.redirect_stdout(sys.stderr):
        index = ReopeningIndex(partial(open_index, settings))
        service = Service(settings, LocalEngine([load_ranker(settings)], index))
    try:
        yield LocalBackend(service)
    finally:
        service.close()


def _key(text: str | None) -> Secret | None:
    try:
        return Secret(key) if text and (key := key_text(text)) else None
    except ValueError as error:
        raise BioqaError(f"BIOQA_API_KEY (--api-key): {error}") from error
