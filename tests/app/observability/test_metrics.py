"""What Prometheus gets, read with its own parser."""

import time
from collections import Counter as TallyOf
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from bioqa.app.answers.engine import Engine
from bioqa.app.answers.refusals import BatchesUnavailable
from bioqa.app.answers.service import OutcomeCounts, Service
from bioqa.app.jobs.records import State
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.app.version import version
from tests.app.requests import BODY, TESTSET

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def samples(client: TestClient) -> Samples:
    response = client.get("/metrics")
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


def value(found: Samples, name: str, **labels: str) -> float:
    return found[name, tuple(sorted(labels.items()))]


def test_requests_by_route_and_status(engine: Engine) -> None:
    with TestClient(create_app(Settings(), engine)) as client:
        client.post("/v1/search", json={"body": BODY})
        client.post("/v1/search", json={"body": BODY})
        client.post("/v1/search", json={})
        client.get("/v1/documents/90000001")
        client.get("/v1/documents/90000002")
        client.get("/nowhere")
        client.get("/elsewhere")
        found = samples(client)
    name = "bioqa_request_duration_seconds"
    counts = {
        (of["method"], of["route"], of["status"]): count
        for (each, pairs), count in found.items()
        if each == f"{name}_count" and (of := dict(pairs))
    }
    assert counts == {
        ("POST", "/v1/search", "200"): 2,
        ("POST", "/v1/search", "422"): 1,
        ("GET", "/v1/documents/{pmid}", "200"): 2,
        ("GET", "other", "404"): 2,
    }
    labels: dict[str, Any] = {"method": "POST", "route": "/v1/search", "status": "200"}
    assert value(found, f"{name}_sum", **labels) > 0
    assert value(found, f"{name}_bucket", le="+Inf", **labels) == 2


def test_stages_of_answers(engine: Engine) -> None:
    with TestClient(create_app(Settings(), engine)) as client:
        before = samples(client)
        client.post("/v1/search", json={"body": BODY})
        client.post("/v1/bioasq", json=TESTSET)
        found = samples(client)
    for stage in ("wait", "retrieve", "rerank", "select"):
        name = "bioqa_stage_duration_seconds_count"
        assert value(before, name, stage=stage) == 0
        assert value(found, name, stage=stage) == 4
    assert value(found, "bioqa_truncated_sentences_total") == 0


def test_what_runs_and_whether_it_is_ready(engine: Engine) -> None:
    app = create_app(Settings(), engine)
    with TestClient(app) as client:
        found = samples(client)
        assert value(found, "bioqa_ready") == 1
        assert value(found, "bioqa_index_documents", index="sample") == 41
        assert value(found, "bioqa_info", version=version()) == 1
        ranker = {"ranker": "lexical", "hash": "00" * 32, "default": "true"}
        assert value(found, "bioqa_ranker_info", **ranker) == 1
        assert any(name == "process_resident_memory_bytes" for name, _ in found)
        app.state.service.reasons_not_ready = lambda: ["away"]
        assert value(samples(client), "bioqa_ready") == 0


def test_what_became_of_questions_is_the_services_own_count(engine: Engine) -> None:
    app = create_app(Settings(queue_capacity=7), engine)
    service: Service = app.state.service
    with TestClient(app) as client:
        client.post("/v1/search", json={"body": BODY, "candidates": 15})
        service.counts = OutcomeCounts(9, degraded=2, refused=3, timed_out=4, dropped=5, failed=6)
        service.queue.batch_sizes = TallyOf({1: 5, 3: 2, 100: 1})
        found = samples(client)
    assert value(found, "bioqa_answers_total") == 9
    assert value(found, "bioqa_degraded_answers_total") == 2
    reasons = {"refused": 3, "timed_out": 4, "dropped": 5, "failed": 6}
    for reason, count in reasons.items():
        assert value(found, "bioqa_unanswered_questions_total", reason=reason) == count
    assert value(found, "bioqa_queue_waiting") == value(found, "bioqa_queue_running") == 0
    assert value(found, "bioqa_queue_capacity") == 7
    name = "bioqa_ranking_batch_questions"
    assert [value(found, f"{name}_bucket", le=le) for le in ("1.0", "2.0", "4.0", "32.0", "+Inf")] == [
        5,
        5,
        7,
        7,
        8,
    ]
    assert (value(found, f"{name}_count"), value(found, f"{name}_sum")) == (8, 111)
    assert value(found, "bioqa_candidates_count") == 1
    assert value(found, "bioqa_candidates_sum") == 15


def test_batches_by_state(engine: Engine, tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path), engine)
    with TestClient(app) as client:
        found = samples(client)
        assert [value(found, "bioqa_batches", state=state) for state in State] == [0] * 5
        identifier = client.post("/v1/bioasq/batches", json=TESTSET).json()["id"]
        while client.get(f"/v1/bioasq/batches/{identifier}").json()["state"] != "done":
            time.sleep(0.01)
        found = samples(client)
        counts = {state: value(found, "bioqa_batches", state=state) for state in State}
        assert counts == dict.fromkeys(State, 0) | {State.DONE: 1}
        assert value(found, "bioqa_batch_questions_waiting") == 0
        assert value(found, "bioqa_answers_total") == 3
        app.state.batches.tally = unavailable
        assert not [name for name, _ in samples(client) if name.startswith("bioqa_batch")]


def unavailable() -> None:
    raise BatchesUnavailable("the disk is full")


def test_applications_count_apart(engine: Engine) -> None:
    with (
        TestClient(create_app(Settings(), engine)) as one,
        TestClient(create_app(Settings(), engine)) as two,
    ):
        one.get("/nowhere")
        name = "bioqa_request_duration_seconds_count"
        assert value(samples(one), name, method="GET", route="other", status="404") == 1
        assert not [key for key in samples(two) if key[0] == name and dict(key[1])["route"] == "other"]
