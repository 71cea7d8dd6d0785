"""Batches that meet trouble: what is away, what changes, what is cancelled, what fails."""

import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from bioqa.app.answers import supervision
from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.refusals import BatchesUnavailable, QueueFull, TimedOut
from bioqa.app.jobs import runner
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Candidate, Question
from bioqa.bioasq.files import submission_dict
from bioqa.bioasq.validation import validate
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.models.answers.ranking import Ranking
from bioqa.system.errors import BioqaError
from tests.app.conftest import DRUGS, document
from tests.app.engines import over
from tests.app.jobs.waiting import finished, until
from tests.app.rankers import LexicalRanker, doubled


def a_testset(count: int) -> dict[str, Any]:
    return {"questions": [{"id": f"q{n}", "body": f"Is {DRUGS[n % 6]} good {n}?"} for n in range(count)]}


class Gate(LexicalRanker):
    """Answers ``free`` questions, then stops until it is opened; remembers what it was asked."""

    def __init__(self, free: int, name: str = "lexical") -> None:
        self.name = name
        self.asked: list[str] = []
        self.free = free
        self.reached = threading.Event()
        self.open = threading.Event()

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        if len(self.asked) >= self.free and not self.open.is_set():
            self.reached.set()
            assert self.open.wait(60)
        self.asked.append(question)
        return super().rank(question, candidates)


@contextmanager
def serving(
    folder: Path,
    ranker: LexicalRanker,
    open_index: Callable[[], SearchIndex],
    *,
    threads: int = 1,
    **settings: Any,
) -> Iterator[TestClient]:
    options = {"allow_degraded": settings.get("allow_degraded", True), "threads": threads}
    app = create_app(Settings(data_dir=folder, **settings), over(open_index, ranker, **options))
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def open_index(index_folder: Path) -> Callable[[], SearchIndex]:
    return lambda: TantivyIndex.open(index_folder)


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "PAUSE_S", 0.01)
    monkeypatch.setattr(runner, "POLL_S", 0.01)
    monkeypatch.setattr(runner, "LONGEST_WAIT_S", 0.02)
    monkeypatch.setattr(runner, "FIRST_WAIT_S", 0.01)


def submit(client: TestClient, count: int, **parameters: str) -> str:
    response = client.post("/v1/bioasq/batches", json=a_testset(count), params=parameters)
    assert response.status_code == 202, response.text
    return response.headers["location"]


class FailingRanker(LexicalRanker):
    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        if " 1?" in question:
            raise ArithmeticError("secret")
        return super().rank(question, candidates)


def test_a_question_that_fails_loses_no_other(tmp_path: Path, open_index: Callable[[], SearchIndex]) -> None:
    with serving(tmp_path, FailingRanker(), open_index, allow_degraded=False) as client:
        location = submit(client, 4)
        status = finished(client, location)
        assert (status["state"], status["answered"], status["failed"]) == ("done", 3, 1)
        (fault,) = status["faults"]
        assert (fault["field"], fault["id"]) == ("questions[1]", "q1")
        assert "secret" not in fault["message"]
        submission = client.get(status["submission"]).json()
        assert validate(submission) == []
        assert [q["id"] for q in submission["questions"]] == ["q0", "q1", "q2", "q3"]
        assert (submission["questions"][1]["documents"], submission["questions"][1]["snippets"]) == ([], [])


def test_where_it_is_allowed_bm25_answers_for_a_ranker_that_fails_and_it_is_told(
    tmp_path: Path, open_index: Callable[[], SearchIndex]
) -> None:
    with serving(tmp_path, FailingRanker(), open_index) as client:
        status = finished(client, submit(client, 4))
        assert (status["state"], status["answered"], status["degraded"]) == ("done", 4, 1)
        response = client.get(status["submission"])
        assert response.headers["bioqa-degraded-answers"] == "1"
        assert response.json()["questions"][1]["documents"]


class DoublingRanker(LexicalRanker):
    """For one question it names each sentence twice."""

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        ranking = super().rank(question, candidates)
        return doubled(ranking) if " 2?" in question else ranking


def test_an_invalid_answer_is_not_handed_out(tmp_path: Path, open_index: Callable[[], SearchIndex]) -> None:
    with serving(tmp_path, DoublingRanker(), open_index) as client:
        status = finished(client, submit(client, 3))
        assert (status["state"], status["answered"]) == ("done", 2)
        assert "would be invalid: q2: snippets[1]: repeats snippets[0]" in status["faults"][0]["message"]
        assert validate(client.get(status["submission"]).json()) == []


class NeverRanker(LexicalRanker):
    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        raise RuntimeError


def test_a_batch_without_any_answer_has_failed(tmp_path: Path, open_index: Callable[[], SearchIndex]) -> None:
    with serving(tmp_path, NeverRanker(), open_index, allow_degraded=False) as client:
        location = submit(client, 2)
        status = finished(client, location)
        assert (status["state"], status["reason"]) == ("failed", "no question could be answered")
        assert status["submission"] is None
        response = client.get(f"{location}/submission")
        assert (response.status_code, "no question" in response.json()["detail"]) == (409, True)


def test_a_batch_waits_for_its_index_and_goes_on_by_itself(
    tmp_path: Path, open_index: Callable[[], SearchIndex]
) -> None:
    away = threading.Event()

    class Flaky:
        def __init__(self) -> None:
            self._index = open_index()

        def __getattr__(self, name: str) -> Any:
            if away.is_set() and name in ("search", "stats"):
                raise BioqaError("gone")
            return getattr(self._index, name)

    def opened() -> Any:
        if away.is_set():
            raise BioqaError("gone")
        return Flaky()

    ranker = Gate(3)
    with serving(tmp_path, ranker, opened) as client:
        location = submit(client, 6)
        assert ranker.reached.wait(60)
        away.set()
        ranker.open.set()
        until(lambda: client.get(location).json()["waits_for"] is not None, "the batch to wait")
        status = client.get(location).json()
        assert "index" in status["waits_for"]
        assert (status["state"], status["seconds_left"]) == ("running", None)
        assert status["faults"] == []
        away.clear()
        status = finished(client, location)
        assert (status["state"], status["answered"], status["restarts"]) == ("done", 6, [])


def test_a_cancelled_batch_stops_and_the_next_one_runs(
    tmp_path: Path, open_index: Callable[[], SearchIndex]
) -> None:
    ranker = Gate(2)
    with serving(tmp_path, ranker, open_index) as client:
        first, second = submit(client, 50), submit(client, 1)
        assert ranker.reached.wait(60)
        until(lambda: client.get(first).json()["answered"] == 2, "two answers")
        response = client.delete(first)
        assert (response.status_code, response.json()["state"]) == (200, "cancelled")
        ranker.open.set()
        assert finished(client, second)["state"] == "done"
        assert len(ranker.asked) <= 5
        assert client.get(first).json()["answered"] == 2
        assert client.get(f"{first}/submission").status_code == 409


def test_after_a_restart_with_the_same_source_the_answers_so_far_stay(
    tmp_path: Path, open_index: Callable[[], SearchIndex]
) -> None:
    first, second = Gate(3), Gate(99)
    with serving(tmp_path, first, open_index) as client:
        location = submit(client, 5)
        assert first.reached.wait(60)
        until(lambda: client.get(location).json()["answered"] == 3, "three answers")
        status = client.get(location).json()
        assert status["state"] == "running"
        assert status["seconds_left"] >= 0
        stopper = threading.Timer(0.3, first.open.set)  # the service waits for what is being ranked
        stopper.start()
    stopper.join()
    with serving(tmp_path, second, open_index) as client:
        status = finished(client, location)
        assert (status["state"], status["answered"], status["restarts"]) == ("done", 5, [])
        assert len(second.asked) == 2
        assert client.get(status["submission"]).status_code == 200


class OtherRanker(Gate):
    hash = "11" * 32


def test_after_a_restart_with_another_ranker_all_answers_are_its(
    tmp_path: Path, open_index: Callable[[], SearchIndex]
) -> None:
    first, second = Gate(3), OtherRanker(99)
    with serving(tmp_path, first, open_index) as client:
        location = submit(client, 5)
        assert first.reached.wait(60)
        first.free = 0
        until(lambda: client.get(location).json()["answered"] == 3, "three answers")
        threading.Timer(0.1, first.open.set).start()
    with serving(tmp_path, second, open_index) as client:
        status = finished(client, location)
        assert status["ranker"] == {"name": "lexical", "hash": "11" * 32}
        assert [r["reason"] for r in status["restarts"]] == [
            f"the ranker changed from lexical ({'0' * 12}) to lexical ({'1' * 12})"
        ]
        assert len(second.asked) == 5


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (99, "the index changed from 41 to 42 documents"),
        (6, "the index changed, with 41 documents before and after"),
    ],
    ids=["an addition", "a revision"],
)
def test_an_index_that_changes_while_a_batch_runs_answers_all_of_it_anew(
    tmp_path: Path, index_folder: Path, monkeypatch: pytest.MonkeyPatch, number: int, reason: str
) -> None:
    """Also where the last questions are already answered from the changed one."""
    monkeypatch.setattr(runner, "CHUNK", 2)
    folder = tmp_path / "sample"
    shutil.copytree(index_folder, folder)
    ranker = Gate(3)
    with serving(tmp_path / "data", ranker, lambda: TantivyIndex.open(folder)) as client:
        location = submit(client, 4)
        assert ranker.reached.wait(60)
        with TantivyIndex.create(folder) as index:
            index.apply([Upsert(document(number, "Statin is good.", "It is."))])
            index.commit()
        ranker.open.set()
        status = finished(client, location)
        assert (status["state"], status["answered"]) == ("done", 4)
        assert [r["reason"] for r in status["restarts"]] == [reason]
        assert sorted(ranker.asked[-4:]) == sorted(q["body"] for q in a_testset(4)["questions"])
        submission = client.get(status["submission"]).json()
    with TantivyIndex.open(folder) as index:
        answerer = Answerer(index, LexicalRanker())
        asked = [Question(q["id"], q["body"]) for q in a_testset(4)["questions"]]
        assert submission == submission_dict(answerer.answer(question).response() for question in asked)


def test_a_batch_that_names_a_ranker_waits_until_it_is_served(
    tmp_path: Path, open_index: Callable[[], SearchIndex]
) -> None:
    gate = Gate(0)
    with serving(tmp_path, gate, open_index) as client:
        named, unnamed = submit(client, 2, ranker="lexical"), submit(client, 2)
        threading.Timer(0.1, gate.open.set).start()
    with serving(tmp_path, Gate(99, name="other"), open_index) as client:
        assert finished(client, unnamed)["ranker"]["name"] == "other"
        until(lambda: client.get(named).json()["waits_for"] is not None, "the batch to wait")
        status = client.get(named).json()
        assert status["state"] in ("queued", "running")
        assert "the ranker lexical" in status["waits_for"]
    with serving(tmp_path, Gate(99), open_index) as client:
        assert finished(client, named)["ranker"]["name"] == "lexical"


def test_of_two_services_over_one_folder_one_answers_and_both_tell(
    tmp_path: Path, open_index: Callable[[], SearchIndex]
) -> None:
    idle = Gate(99)
    with serving(tmp_path, Gate(99), open_index) as one:
        assert finished(one, submit(one, 2))["state"] == "done"
        with serving(tmp_path, idle, open_index) as other:
            location = submit(other, 2)
            assert finished(other, location)["state"] == "done"
            assert one.get(location).json()["answered"] == 2
        assert idle.asked == []


def test_an_app_that_is_run_twice_at_once_answers_on_when_one_run_ends(
    tmp_path: Path, open_index: Callable[[], SearchIndex], caplog: pytest.LogCaptureFixture
) -> None:
    with serving(tmp_path, Gate(99), open_index) as one:
        with TestClient(one.app) as other:
            assert finished(other, submit(other, 1))["state"] == "done"
        time.sleep(0.05)  # in which each of them looks for work
        assert finished(one, submit(one, 1))["state"] == "done"
    assert "went wrong" not in caplog.text
    assert "Traceback" not in caplog.text


def test_another_takes_over_when_the_one_that_answered_is_gone(
    tmp_path: Path, open_index: Callable[[], SearchIndex]
) -> None:
    with serving(tmp_path, Gate(99), open_index) as heir:
        with serving(tmp_path, Gate(99), open_index) as one:
            location = submit(one, 1)
            finished(one, location)
        assert finished(heir, submit(heir, 1))["state"] == "done"


def test_batches_are_removed_after_their_days(
    tmp_path: Path, open_index: Callable[[], SearchIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "CLEAN_EVERY_S", 0.0)
    with serving(tmp_path, Gate(99), open_index, batch_days=1) as client:
        location = submit(client, 1)
        finished(client, location)
        database = client.app.state.batches._database  # type: ignore[attr-defined]
        with database.writing() as connection:
            connection.execute("UPDATE batches SET finished = finished - 86401")
        until(lambda: client.get(location).status_code == 404, "the batch to be removed")


def test_a_batch_that_nothing_can_be_done_with_holds_up_no_other(
    tmp_path: Path, open_index: Callable[[], SearchIndex], caplog: pytest.LogCaptureFixture
) -> None:
    ranker = Gate(2)
    with serving(tmp_path, ranker, open_index) as client:
        broken, other = submit(client, 4), submit(client, 1)
        assert ranker.reached.wait(60)
        until(lambda: client.get(broken).json()["answered"] == 2, "two answers")
        database = client.app.state.batches._database  # type: ignore[attr-defined]
        with database.writing() as connection:
            connection.execute("UPDATE questions SET answer = '{' WHERE answer IS NOT NULL")
        ranker.open.set()
        assert finished(client, other)["state"] == "done"
        status = client.get(broken).json()
        assert (status["state"], status["reason"]) == (
            "failed",
            "an unexpected error; see the service's log",
        )
        assert "given up" in caplog.text
        assert "Traceback" in caplog.text


def test_several_questions_are_answered_at_a_time_if_the_service_ranks_several(
    tmp_path: Path, open_index: Callable[[], SearchIndex]
) -> None:
    meeting = threading.Barrier(3, timeout=60)

    class Together(LexicalRanker):
        def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
            meeting.wait()
            return super().rank(question, candidates)

    with serving(tmp_path, Together(), open_index, threads=3) as client:
        assert finished(client, submit(client, 6))["answered"] == 6


def test_a_full_line_is_waited_out(
    tmp_path: Path, open_index: Callable[[], SearchIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path, Gate(99), open_index) as client:
        service = client.app.state.service  # type: ignore[attr-defined]
        real, times = service.answer, []

        async def busy(*arguments: Any, **named: Any) -> Any:
            times.append(named["priority"])
            if len(times) < 4:
                raise QueueFull("full", 0) if len(times) % 2 else TimedOut("late", 0)
            return await real(*arguments, **named)

        monkeypatch.setattr(service, "answer", busy)
        status = finished(client, submit(client, 2))
        assert (status["state"], status["answered"], times) == ("done", 2, ["batch"] * 5)


def test_a_fault_of_the_file_is_waited_out(
    tmp_path: Path, open_index: Callable[[], SearchIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path, Gate(99), open_index) as client:
        store = client.app.state.batches._store  # type: ignore[attr-defined]
        real, times = store.answer, []

        def full(*arguments: Any) -> bool:
            times.append(1)
            if len(times) < 3:
                raise BatchesUnavailable("disk full")
            return bool(real(*arguments))

        monkeypatch.setattr(store, "answer", full)
        status = finished(client, submit(client, 2))
        assert (status["state"], status["answered"], len(times)) == ("done", 2, 4)


def test_the_service_itself_is_not_needed_to_look_at_batches(tmp_path: Path) -> None:
    def missing() -> SearchIndex:
        raise BioqaError("no index")

    app = create_app(Settings(data_dir=tmp_path), over(missing))
    with TestClient(app) as client:
        location = submit(client, 1)
        until(lambda: client.get(location).json()["waits_for"] is not None, "the batch to wait")
        assert client.delete(location).json()["state"] == "cancelled"
        assert client.get("/v1/bioasq/batches").json()["batches"][0]["state"] == "cancelled"


class Panic(BaseException):
    """As a fault in native code: no Exception."""


def test_a_runner_that_fails_is_seen_and_goes_on(
    tmp_path: Path, open_index: Callable[[], SearchIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision, "FIRST_PAUSE_S", 3.0)  # long enough to be seen on a busy machine
    with serving(tmp_path, Gate(99), open_index) as client:
        store = client.app.state.batches._store  # type: ignore[attr-defined]
        real, panics = store.list_unfinished, [Panic("index out of bounds")]

        def unfinished() -> Any:
            if panics:
                raise panics.pop()
            return real()

        monkeypatch.setattr(store, "list_unfinished", unfinished)
        location = submit(client, 2)
        until(lambda: client.get("/readyz").status_code == 503, "the trouble to be seen")
        assert "the background task batches failed (Panic)" in client.get("/readyz").text
        assert finished(client, location)["state"] == "done"
        assert client.get("/readyz").status_code == 200
        assert 'bioqa_background_failures_total{task="batches"} 1.0' in client.get("/metrics").text
