"""A service that browsers and other programs can reach."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from bioqa.app.answers.engine import Engine
from bioqa.app.main import create_app
from bioqa.app.settings import Settings


@contextmanager
def serving(engine: Engine) -> Iterator[str]:
    """Its address, on a port of this machine."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(create_app(Settings(), engine), log_config=None, ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join()
    listening.close()
