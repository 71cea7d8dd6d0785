"""Large bodies: parsed and checked elsewhere, with bounds on time, memory and what is answered."""

import asyncio
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from bioqa.app.answers.engine import Engine
from bioqa.app.answers.opening import open_index
from bioqa.app.answers.reopening import ReopeningIndex
from bioqa.app.answers.workers import TooMuchWork
from bioqa.app.http.errors import MOST_PROBLEMS, BadBody, FieldError
from bioqa.app.http.parsers import SHORT_BYTES, Parsers, faults_of
from bioqa.app.http.schemas import TestSet
from bioqa.app.main import create_app
from bioqa.app.settings import Settings

MOST = {"questions": (3, "must be at most 3, not {found}")}


def spin() -> None:
    while True:
        pass


def hold() -> int:
    return len(bytearray(2_000_000_000))


def refuse() -> None:
    raise FieldError("body", "is wrong")


@pytest.fixture(scope="module", params=["threads", "processes"])
def client(request: pytest.FixtureRequest, engine: Engine, index_folder: Path) -> Iterator[TestClient]:
    processes = int(request.param == "processes")
    settings = Settings(max_batch_questions=5, ranking_processes=processes, index=str(index_folder))
    with TestClient(create_app(settings, engine), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture(scope="module")
def parsers() -> Iterator[Parsers]:
    settings = Settings(ranking_processes=1, max_request_cpu_s=0.5)
    parsers = Parsers(settings, [], ReopeningIndex(partial(open_index, settings)))
    parsers.open()
    yield parsers
    parsers.close()


def long(items: str, count: int, name: str = "questions") -> bytes:
    return f'{{"{name}": [{",".join([items] * count)}]}}'.encode()


def test_a_list_that_is_too_long_is_refused_unread(client: TestClient) -> None:
    body = long("1", 900_000)
    answer = client.post("/v1/bioasq", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["errors"] == [
        {
            "field": "questions",
            "message": "must be at most 5 here, not 900000; submit more at /v1/bioasq/batches",
        }
    ]


def test_texts_without_end_are_refused_unread(client: TestClient) -> None:
    body = b'{"query": "a", "documents": [' + b",".join([b"{}"] * 300_000) + b"]}"
    answer = client.post("/v1/rerank", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["errors"] == [
        {"field": "documents", "message": "must have at most 1000, not 300000"}
    ]


def test_of_many_errors_the_first_are_listed(client: TestClient) -> None:
    texts = [{"title": "x" * 20}] * 900
    answer = client.post("/v1/rerank", json={"query": "a", "documents": texts})
    assert answer.status_code == 422
    assert len(answer.json()["errors"]) == MOST_PROBLEMS
    assert answer.json()["errors"][0] == {"field": "documents[0].text", "message": "is missing"}
    assert f"only the first {MOST_PROBLEMS} errors are listed" in answer.json()["detail"]


@pytest.mark.parametrize("path", ["/v1/search", "/v1/bioasq", "/v1/rerank"])
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"[" * 500_000 + b"]" * 500_000, 400),
        (b'{"body": "' + b"\xff" * 50_000 + b'"}', 400),
        (b" " * 50_000 + b"{", 400),
        (b"[" + b"1" * 50_000 + b"]", 400),
    ],
    ids=["deep", "no UTF-8", "no end", "a huge number"],
)
def test_what_cannot_be_parsed_is_refused(client: TestClient, path: str, body: bytes, status: int) -> None:
    answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == status
    assert len(answer.content) < 1000


def test_a_long_body_that_is_right_is_answered(client: TestClient) -> None:
    texts = [f"Metformin in cohort {n}. " + "No harm was seen. " * 20 for n in range(100)]
    answer = client.post("/v1/rerank", json={"query": "metformin", "documents": texts})
    assert len(json.dumps(texts)) > SHORT_BYTES
    assert answer.status_code == 200
    assert len(answer.json()["results"]) == 100


def test_one_id_is_not_repeated_in_full_in_every_fault(client: TestClient) -> None:
    entry = {"id": "x" * 900_000, "documents": ["wrong"] * 20_000, "y" * 100_000: 1}
    entry["snippets"] = [{"z" * 100_000: 1}]
    answer = client.post("/v1/bioasq/validate", json={"submission": {"questions": [entry]}})
    assert answer.status_code == 200
    assert len(answer.json()["faults"]) == 1000
    assert answer.json()["more"]
    assert len(answer.content) < 500_000


def test_missing_ids_are_shortened_counted_and_bounded(client: TestClient) -> None:
    documents = ["http://www.ncbi.nlm.nih.gov/pubmed/1"]
    ours = [{"id": "answered", "documents": documents}]
    golden = [
        {"id": each, "type": "list", "body": "b", "documents": documents}
        for each in ("answered", *(f"{n}" + "x" * 500 for n in range(1200)))
    ]
    given = {"submission": {"questions": ours}, "golden": {"questions": golden}, "editions": [5, 8]}
    for measures in client.post("/v1/bioasq/evaluate", json=given).json()["measures"]:
        assert measures["missing_questions"] == 1200
        assert len(measures["missing"]) == 1000
        assert max(map(len, measures["missing"])) == 200


def test_what_takes_too_long_or_too_much_is_ended(parsers: Parsers) -> None:
    with pytest.raises(TooMuchWork, match="processor time"):
        asyncio.run(parsers.run(spin))
    with pytest.raises(TooMuchWork, match="memory"):
        asyncio.run(parsers.run(hold))


def test_errors_keep_their_kind_on_the_way_from_another_process(parsers: Parsers) -> None:
    with pytest.raises(FieldError, match="body: is wrong") as caught:
        asyncio.run(parsers.run(refuse))
    assert caught.value.problem.field == "body"
    with pytest.raises(BadBody, match="not JSON: Expecting value at character 0"):
        asyncio.run(parsers.run(faults_of, b"x", TestSet, {}))


@pytest.mark.parametrize(
    ("data", "fields"),
    [
        ({"questions": [{"id": "a", "body": "b"}]}, []),
        ({"questions": [{"id": "a"}, {"body": " "}]}, [(0, "body"), (1, "id"), (1, "body")]),
        ({"questions": {}}, [()]),
    ],
)
def test_faults_are_those_that_pydantic_finds(data: Any, fields: list[tuple[Any, ...]]) -> None:
    found = faults_of(json.dumps(data).encode(), TestSet, MOST)
    assert [fault["loc"] for fault in found] == [("body", "questions", *field) for field in fields]


def test_a_list_is_counted_before_it_is_looked_at() -> None:
    with pytest.raises(FieldError, match="questions: must be at most 3, not 4"):
        faults_of(long("1", 4), TestSet, MOST)


def test_a_request_that_takes_too_much_is_refused_by_name(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = Settings(ranking_processes=1, max_request_cpu_s=0.05, data_dir=tmp_path)
    with TestClient(create_app(settings, engine)) as client:
        body: dict[str, Any] = {"submission": {"questions": [[]] * 2_000_000}}
        answer = client.post("/v1/bioasq/validate", json=body)
    assert answer.status_code == 422
    assert "more processor time than one request may use" in answer.json()["detail"]
