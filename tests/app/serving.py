"""A service that browsers and other programs can reach."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import uvicorn
from fastapi import FastAPI

from bioqa.app.answers.engine import Engine
from bioqa.app.main import create_app
from bioqa.app.settings import Settings


def serving(engine: Engine) -> AbstractContextManager[str]:
    return serving_app(create_app(Settings(), engine))


@contextmanager
def serving_app(app: FastAPI) -> Iterator[str]:
    """Its address, on a port of this machine."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_config=None, ws="none")
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
