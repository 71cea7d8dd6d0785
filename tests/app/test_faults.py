"""What fails around the service and comes back: nothing is lost, and nobody is told anything but to wait.

Of an Elasticsearch that dies there is tests/app/test_faults_elastic.py; of clients that hang up and of
draining, tests/app/api/test_connection.py and tests/app/http/test_server.py; of a full queue and of late
questions, tests/app/answers/test_service.py.
"""

import math
import random
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import httpx2
import pytest
from fastapi.testclient import TestClient

from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.service import Service
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Candidate, Question
from bioqa.bioasq.files import submission_dict
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.filtering.filters import NO_FILTERS, Filters
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.indexer.search.wording import Wording
from bioqa.models.answers.ranking import RankedDocument, Ranking
from bioqa.system.errors import BioqaError
from tests.app.conftest import DRUGS
from tests.app.engines import local, over
from tests.app.jobs.test_restart import QUESTIONS, service, status
from tests.app.jobs.waiting import until
from tests.app.rankers import LexicalRanker
from tests.app.requests import BODY, is_problem


class TroubledIndex:
    """An index that is away, or slow, when it is told to be."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index
        self.away = False
        self.slow = threading.Event()
        self.go_on = threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    def search(
        self, question: str | Wording, size: int = 100, filters: Filters = NO_FILTERS
    ) -> list[Candidate]:
        if self.slow.is_set():
            assert self.go_on.wait(60)
        if self.away:
            raise BioqaError("the index at /secret/place is away")
        return self._index.search(question, size, filters)

    def close(self) -> None:
        """It is the session's."""


class TroubledRanker(LexicalRanker):
    """Fails as it is told to."""

    def __init__(self) -> None:
        self.fault: Exception | None = None
        self.score: float | None = None

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        if self.fault is not None:
            raise self.fault
        ranking = super().rank(question, candidates)
        if self.score is None:
            return ranking
        return Ranking(
            tuple(RankedDocument(d.document, self.score, d.sentence_scores) for d in ranking.documents)
        )


NO_OPTIONS: Mapping[str, Any] = {}


class Troubled:
    """A service over both, with its clients."""

    def __init__(self, answerer: Answerer, engine: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        self.index = TroubledIndex(answerer.index)
        self.ranker = TroubledRanker()
        given: Any = self.index
        app = create_app(Settings(**settings), local(Answerer(given, self.ranker), **engine))
        self.service: Service = app.state.service
        self.client = TestClient(app, raise_server_exceptions=False)

    def ask(self, body: str = BODY, **more: Any) -> httpx2.Response:
        return self.client.post("/v1/search", json={"body": body, **more})

    def asked(self) -> dict[str, Any]:
        """What a plain question gets, without what differs each time."""
        response = self.ask()
        assert response.status_code == 200, response.text
        return {name: value for name, value in response.json().items() if name != "timings_ms"}

    def healthy(self) -> float:
        """Seconds that /healthz took."""
        begun = time.monotonic()
        assert self.client.get("/healthz").status_code == 200
        return time.monotonic() - begun


@pytest.fixture
def make(answerer: Answerer) -> Iterator[Callable[..., Troubled]]:
    made: list[Troubled] = []

    def troubled(engine: Mapping[str, Any] = NO_OPTIONS, **settings: Any) -> Troubled:
        made.append(Troubled(answerer, engine, settings))
        made[-1].client.__enter__()
        return made[-1]

    yield troubled
    for each in made:
        each.index.go_on.set()
        each.client.__exit__(None, None, None)


def is_told_to_wait(response: httpx2.Response, status: int = 503) -> dict[str, Any]:
    problem = is_problem(response, status)
    assert int(response.headers["retry-after"]) >= 1
    assert "secret" not in response.text
    return problem


def test_an_index_that_is_away_and_comes_back(make: Callable[..., Troubled]) -> None:
    troubled = make()
    first = troubled.asked()
    for _ in range(3):
        troubled.index.away = True
        for _ in range(2):
            is_told_to_wait(troubled.ask())
        assert troubled.client.post("/v1/rerank", json={"query": BODY, "documents": ["a"]}).status_code == 200
        troubled.index.away = False
        assert troubled.asked() == first
    assert troubled.service.counts.failed == 6


@pytest.mark.parametrize("fault", [RuntimeError("secret"), MemoryError("secret"), ZeroDivisionError()])
def test_a_ranker_that_fails_and_recovers(make: Callable[..., Troubled], fault: Exception) -> None:
    troubled = make()
    first = troubled.asked()
    troubled.ranker.fault = fault
    degraded = troubled.asked()
    assert degraded["degraded"] is True
    assert "secret" not in str(degraded)
    assert len(degraded["documents"]) == len(degraded["snippets"]) == 10
    troubled.ranker.fault = None
    assert troubled.asked() == first


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_scores_that_are_no_numbers_are_the_rankers_fault(
    make: Callable[..., Troubled], score: float
) -> None:
    troubled = make()
    troubled.ranker.score = score
    assert troubled.asked()["degraded"] is True
    assert troubled.client.post("/v1/rerank", json={"query": BODY, "documents": ["a"]}).status_code == 200


def test_without_leave_to_degrade_a_ranker_that_fails_is_told(make: Callable[..., Troubled]) -> None:
    troubled = make(engine={"allow_degraded": False})
    troubled.ranker.fault = RuntimeError("secret")
    is_told_to_wait(troubled.ask())
    is_told_to_wait(troubled.client.post("/v1/rerank", json={"query": BODY, "documents": ["a"]}))
    troubled.ranker.fault = None
    assert troubled.asked()["degraded"] is False


def test_who_waits_for_a_slow_index_waits_no_longer_than_the_time_limit(
    make: Callable[..., Troubled],
) -> None:
    troubled = make(request_timeout_s=0.5, engine={"threads": 2})
    first = troubled.asked()
    troubled.index.slow.set()
    with ThreadPoolExecutor(8) as threads:
        begun = time.monotonic()
        asked = [threads.submit(troubled.ask) for _ in range(8)]
        # The median, for a busy machine's sake: were it to wait for the index, none would be quick.
        assert median(troubled.healthy() for _ in range(20)) < 1
        # Two search, and are answered in the end; the others have not begun.
        done = [future.result(60) for future in islice(as_completed(asked), 6)]
        assert time.monotonic() - begun < 30
        troubled.index.slow.clear()
        troubled.index.go_on.set()
    for response in done:
        assert "time for this question" in is_told_to_wait(response)["detail"]
    assert troubled.service.counts.timed_out == 6
    assert troubled.asked() == first
    assert troubled.service.queue.waiting == 0


def test_a_folder_that_is_moved_away_and_back(tmp_path: Path, index_folder: Path) -> None:
    """Files that are open can still be read; without them, 503; never anything else."""
    folder, elsewhere = tmp_path / "index", tmp_path / "elsewhere"
    app = create_app(Settings(), over(lambda: TantivyIndex.open(folder)))
    with TestClient(app, raise_server_exceptions=False) as client:

        def ask() -> httpx2.Response:
            return client.post("/v1/search", json={"body": BODY})

        is_told_to_wait(ask())
        assert client.get("/readyz").status_code == 503
        shutil.copytree(index_folder, folder)
        first = ask()
        assert first.status_code == 200
        for _ in range(2):
            folder.rename(elsewhere)
            for response in (ask(), ask()):
                if response.status_code != 200:
                    is_told_to_wait(response)
            assert client.get("/readyz").status_code in (200, 503)
            elsewhere.rename(folder)
            assert ask().json()["documents"] == first.json()["documents"]
            assert client.get("/readyz").status_code == 200


def test_in_a_storm_of_faults_nobody_is_told_anything_else(make: Callable[..., Troubled]) -> None:
    """Many clients while index and ranker fail and recover at random: each request has one of four ends."""
    troubled = make(queue_capacity=6, request_timeout_s=2, engine={"together": 4})
    first = troubled.asked()
    ended = threading.Event()

    def storm() -> None:
        chance = random.Random(3)
        while not ended.wait(0.003):
            troubled.index.away = chance.random() < 0.3
            troubled.ranker.fault = RuntimeError("secret") if chance.random() < 0.3 else None

    def client(number: int) -> Counter[str]:
        seen: Counter[str] = Counter()
        for n in range(15):
            response = troubled.ask(f"Is {DRUGS[(number + n) % 6]} good?")
            if response.status_code == 200:
                seen["degraded" if response.json()["degraded"] else "answers"] += 1
            else:
                is_told_to_wait(response, response.status_code)
                seen[str(response.status_code)] += 1
        return seen

    weather = threading.Thread(target=storm)
    weather.start()
    with ThreadPoolExecutor(12) as threads:
        seen = sum(threads.map(client, range(12)), Counter[str]())
    ended.set()
    weather.join()
    troubled.index.away, troubled.ranker.fault = False, None
    assert troubled.asked() == first
    assert set(seen) <= {"answers", "degraded", "429", "503"}
    assert seen.total() == 180
    counts = troubled.service.counts
    assert counts.answers == seen["answers"] + seen["degraded"] + 2
    assert counts.refused == seen["429"]
    assert counts.failed + counts.timed_out == seen["503"]
    assert (troubled.service.queue.waiting, troubled.service.queue.running) == (0, 0)


def test_killed_again_and_again_a_batch_is_answered_as_if_nothing_had_been(
    index_folder: Path, answerer: Answerer, tmp_path: Path
) -> None:
    """Each time the client hands it in once more, as one that saw no answer does: it stays one batch."""
    folder = tmp_path / "data"
    locations: list[str] = []

    def submit(client: httpx2.Client) -> int:
        headers = {"Idempotency-Key": "once"}
        response = client.post("/v1/bioasq/batches", json={"questions": QUESTIONS}, headers=headers)
        assert response.status_code == (200 if locations else 202)
        locations.append(response.headers["location"])
        return answered(client)

    def answered(client: httpx2.Client) -> int:
        return int(status(client, locations[0])["answered"])

    def some_more(client: httpx2.Client, before: int) -> int:
        until(lambda: answered(client) > before + 5, "some more answers")
        return answered(client)

    before = 0
    for how in (signal.SIGKILL, signal.SIGKILL):
        with service(index_folder, folder) as (process, client):
            assert submit(client) >= before
            before = some_more(client, before)
            process.send_signal(how)
            assert process.wait(60) == -how
    with service(index_folder, folder) as (_, client):
        assert submit(client) >= before
        until(lambda: status(client, locations[0])["state"] == "done", "the batch to be done")
        submission = client.get(f"{locations[0]}/submission").json()
        assert len(client.get("/v1/bioasq/batches").json()["batches"]) == 1
    assert len(set(locations)) == 1
    asked = [Question(q["id"], q["body"], q["type"]) for q in QUESTIONS]
    assert submission == submission_dict(answerer.answer(question).response() for question in asked)
