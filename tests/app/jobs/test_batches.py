"""Batches as the API and the page see them, without a loop that answers them."""

from pathlib import Path

import pytest

from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.service import Service, UnknownRanker
from bioqa.app.jobs.batches import BatchJobs, NoSubmission
from bioqa.app.jobs.intake import TestSetLimits, entries
from bioqa.app.jobs.records import AnswerSource, BatchJob, State, StoredAnswer
from bioqa.app.jobs.store import KeyReused, TooManyBatches
from bioqa.app.settings import Settings
from tests.app.engines import local
from tests.app.requests import TESTSET

DAY_S = 86_400
TAKEN = entries(TESTSET, TestSetLimits(10, 1000))


@pytest.fixture
def batches(answerer: Answerer, tmp_path: Path) -> BatchJobs:
    settings = Settings(max_batches=2, batch_days=3)
    return BatchJobs(Service(settings, local(answerer, threads=2)), tmp_path)


def begun(batches: BatchJobs, answers: int = 0, ranker: str = "lexical") -> BatchJob:
    batch, _ = batches.submit(TAKEN)
    store = batches._store
    assert store.begin(batch, AnswerSource(ranker, "00", "sample", 41))
    for position in range(answers):
        identifier = TESTSET["questions"][position]["id"]
        entry = {"id": identifier, "body": "x", "documents": [], "snippets": []}
        assert store.answer(batch.number, position, StoredAnswer(entry, (), ()), 4.0)
    return seen(batches, batch)


def seen(batches: BatchJobs, batch: BatchJob) -> BatchJob:
    found = batches.get(batch.id)
    assert found is not None
    return found


def test_what_is_submitted_twice_under_a_key_is_one_batch(batches: BatchJobs) -> None:
    first, new = batches.submit(TAKEN, key="k")
    again, known = batches.submit(TAKEN, key="k")
    assert (first.id, new, known) == (again.id, True, False)
    with pytest.raises(KeyReused):
        batches.submit(TAKEN, ranker="lexical", key="k")


def test_what_cannot_be_answered_is_refused_at_once(batches: BatchJobs) -> None:
    with pytest.raises(UnknownRanker):
        batches.submit(TAKEN, ranker="none")
    for _ in range(2):
        batches.submit(TAKEN)
    with pytest.raises(TooManyBatches):
        batches.submit(TAKEN)


def test_the_time_left_is_by_its_own_pace_and_what_is_done_at_once(batches: BatchJobs) -> None:
    queued, _ = batches.submit(TAKEN)
    assert batches.seconds_left(queued) is None
    batches.cancel(queued)
    running = begun(batches, answers=1)
    # Four seconds each, two questions left, four at a time.
    assert batches.seconds_left(running) == pytest.approx(4 * 2 / 4)
    batches._store.wait_for(running.number, "the index")
    assert batches.seconds_left(seen(batches, running)) is None


def test_it_expires_some_days_after_it_was_finished(batches: BatchJobs) -> None:
    batch = begun(batches)
    assert batches.expires(batch) is None
    batches.cancel(batch)
    finished = seen(batches, batch)
    assert finished.finished is not None
    assert batches.expires(finished) == finished.finished + 3 * DAY_S


def test_why_there_is_no_submission(batches: BatchJobs) -> None:
    batch = begun(batches, answers=1)
    with pytest.raises(NoSubmission, match="is running: 2 of 3 questions are left"):
        batches.submission(batch)
    batches.cancel(batch)
    with pytest.raises(NoSubmission, match="cancelled"):
        batches.submission(seen(batches, batch))
    failed = begun(batches)
    batches._store.finish(failed.number, State.FAILED, "no question could be answered")
    with pytest.raises(NoSubmission, match="failed: no question could be answered"):
        batches.run(seen(batches, failed))


def test_a_runs_tag_holds_no_white_space(batches: BatchJobs) -> None:
    batch = begun(batches, ranker="my ranker\u2028 2")
    batches._store.answer(batch.number, 0, stored("a"), 1.0)
    batches._store.finish(batch.number, State.DONE)
    (line,) = batches.run(seen(batches, batch))
    assert str(line).split()[-1] == "my-ranker--2"


def stored(identifier: str) -> StoredAnswer:
    documents = ["http://www.ncbi.nlm.nih.gov/pubmed/7"]
    return StoredAnswer({"id": identifier, "body": "x", "documents": documents, "snippets": []}, (1.0,), ())


def test_an_unfinished_batch_is_cancelled_and_a_finished_one_removed(batches: BatchJobs) -> None:
    batch = begun(batches)
    cancelled = batches.cancel_or_remove(batch)
    assert cancelled is not None
    assert cancelled.state is State.CANCELLED
    assert not batches.cancel(batch)
    assert batches.cancel_or_remove(batch) is None
    assert batches.get(batch.id) is None
