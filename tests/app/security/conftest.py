"""Applications with guards, and how one comes in."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from bioqa.app.answers.engine import Engine
from bioqa.app.main import create_app
from bioqa.app.security import keyfile
from bioqa.app.security.keys import ApiKey, digest, new_secret
from bioqa.app.settings import Settings

Serve = Callable[..., TestClient]


@pytest.fixture
def key_path(tmp_path: Path) -> Path:
    path = tmp_path / "keys"
    path.touch()
    return path


@pytest.fixture
def secret(key_path: Path) -> str:
    """The key of ada, in the file."""
    made = new_secret()
    keyfile.add(key_path, ApiKey("ada", digest(made)))
    return made


@pytest.fixture
def serve(engine: Engine) -> Iterator[Serve]:
    """A client of a service with these settings."""
    with ExitStack() as stack:

        def served(**settings: Any) -> TestClient:
            app = create_app(Settings(**settings), engine)
            return stack.enter_context(TestClient(app, raise_server_exceptions=False))

        yield served
