"""Several rankers by name, a line that is full, questions that come too late, rankers that fail, the end."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from bioqa.app.answers.answering import Answer, Answerer, SearchOptions
from bioqa.app.answers.refusals import Draining, QueueFull, TimedOut
from bioqa.app.answers.service import Service, UnknownRanker
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Candidate, Question
from bioqa.bioasq.errors import BioqaError
from bioqa.models.answers.ranking import Ranking
from tests.app.answers.test_answering import AwayIndex
from tests.app.conftest import LexicalRanker
from tests.app.requests import BODY, TESTSET, fields, is_problem

QUESTION = Question("q", BODY)
OPTIONS = SearchOptions()


class Backwards(LexicalRanker):
    """BM25's order turned round."""

    name = "backwards"

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        turned = [Candidate(c.document, -c.score) for c in reversed(candidates)]
        return super().rank(question, turned)


class Gate(LexicalRanker):
    """Ranks when it is told to, and keeps the order of what it ranked."""

    def __init__(self, name: str = "gate") -> None:
        self.name = name
        self.open = threading.Event()
        self.begun = threading.Semaphore(0)
        self.ranked: list[str] = []

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        self.ranked.append(question)
        self.begun.release()
        assert self.open.wait(30)
        return super().rank(question, candidates)

    def wait_until_ranking(self) -> None:
        assert self.begun.acquire(timeout=30)


class Broken(LexicalRanker):
    name = "broken"

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        raise RuntimeError(f"secret of {__file__}")


def service_of(answerer: Answerer, *rankers: LexicalRanker, **settings: Any) -> Service:
    return Service(Settings(**settings), rankers, lambda: answerer.index)


def test_rankers_are_chosen_by_name(answerer: Answerer) -> None:
    app = create_app(Settings(), answerer, [Backwards()])
    with TestClient(app) as client:

        def pmids(**asked: str) -> list[str]:
            response = client.post("/v1/search", json={"body": "adults", "max_documents": 41, **asked})
            assert response.json()["ranker"] == asked.get("ranker", "lexical")
            return [d["pmid"] for d in response.json()["documents"]]

        assert pmids() == pmids(ranker="lexical") == pmids(ranker="backwards")[::-1]
        problem = is_problem(client.post("/v1/search", json={"body": BODY, "ranker": "none"}), 422)
        assert fields(problem) == ["ranker"]
        assert "lexical, backwards" in problem["detail"]
        models = client.get("/v1/models").json()["models"]
        assert [(m["name"], m["default"]) for m in models] == [("lexical", True), ("backwards", False)]
        assert [r["name"] for r in client.get("/info").json()["rankers"]] == ["lexical", "backwards"]
        ranker = client.get("/openapi.json").json()["components"]["schemas"]["SearchRequest"]["properties"]
        assert ranker["ranker"]["anyOf"][0]["enum"] == ["lexical", "backwards"]


def test_two_rankers_of_one_name_are_refused(answerer: Answerer) -> None:
    with pytest.raises(BioqaError, match="lexical, lexical"):
        service_of(answerer, LexicalRanker(), LexicalRanker())


def test_a_ranker_that_is_not_there(answerer: Answerer) -> None:
    with pytest.raises(UnknownRanker, match="loaded: lexical"):
        asyncio.run(service_of(answerer, LexicalRanker()).answer(QUESTION, OPTIONS, ranker="x"))


@contextmanager
def asking(app: FastAPI) -> Iterator[tuple[TestClient, ThreadPoolExecutor]]:
    with TestClient(app, raise_server_exceptions=False) as client, ThreadPoolExecutor(8) as threads:
        yield client, threads


def until(condition: Any) -> None:
    """Waits for what another thread is about to do."""
    for _ in range(3000):
        if condition():
            return
        threading.Event().wait(0.005)
    pytest.fail("it did not come about")


def test_a_full_line_refuses_and_empties(answerer: Answerer) -> None:
    gate = Gate()
    app = create_app(Settings(queue_capacity=2), Answerer(answerer.index, gate))
    service: Service = app.state.service
    with asking(app) as (client, threads):

        def ask(**asked: object) -> httpx2.Response:
            return client.post("/v1/search", json={"body": BODY, **asked})

        first = threads.submit(ask)
        gate.wait_until_ranking()
        others = [threads.submit(ask) for _ in range(2)]
        until(lambda: service.queue.waiting == 2)
        assert (service.queue.running, service.queue.capacity) == (1, 2)
        for response in (ask(), ask()):
            problem = is_problem(response, 429)
            assert int(response.headers["retry-after"]) >= 1
            assert "2 questions are waiting" in problem["detail"]
        # Questions of test sets wait apart, and nothing else is held up.
        testset = threads.submit(lambda: client.post("/v1/bioasq", json=TESTSET))
        until(lambda: service.queue.waiting > 2)
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").status_code == 200
        gate.open.set()
        assert [f.result(30).status_code for f in (first, *others, testset)] == [200] * 4
        assert ask().status_code == 200
    assert (service.counts.answers, service.counts.refused) == (7, 2)
    assert service.queue.waiting == service.queue.running == 0


def test_a_question_that_waited_too_long_is_refused_and_not_ranked(answerer: Answerer) -> None:
    gate = Gate()
    app = create_app(Settings(), Answerer(answerer.index, gate))
    service: Service = app.state.service
    with asking(app) as (client, threads):
        # Its time is over too, but its ranking has begun.
        first = threads.submit(client.post, "/v1/search", json={"body": BODY, "timeout_ms": 1000})
        gate.wait_until_ranking()
        late = client.post("/v1/search", json={"body": "statin", "timeout_ms": 100})
        problem = is_problem(late, 503)
        assert "time for this question" in problem["detail"]
        assert int(late.headers["retry-after"]) >= 1
        gate.open.set()
        assert first.result(30).status_code == 200
    assert gate.ranked == [BODY]
    assert (service.counts.timed_out, service.counts.answers) == (1, 1)


@pytest.mark.parametrize("asked_s", [None, 60])
def test_the_settings_limit_holds_for_all(answerer: Answerer, asked_s: float | None) -> None:
    gate = Gate()
    service = service_of(answerer, gate, request_timeout_s=0.05)

    async def ask() -> None:
        first = asyncio.create_task(service.answer(QUESTION, OPTIONS, priority="batch"))
        while not gate.ranked:
            await asyncio.sleep(0.002)
        with pytest.raises(TimedOut):
            await service.answer(QUESTION, OPTIONS, timeout_s=asked_s)
        gate.open.set()
        assert (await first).documents

    asyncio.run(ask())


def test_interactive_questions_go_first_but_not_for_ever(answerer: Answerer) -> None:
    gate = Gate()
    service = service_of(answerer, gate)

    async def ask() -> None:
        async def one(body: str, priority: Any) -> Answer:
            return await service.answer(Question("q", body), OPTIONS, priority=priority)

        tasks = [asyncio.create_task(one("first", "interactive"))]
        while not gate.ranked:
            await asyncio.sleep(0.002)
        for n in range(2):
            tasks.append(asyncio.create_task(one(f"batch {n}", "batch")))
        for n in range(10):
            tasks.append(asyncio.create_task(one(f"asked {n}", "interactive")))
            while sum(map(len, service.queue._queues.values())) < n + 1:
                await asyncio.sleep(0.002)
        while sum(map(len, service.queue._queues.values())) < 12:
            await asyncio.sleep(0.002)
        gate.open.set()
        await asyncio.gather(*tasks)

    asyncio.run(ask())
    kinds = [body.split()[0] for body in gate.ranked]
    assert kinds == ["first", *["asked"] * 8, "batch", *["asked"] * 2, "batch"]


def test_whoever_goes_away_is_dropped(answerer: Answerer) -> None:
    gate = Gate()
    service = service_of(answerer, gate)

    async def ask() -> None:
        first = asyncio.create_task(service.answer(QUESTION, OPTIONS))
        while not gate.ranked:
            await asyncio.sleep(0.002)
        second = asyncio.create_task(service.answer(Question("q", "statin"), OPTIONS))
        while not service.queue._queues["interactive"]:
            await asyncio.sleep(0.002)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        assert service.queue.waiting == 0
        gate.open.set()
        await first

    asyncio.run(ask())
    service.close()
    assert gate.ranked == [BODY]
    assert service.counts.dropped == 1


def test_a_failing_ranker_leaves_bm25_marked_as_degraded(
    answerer: Answerer, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[Answer] = []
    app = create_app(Settings(), answerer, [Broken()])
    app.state.service.observers.append(seen.append)
    with TestClient(app) as client:
        asked = {"body": BODY, "max_documents": 41}
        good = client.post("/v1/search", json=asked).json()
        assert (good["degraded"], good["degraded_reason"]) == (False, None)
        bad = client.post("/v1/search", json={**asked, "ranker": "broken"}).json()
    assert bad["degraded"] is True
    assert "broken failed" in bad["degraded_reason"]
    assert "secret" not in str(bad)
    # The test's ranker keeps BM25's order.
    assert [d["pmid"] for d in bad["documents"]] == [d["pmid"] for d in good["documents"]]
    assert "metformin" in bad["snippets"][0]["text"]
    assert [answer.degraded is None for answer in seen] == [True, False]
    counts = app.state.service.counts
    assert (counts.answers, counts.degraded) == (2, 1)
    logged = [record for record in caplog.records if record.exc_info]
    assert len(logged) == 1


def test_degraded_answers_of_a_test_set_are_counted_in_a_header(answerer: Answerer) -> None:
    with TestClient(create_app(Settings(), Answerer(answerer.index, Broken()))) as client:
        response = client.post("/v1/bioasq", json=TESTSET)
        assert response.status_code == 200
        assert response.headers["bioqa-degraded-answers"] == "3"


def test_without_leave_to_degrade_a_failing_ranker_is_a_503(answerer: Answerer) -> None:
    app = create_app(Settings(allow_degraded=False), Answerer(answerer.index, Broken()))
    with TestClient(app) as client:
        response = client.post("/v1/search", json={"body": BODY})
        assert "secret" not in is_problem(response, 503)["detail"]
        assert response.headers["retry-after"] == "5"
    assert app.state.service.counts.failed == 1


def test_draining_answers_what_was_asked_and_nothing_new(answerer: Answerer) -> None:
    gate = Gate()
    app = create_app(Settings(), Answerer(answerer.index, gate))
    service: Service = app.state.service
    with asking(app) as (client, threads):
        asked = [
            threads.submit(client.post, "/v1/search", json={"body": BODY}),
            threads.submit(client.post, "/v1/bioasq", json=TESTSET),
        ]
        gate.wait_until_ranking()
        until(lambda: service._requests == 2)
        service.drain()
        refused = client.post("/v1/search", json={"body": BODY})
        assert "about to end" in is_problem(refused, 503)["detail"]
        ready = client.get("/readyz")
        assert ready.status_code == 503
        assert "draining" in ready.json()["reasons"][0]
        assert not service.drained
        gate.open.set()
        assert [future.result(30).status_code for future in asked] == [200, 200]
        until(lambda: service.drained)
    assert service.counts.answers == 4


def test_when_the_time_for_draining_is_over_what_waits_is_refused(answerer: Answerer) -> None:
    gate = Gate()
    service = service_of(answerer, gate)

    async def ask() -> tuple[Answer | BaseException, Answer | BaseException]:
        first = asyncio.create_task(service.answer(QUESTION, OPTIONS))
        while not gate.ranked:
            await asyncio.sleep(0.002)
        second = asyncio.create_task(service.answer(QUESTION, OPTIONS))
        while not service.queue._queues["interactive"]:
            await asyncio.sleep(0.002)
        service.drain()
        service.refuse_waiting()
        gate.open.set()
        return await asyncio.gather(first, second, return_exceptions=True)

    first, second = asyncio.run(ask())
    assert isinstance(first, Answer)
    assert isinstance(second, Draining)
    assert gate.ranked == [BODY]


def test_a_test_set_is_taken_on_whole_or_refused(answerer: Answerer) -> None:
    gate = Gate()
    service = service_of(answerer, gate, queue_capacity=1)

    async def ask() -> None:
        questions = [Question(str(n), f"statin {n}") for n in range(5)]
        first = asyncio.create_task(service.answer_all(questions, OPTIONS))
        while not gate.ranked:
            await asyncio.sleep(0.002)
        while not service.queue.full("batch"):
            await asyncio.sleep(0.002)
        with pytest.raises(QueueFull):
            await service.answer_all(questions, OPTIONS)
        gate.open.set()
        assert [answer.question for answer in await first] == questions

    asyncio.run(ask())


class Together(Gate):
    """Keeps which questions it was given together, and fails when one of them is bad."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[str]] = []

    def rank_many(self, items: Sequence[tuple[str, Sequence[Candidate]]]) -> list[Ranking]:
        self.batches.append([question for question, _ in items])
        return super().rank_many(items)

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        if "bad" in question:
            raise RuntimeError("bad")
        return super().rank(question, candidates)


def test_questions_that_wait_are_ranked_together_and_a_bad_one_harms_itself_alone(
    answerer: Answerer,
) -> None:
    together = Together()
    service = service_of(answerer, together, batch_questions=3)
    bodies = ["statin", "bad aspirin", "metformin", "heparin"]

    async def ask() -> list[Answer]:
        tasks = [asyncio.create_task(service.answer(QUESTION, OPTIONS))]
        while not together.ranked:
            await asyncio.sleep(0.002)
        for n, body in enumerate(bodies, start=1):
            tasks.append(asyncio.create_task(service.answer(Question("q", body), OPTIONS)))
            while len(service.queue._queues["interactive"]) < n:
                await asyncio.sleep(0.002)
        together.open.set()
        return await asyncio.gather(*tasks)

    answers = asyncio.run(ask())
    service.close()
    assert together.batches == [bodies[:3]]
    assert service.queue.batch_sizes == {1: 2, 3: 1}
    assert [answer.degraded is not None for answer in answers] == [False, False, True, False, False]
    for answer, body in zip(answers[1:], bodies, strict=True):
        alone = answerer.answer(Question("q", body))
        assert [d.document for d in answer.documents] == [d.document for d in alone.documents]
        assert answer.timings_ms.wait > 0


class SlowIndex(AwayIndex):
    """Searches until it is told to stop."""

    def __init__(self) -> None:
        super().__init__(OSError("away"))
        self.go_on = threading.Event()

    def search(self, question: str, size: int = 100, published_before: date | None = None) -> list[Candidate]:
        assert self.go_on.wait(30)
        return []


def test_a_slow_index_costs_no_more_than_the_time_allowed() -> None:
    index = SlowIndex()
    app = create_app(Settings(retrieval_threads=1), Answerer(index, LexicalRanker()))  # type: ignore[arg-type]
    service: Service = app.state.service
    with TestClient(app) as client:
        for _ in range(2):  # searching, and waiting to search
            late = client.post("/v1/search", json={"body": BODY, "timeout_ms": 100})
            assert "time for this question" in is_problem(late, 503)["detail"]
        assert client.get("/healthz").status_code == 200
        assert service.queue.waiting == 0
        index.go_on.set()
        assert client.post("/v1/search", json={"body": BODY}).json()["documents"] == []
    assert (service.counts.timed_out, service.counts.answers) == (2, 1)


def test_a_time_limit_that_is_none_is_refused(client: TestClient) -> None:
    for asked in (99, 0, -1, 3_600_001, "500", 1.5):
        problem = is_problem(client.post("/v1/search", json={"body": BODY, "timeout_ms": asked}), 422)
        assert fields(problem) == ["timeout_ms"]
