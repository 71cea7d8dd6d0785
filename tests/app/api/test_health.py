"""GET /healthz and /readyz; more of them where the service is troubled: tests/app/answers/test_service.py."""

from fastapi.testclient import TestClient

from bioqa.app.answers.engine import Engine
from bioqa.app.main import create_app
from bioqa.app.settings import Settings


def test_a_service_that_is_well(client: TestClient) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"ready": True, "reasons": []}


def test_a_service_that_drains_is_alive_and_not_ready(engine: Engine) -> None:
    app = create_app(Settings(), engine)
    app.state.service.drain()
    client = TestClient(app)
    assert client.get("/healthz").json() == {"status": "ok"}
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()["ready"]) == (503, False)
    assert "draining" in ready.json()["reasons"][0]
