"""GET /metrics."""

from fastapi.testclient import TestClient

from bioqa.app.answers.engine import Engine
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.app.version import version


def test_metrics_can_be_switched_off(engine: Engine) -> None:
    app = create_app(Settings(metrics="off"), engine)
    with TestClient(app) as client:
        assert client.get("/metrics").status_code == 404
    assert "/metrics" not in app.openapi()["paths"]


def test_they_are_in_prometheus_text_format(client: TestClient) -> None:
    response = client.get("/metrics")
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert f'bioqa_info{{version="{version()}"}} 1.0' in response.text.splitlines()
