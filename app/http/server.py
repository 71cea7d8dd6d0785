"""uvicorn with draining: when told to end, it answers accepted requests first, and reports not ready."""

import logging
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from ipaddress import ip_address
from types import FrameType
from typing import cast

import uvicorn
from fastapi import FastAPI

from bioqa.app.answers.service import Service
from bioqa.app.http.listening import cannot_listen
from bioqa.app.http.protocol import BoundedProtocol, ConnectionLimits, Connections
from bioqa.app.settings import Settings
from bioqa.system.errors import BioqaError
from bioqa.system.processes import keep_loaded

CLOSING_S = 5
"""Seconds for sending the last responses, after draining."""

log = logging.getLogger("bioqa")


class StartFailed(BioqaError):
    """The application could not be started."""


def _start_failed() -> StartFailed:
    return StartFailed("the service could not be started; its log says why")


class Server(uvicorn.Server):
    """The first signal starts draining: connections are still accepted, so that a load balancer can see it.

    uvicorn's own shutdown follows when everything is answered, when the time limit passes, or at a second
    signal.
    """

    def __init__(
        self, config: uvicorn.Config, service: Service, clean_up: Callable[[], None] = lambda: None
    ) -> None:
        """``clean_up`` is called at the end, also after a second signal, which skips much."""
        super().__init__(config)
        self._service = service
        self._clean_up = clean_up
        self._signal: int | None = None
        self._until = 0.0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Raises CannotListen and StartFailed, where uvicorn would exit with a code of its own."""
        try:
            await super().startup(sockets)
        except OSError as error:
            # Two programs can bind a port with SO_REUSEADDR; the other one listened first.
            await self.lifespan.shutdown()
            raise cannot_listen(self.config.host, self.config.port, error) from error
        except SystemExit as stop:
            raise _start_failed() from stop
        if self.lifespan.should_exit:  # older versions of uvicorn return
            raise _start_failed()
        keep_loaded()
        for listening in sockets or ():
            host, port = listening.getsockname()[:2]
            log.info("listening on http://%s:%d", f"[{host}]" if ":" in host else host, port)
            self._warn_of_everybody(host)

    def _warn_of_everybody(self, host: str) -> None:
        if self._service.settings.api_keys_file is None and not ip_address(host).is_loopback:
            log.warning(
                "no API keys are set (BIOQA_API_KEYS_FILE): whoever reaches %s may use the service and see, "
                "cancel and remove all batches",
                host,
            )

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().shutdown(sockets)
        finally:
            self._clean_up()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """A terminal that is closed ends the service as SIGTERM does, unless it was started to outlive it."""
        with super().capture_signals():
            if threading.current_thread() is not threading.main_thread():
                yield
                return
            before = signal.getsignal(signal.SIGHUP)
            if before == signal.SIG_DFL:
                signal.signal(signal.SIGHUP, self.handle_exit)
            try:
                yield
            finally:
                signal.signal(signal.SIGHUP, before)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._signal is None and self.started:
            self._signal = sig
            self._until = time.monotonic() + self._service.settings.drain_s
            self._service.drain()
        else:
            super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        if self._signal is not None and not self.should_exit:
            late = time.monotonic() >= self._until
            if late:
                log.warning("draining took too long: waiting questions are refused")
                self._service.refuse_waiting()
            if late or self._service.drained:
                super().handle_exit(self._signal, None)
        return await super().on_tick(counter)


def connections_of(settings: Settings) -> Connections:
    limits = ConnectionLimits(
        settings.max_connections,
        settings.max_connections_per_address,
        settings.header_timeout_s,
        settings.body_timeout_s,
        settings.send_timeout_s,
    )
    proxies = {address.strip() for address in settings.trusted_proxies.split(",")}
    return Connections(limits.within_descriptors(), proxies)


def bind_protocol(connections: Connections) -> type[BoundedProtocol]:
    """The protocol, as uvicorn takes it."""
    return cast("type[BoundedProtocol]", partial(BoundedProtocol, connections=connections))


def server_of(app: FastAPI, settings: Settings) -> Server:
    """Build the server; its ``run`` serves until a signal arrives."""
    app.state.connections = connections_of(settings)
    config = uvicorn.Config(
        app,
        http=bind_protocol(app.state.connections),
        host=settings.host,
        port=settings.port,
        log_config=None,  # its messages go through the root logger, as all others
        log_level=settings.log_level,
        access_log=False,  # our own leaves out the query, which can hold a question
        server_header=False,
        forwarded_allow_ips=settings.trusted_proxies,
        timeout_graceful_shutdown=CLOSING_S,
    )
    return Server(config, app.state.service, lambda: app.state.batches.close())
