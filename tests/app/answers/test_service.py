"""What goes wrong in the service itself, and that waiting for a model holds up nothing else."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from bioqa.app.answers.answer import Answer
from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.question import Options
from bioqa.app.answers.refusals import Draining, QueueFull, TimedOut
from bioqa.app.answers.service import Service, UnknownRanker
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Candidate, Question
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.filtering.filters import NO_FILTERS, Filters
from bioqa.indexer.search.questions.reading import Reading
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.indexer.search.wording import Wording
from bioqa.models.answers.ranking import Ranking
from bioqa.system.errors import BioqaError
from tests.app.answers.rankers import Broken, Gate, until
from tests.app.answers.test_answering import AwayIndex
from tests.app.engines import local, over
from tests.app.rankers import LexicalRanker
from tests.app.readings import as_asked
from tests.app.requests import BODY, TESTSET, is_problem


def test_without_an_index_questions_get_503_until_there_is_one(tmp_path: Path, index_folder: Path) -> None:
    folder = tmp_path / "later"

    def open_index() -> SearchIndex:
        return TantivyIndex.open(folder)

    app = create_app(Settings(), over(open_index))
    with TestClient(app, raise_server_exceptions=False) as client:
        for response in (
            client.post("/v1/search", json={"body": BODY}),
            client.post("/v1/bioasq", json=TESTSET),
            client.get("/v1/documents/90000001"),
        ):
            is_problem(response, 503)
            assert int(response.headers["retry-after"]) > 0
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["ready"]) == (503, False)
        assert "missing" in ready.json()["reasons"][0]
        assert str(tmp_path) not in ready.text
        assert client.get("/info").json()["index"] is None
        assert client.get("/healthz").status_code == 200
        with TantivyIndex.create(folder) as index:
            index.commit()
        assert client.get("/readyz").json()["reasons"] == ["the search index holds no documents"]
        folder.rename(tmp_path / "empty")
        is_problem(client.post("/v1/search", json={"body": BODY}), 503)
        folder.symlink_to(index_folder)
        assert client.get("/readyz").json() == {"ready": True, "reasons": []}
        assert client.post("/v1/search", json={"body": BODY}).json()["documents"]


def test_a_fault_of_ours_is_a_problem_that_tells_no_secret() -> None:
    broken = Answerer(AwayIndex(RuntimeError(f"secret of {__file__}")), LexicalRanker())  # type: ignore[arg-type]
    app = create_app(Settings(), local(broken))
    with TestClient(app, raise_server_exceptions=False) as client:
        response = client.post("/v1/search", json={"body": BODY})
        assert "secret" not in is_problem(response, 500)["detail"]
    assert app.state.service.counts.failed == 1


class SlowRanker(LexicalRanker):
    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        self.begun.set()
        assert self.go_on.wait(30)
        return super().rank(question, candidates)


def test_health_and_documents_answer_at_once_while_a_model_works(answerer: Answerer) -> None:
    ranker = SlowRanker()
    app = create_app(Settings(), local(Answerer(answerer.index, ranker)))
    with TestClient(app) as client:
        asking = threading.Thread(target=client.post, args=("/v1/search",), kwargs={"json": {"body": BODY}})
        asking.start()
        try:
            assert ranker.begun.wait(30)
            assert client.get("/healthz").status_code == 200
            assert client.get("/readyz").status_code == 200
            assert client.get("/v1/documents/90000001").status_code == 200
            # The model waits for the end of this test, and its question with it.
            assert asking.is_alive()
        finally:
            ranker.go_on.set()
            asking.join(30)


class StumblingIndex(AwayIndex):
    """Fails at one question, once the others have been searched for; finds nothing for them."""

    def __init__(self, others: int) -> None:
        super().__init__(RuntimeError("secret"))
        self.searched = threading.Barrier(others + 1, timeout=30)
        self.have_met = False

    def read(self, question: str) -> Reading:
        return as_asked(question)

    def search(
        self, question: str | Wording, size: int = 100, filters: Filters = NO_FILTERS
    ) -> list[Candidate]:
        if not self.have_met:
            self.searched.wait()
        self.have_met = True
        if question == as_asked("bad").wording:
            raise RuntimeError("secret")
        return []


def test_questions_given_up_because_another_failed_count_as_failed_not_as_dropped() -> None:
    index = StumblingIndex(others=7)
    ranker = SlowRanker()
    service = Service(Settings(), local(Answerer(index, ranker), threads=8))  # type: ignore[arg-type]
    questions = [Question(str(n), "bad" if n == 0 else "good") for n in range(20)]
    with pytest.raises(RuntimeError, match="secret"):
        asyncio.run(service.answer_all(questions, Options()))
    ranker.go_on.set()
    service.close()
    assert (service.counts.failed, service.counts.dropped) == (16, 0)
    assert service.queue.waiting == 0


def test_questions_of_a_test_set_whose_client_goes_away_are_dropped() -> None:
    ranker = SlowRanker()
    index = StumblingIndex(others=0)
    service = Service(Settings(), local(Answerer(index, ranker)))  # type: ignore[arg-type]

    async def leave() -> None:
        asking = asyncio.create_task(service.answer_all([Question("a", "a"), Question("b", "b")], Options()))
        while not ranker.begun.is_set():
            await asyncio.sleep(0.002)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(leave())
    ranker.go_on.set()
    service.close()
    assert (service.counts.dropped, service.counts.failed) == (2, 0)


def test_questions_of_a_test_set_refused_at_the_end_count_as_refused() -> None:
    ranker = SlowRanker()
    index = StumblingIndex(others=0)
    service = Service(Settings(), local(Answerer(index, ranker)))  # type: ignore[arg-type]

    async def end() -> None:
        asking = asyncio.create_task(service.answer_all([Question("a", "a"), Question("b", "b")], Options()))
        while not (ranker.begun.is_set() and service.queue._queues["batch"]):
            await asyncio.sleep(0.002)
        service.drain()
        service.refuse_waiting()
        ranker.go_on.set()
        with pytest.raises(Draining):
            await asking

    asyncio.run(end())
    service.close()
    counts = service.counts  # whichever of the two was being ranked, and whichever is waited for first
    assert (counts.answers + counts.refused, counts.dropped) == (2, 0)
    assert counts.refused


QUESTION = Question("q", BODY)


OPTIONS = Options()


def service_of(answerer: Answerer, *rankers: LexicalRanker, together: int = 1, **settings: Any) -> Service:
    return Service(Settings(**settings), over(lambda: answerer.index, *rankers, together=together))


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


def test_a_full_line_refuses_and_empties(answerer: Answerer) -> None:
    gate = Gate()
    app = create_app(Settings(queue_capacity=2), local(Answerer(answerer.index, gate)))
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
    app = create_app(Settings(), local(Answerer(answerer.index, gate)))
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
    app = create_app(Settings(), local(answerer, Broken()))
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


def test_without_leave_to_degrade_a_failing_ranker_is_a_503(answerer: Answerer) -> None:
    app = create_app(Settings(), local(Answerer(answerer.index, Broken()), allow_degraded=False))
    with TestClient(app) as client:
        response = client.post("/v1/search", json={"body": BODY})
        assert "secret" not in is_problem(response, 503)["detail"]
        assert response.headers["retry-after"] == "5"
    assert app.state.service.counts.failed == 1


def test_draining_answers_what_was_asked_and_nothing_new(answerer: Answerer) -> None:
    gate = Gate()
    app = create_app(Settings(), local(Answerer(answerer.index, gate)))
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
    service = service_of(answerer, together, together=3)
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

    def read(self, question: str) -> Reading:
        return as_asked(question)

    def search(
        self, question: str | Wording, size: int = 100, filters: Filters = NO_FILTERS
    ) -> list[Candidate]:
        assert self.go_on.wait(30)
        return []


def test_who_waits_for_a_slow_index_waits_no_longer_than_the_time_allowed() -> None:
    index = SlowIndex()
    app = create_app(Settings(), local(Answerer(index, LexicalRanker())))  # type: ignore[arg-type]
    service: Service = app.state.service
    asked = {"body": BODY, "timeout_ms": 100}
    with asking(app) as (client, threads):
        searching = threads.submit(client.post, "/v1/search", json=asked)
        until(lambda: service.queue.running)
        late = client.post("/v1/search", json=asked)
        assert "time for this question" in is_problem(late, 503)["detail"]
        assert client.get("/healthz").status_code == 200
        assert service.queue.waiting == 0
        index.go_on.set()
        assert searching.result(30).json()["documents"] == []
    assert (service.counts.timed_out, service.counts.answers) == (1, 1)
