"""Services that answer batches, or only take them in."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from bioqa.app.answers.engine import Engine
from bioqa.app.main import create_app
from bioqa.app.settings import Settings

SETTINGS = Settings(
    max_question_characters=300, max_testset_questions=6, max_upload_bytes=20_000, max_batches=3
)


@pytest.fixture(scope="module")
def batching(engine: Engine) -> Iterator[TestClient]:
    with TestClient(create_app(SETTINGS, engine), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def idle(engine: Engine) -> TestClient:
    """A service that takes batches in and answers none."""
    return TestClient(create_app(SETTINGS, engine), raise_server_exceptions=False)
