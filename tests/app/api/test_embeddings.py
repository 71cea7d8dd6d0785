"""POST /v1/embeddings: vectors of texts, in the shape that OpenAI's clients know."""

import asyncio
import base64
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from bioqa.app.answers import vectors as vectors_module
from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.embedding import TOGETHER, Embeddings, EmbeddingTask, join
from bioqa.app.answers.engine import LOADING_S, Engine, LocalEngine, RankingProcesses, RankingTask
from bioqa.app.answers.refusals import EncoderUnavailable, QueueFull, RankingFailed
from bioqa.app.answers.service import Service
from bioqa.app.answers.vectors import Vectors, vectors_in
from bioqa.app.answers.workers import NoWorker, TaskLimits, WorkerLost
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Question
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.models import bundled
from bioqa.models.encoders.vectors import VectorEncoder
from tests.app.answers.meaning import ENCODER, WIDTH, Concepts, indexed, with_vectors
from tests.app.conftest import document
from tests.app.engines import local, no_logs
from tests.app.rankers import LexicalRanker
from tests.app.requests import fields, is_problem

TEXTS = ["Metformin lowers glucose.", "Warfarin thins the blood.", "Is metformin better?"]


@pytest.fixture(scope="module")
def bundled_encoder() -> VectorEncoder:
    return VectorEncoder.load(bundled.vector_encoder("meaning"), device="cpu")


@pytest.fixture
def index(tmp_path: Path) -> Iterator[TantivyIndex]:
    with indexed(tmp_path / "index", [document(1, "Heart attack.", "It is cardiac.")]) as opened:
        yield opened


@pytest.fixture
def concepts(index: TantivyIndex, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """A service whose index has vectors of a toy encoder."""
    vectors = with_vectors(index)
    monkeypatch.setattr(vectors_module, "vectors_in", lambda folder: vectors)
    return over(index)


def over(index: TantivyIndex) -> TestClient:
    settings = Settings(index=str(index.beside))
    return TestClient(create_app(settings, local(Answerer(index, LexicalRanker()))))


def embed(client: TestClient, **request: Any) -> dict[str, Any]:
    response = client.post("/v1/embeddings", json={"input": TEXTS} | request)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def rows(answer: dict[str, Any]) -> Any:
    return np.array([item["embedding"] for item in answer["data"]], dtype=np.float32)


def test_the_answer_has_the_shape_that_clients_know(concepts: TestClient) -> None:
    answer = embed(concepts, input=["heart attack", "cardiac infarction"], model="concepts", user="me")
    assert set(answer) == {"object", "data", "model", "usage", "hash"}
    assert (answer["object"], answer["model"], answer["hash"]) == ("list", "concepts", ENCODER.hash)
    assert answer["usage"] == {"prompt_tokens": 4, "total_tokens": 4}
    assert [(item["object"], item["index"]) for item in answer["data"]] == [
        ("embedding", 0),
        ("embedding", 1),
    ]
    np.testing.assert_array_equal(*rows(answer))  # to this encoder they are the same
    np.testing.assert_array_equal(rows(answer)[0], ENCODER.questions(["heart attack"])[0])


def test_base64_is_of_numbers_in_single_precision(concepts: TestClient) -> None:
    answer = embed(concepts, encoding_format="base64")
    read = [np.frombuffer(base64.b64decode(item["embedding"]), dtype="<f4") for item in answer["data"]]
    np.testing.assert_array_equal(np.stack(read), rows(embed(concepts, encoding_format="float")))


def test_one_text_needs_no_list(concepts: TestClient) -> None:
    assert embed(concepts, input=TEXTS[1])["data"] == embed(concepts, input=[TEXTS[1]])["data"]


def test_without_vectors_the_bundled_encoder_answers(
    client: TestClient, bundled_encoder: VectorEncoder
) -> None:
    answer = embed(client)
    assert (answer["model"], answer["hash"]) == ("meaning", bundled_encoder.hash)
    cosines = (rows(answer) * bundled_encoder.questions(TEXTS)).sum(axis=1)
    np.testing.assert_allclose(cosines, 1, atol=1e-3)


def test_an_index_without_vectors_has_the_bundled_encoder(index: TantivyIndex) -> None:
    assert embed(over(index))["model"] == "meaning"


def test_questions_and_documents_are_read_as_the_encoder_wants_them(
    index: TantivyIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Prefixed(Concepts):
        def encode(self, texts: Sequence[str], *, as_questions: bool) -> Any:
            prefix = "query" if as_questions else "passage"
            return super().encode([f"{prefix} {text}" for text in texts], as_questions=as_questions)

    with_vectors(index)
    vectors = Vectors(index.beside, lambda record: Prefixed())
    monkeypatch.setattr(vectors_module, "vectors_in", lambda folder: vectors)
    client = over(index)
    questions, documents = embed(client, input_type="query"), embed(client, input_type="document")
    np.testing.assert_array_equal(rows(questions), ENCODER.questions([f"query {text}" for text in TEXTS]))
    np.testing.assert_array_equal(rows(documents), ENCODER.questions([f"passage {text}" for text in TEXTS]))
    assert embed(client)["data"] == documents["data"]


def test_models_of_others_are_answered_and_other_names_refused(concepts: TestClient) -> None:
    answer = embed(concepts, model="text-embedding-3-small")
    assert answer["model"] == "concepts"
    assert answer["warnings"] == ["there is no text-embedding-3-small here: encoded by concepts"]
    for name in ("meaning", "", "text-embedding-", "Text-embedding-3-small"):
        response = concepts.post("/v1/embeddings", json={"input": TEXTS, "model": name})
        assert is_problem(response, 404)["detail"] == ("model must be concepts, the encoder of this service")


def test_a_folders_place_is_not_told(index: TantivyIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    class InFolder(Concepts):
        name = "/home/anna/models/medcpt"

    with_vectors(index)
    vectors = Vectors(index.beside, lambda record: InFolder())
    monkeypatch.setattr(vectors_module, "vectors_in", lambda folder: vectors)
    assert embed(over(index), model="medcpt")["model"] == "medcpt"


def test_dimensions_are_those_of_the_encoder(concepts: TestClient) -> None:
    assert len(embed(concepts, dimensions=WIDTH)["data"][0]["embedding"]) == WIDTH
    response = concepts.post("/v1/embeddings", json={"input": TEXTS, "dimensions": WIDTH // 2})
    assert is_problem(response, 422)["errors"] == [
        {
            "field": "dimensions",
            "message": f"must be {WIDTH} or absent: vectors of concepts cannot be shortened",
        }
    ]


def test_what_was_cut_is_said(concepts: TestClient) -> None:
    long = "word " * 20_000
    answer = embed(concepts, input=["short", long, "short", *[long] * 6])
    assert answer["warnings"] == ["only the beginning was read of the texts 1, 3, 4, 5, 6 and 2 more"]
    assert "warnings" not in embed(concepts)


def test_many_texts_have_the_vectors_of_few(concepts: TestClient) -> None:
    texts = [f"text {number}" for number in range(3 * TOGETHER)]
    answer = embed(concepts, input=texts)
    assert [item["index"] for item in answer["data"]] == list(range(len(texts)))
    np.testing.assert_array_equal(rows(answer), ENCODER.questions(texts))
    assert answer["usage"]["total_tokens"] == 2 * len(texts)


@pytest.mark.parametrize(
    ("request_fields", "field"),
    [
        ({"input": ""}, "input[0]"),
        ({"input": ["a", " \n"]}, "input[1]"),
        ({"input": []}, "input"),
        ({"input": None}, "input"),
        ({"input": ["a"] * 1001}, "input"),
        ({"input": [15496, 995]}, "input[0]"),
        ({"input": [[15496, 995]]}, "input[0]"),
        ({"input": ["a", 1.5]}, "input[1]"),
        ({"input": {"text": "a"}}, "input"),
        ({"encoding_format": "int8"}, "encoding_format"),
        ({"dimensions": 0}, "dimensions"),
        ({"dimensions": "64"}, "dimensions"),
        ({"input_type": "passage"}, "input_type"),
        ({"inputtype": "query"}, "inputtype"),
    ],
)
def test_what_is_wrong_is_named(client: TestClient, request_fields: dict[str, Any], field: str) -> None:
    response = client.post("/v1/embeddings", json={"input": TEXTS} | request_fields)
    assert field in fields(is_problem(response, 422))


@pytest.mark.parametrize("long", [False, True])
def test_half_a_character_is_named(client: TestClient, long: bool) -> None:
    content = json.dumps({"input": ["a", "\ud83d", "x" * 10_000 if long else "x"]}).encode()
    response = client.post("/v1/embeddings", content=content, headers={"Content-Type": "application/json"})
    problem = is_problem(response, 422)
    assert fields(problem) == ["input[1]"]
    assert "half a character" in problem["detail"]


def test_too_much_text_is_refused(engine: Engine) -> None:
    client = TestClient(create_app(Settings(max_rerank_characters=10), engine))
    response = client.post("/v1/embeddings", json={"input": ["123456", "12345"]})
    assert is_problem(response, 422)["errors"] == [
        {"field": "input", "message": "must have at most 10 characters in total, not 11"}
    ]


def test_another_encoder_never_answers_for_one_that_is_gone(
    index: TantivyIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_vectors(index)  # of an encoder that no folder and no package holds
    vectors_in.cache_clear()
    response = over(index).post("/v1/embeddings", json={"input": TEXTS})
    assert "cannot be used" in is_problem(response, 503)["detail"]
    assert response.headers["retry-after"]


def test_a_damaged_file_is_told(index: TantivyIndex, caplog: pytest.LogCaptureFixture) -> None:
    with_vectors(index)
    (path,) = index.beside.glob("vectors-*.bin")
    path.write_bytes(b"something else")
    vectors_in.cache_clear()
    response = over(index).post("/v1/embeddings", json={"input": TEXTS})
    assert "cannot be used; see the service's log" in is_problem(response, 503)["detail"]
    assert "no vectors that this bioqa can read" in caplog.text


def test_an_index_that_is_not_there_is_told(tmp_path: Path) -> None:
    with TestClient(create_app(Settings(index=str(tmp_path / "none"), ranking_processes=0))) as client:
        is_problem(client.post("/v1/embeddings", json={"input": TEXTS}), 503)


def test_no_index_is_needed(client: TestClient, application: Any) -> None:
    assert application.state.service.settings.index is None
    assert embed(client, input="a")["model"] == "meaning"


def parts(*hashes: str) -> list[Embeddings]:
    return [Embeddings("a", each, np.zeros((2, 4), dtype=np.float32), 3, (1,)) for each in hashes]


def test_parts_are_put_together() -> None:
    whole = join(parts("x", "x", "x"))
    assert (whole.vectors.shape, whole.pieces, whole.cut) == ((6, 4), 9, (1, 3, 5))
    with pytest.raises(EncoderUnavailable, match="exchanged meanwhile"):
        join(parts("x", "y"))


class Noting(LocalEngine):
    """Notes what is to be encoded."""

    def __init__(self) -> None:
        super().__init__([LexicalRanker()], None)  # type: ignore[arg-type]
        self.tasks: list[EmbeddingTask] = []

    def embed(self, task: EmbeddingTask) -> Embeddings:
        self.tasks.append(task)
        return Embeddings("a", "x", np.zeros((len(task.texts), 4), dtype=np.float32), 3, ())


def test_a_large_request_is_several_tasks_between_which_questions_go() -> None:
    engine = Noting()
    service = Service(Settings(), engine)
    embeddings = asyncio.run(service.embed(["a"] * (2 * TOGETHER + 1), "query"))
    assert len(embeddings.vectors) == 2 * TOGETHER + 1
    assert [len(task.texts) for task in engine.tasks] == [TOGETHER, TOGETHER, 1]
    assert (service.counts.answers, service.counts.failed) == (0, 0)


def test_what_is_much_work() -> None:
    assert not EmbeddingTask(("a" * 100_000,), "query", None, True).is_dear
    assert EmbeddingTask(("a",) * TOGETHER, "query", None, True).is_dear


def test_a_full_queue_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(Settings(), Noting())
    monkeypatch.setattr(service.queue, "full", lambda *_: True)
    for count in (1, TOGETHER + 1):
        with pytest.raises(QueueFull):
            asyncio.run(service.embed(["a"] * count, "query"))
    assert service.counts.refused == 2


@pytest.mark.parametrize("error", [WorkerLost("ranking: a process was ended"), NoWorker("none")])
def test_where_no_process_encodes_the_client_may_retry(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = RankingProcesses(Settings(ranking_processes=1), no_logs)

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(engine._workers, "call", fail)
    with pytest.raises(RankingFailed):
        engine.embed(EmbeddingTask(("a",), "query", None, True))


def test_there_is_time_to_load_the_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = RankingProcesses(Settings(ranking_processes=1), no_logs)
    allowed: list[float | None] = []

    def note(*_: object, limits: TaskLimits, **__: object) -> None:
        allowed.append(limits.wall_s)

    monkeypatch.setattr(engine._workers, "call", note)
    engine.embed(EmbeddingTask(("a",), "query", None, True))
    engine.answer([RankingTask("soft", Question("", "b"))])
    with_loading, plain = allowed
    assert (with_loading or 0) >= (plain or 0) + LOADING_S
