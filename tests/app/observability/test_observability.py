"""What is watched, and what it takes to trace."""

import re
import sys
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from bioqa import app
from bioqa.app.answers.engine import Engine
from bioqa.app.main import create_app
from bioqa.app.observability import INSTALL
from bioqa.app.settings import Settings
from bioqa.system.errors import BioqaError
from tests.app.requests import BODY


def test_without_the_package_the_setting_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.context", None)
    monkeypatch.delitem(sys.modules, "bioqa.app.observability.traces", raising=False)
    monkeypatch.delattr("bioqa.app.observability.traces", raising=False)
    with pytest.raises(BioqaError, match=rf"opentelemetry.*{re.escape(INSTALL)}"):
        create_app(Settings(otlp_endpoint="http://collector:4318"), engine)


def test_off_means_not_imported(monkeypatch: pytest.MonkeyPatch, engine: Engine) -> None:
    monkeypatch.delitem(sys.modules, "bioqa.app.observability.traces", raising=False)
    create_app(Settings(), engine)
    assert "bioqa.app.observability.traces" not in sys.modules
    sources = [
        path for path in Path(app.__file__).parent.rglob("*.py") if "from opentelemetry" in path.read_text()
    ]
    assert [path.name for path in sources] == ["traces.py"]


def test_what_machines_ask_every_few_seconds_is_counted_and_not_logged(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    with TestClient(create_app(Settings(), engine)) as client:
        caplog.set_level("INFO", "bioqa.access")
        for path in ("/healthz", "/readyz", "/metrics", "/static/style.css", "/v1/models"):
            assert client.get(path).status_code == 200
        counted = client.get("/metrics").text
    lines = [record.getMessage() for record in caplog.records if record.name == "bioqa.access"]
    assert lines == ["GET /v1/models 200"]
    assert 'bioqa_request_duration_seconds_count{method="GET",route="/healthz",status="200"} 1.0' in counted


def test_answers_reach_the_metrics(engine: Engine) -> None:
    with TestClient(create_app(Settings(), engine)) as client:
        client.post("/v1/search", json={"body": BODY})
        assert "bioqa_candidates_count 1.0" in client.get("/metrics").text
