"""GET /v1/models: the rankers that are served."""

from fastapi.testclient import TestClient

from bioqa.app.answers.answering import Answerer
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from tests.app.answers.rankers import Backwards
from tests.app.engines import local


def test_a_ranker_with_its_config(client: TestClient) -> None:
    config = {"settings": {"ranker": "lexical"}}
    model = {"name": "lexical", "hash": "00" * 32, "default": True, "config": config}
    assert client.get("/v1/models").json() == {"models": [model]}


def test_the_first_is_the_default(answerer: Answerer) -> None:
    models = (
        TestClient(create_app(Settings(), local(answerer, Backwards()))).get("/v1/models").json()["models"]
    )
    assert [(model["name"], model["default"]) for model in models] == [
        ("lexical", True),
        ("backwards", False),
    ]
