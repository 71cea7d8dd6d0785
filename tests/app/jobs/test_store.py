from pathlib import Path

import pytest

from bioqa.app.jobs.database import Database
from bioqa.app.jobs.records import (
    AnswerSource,
    BatchJob,
    BatchLimits,
    Entry,
    QuestionCounts,
    Restart,
    State,
    StoredAnswer,
    Tally,
    Viewer,
)
from bioqa.app.jobs.store import KeyReused, Store, TooManyBatches

SOURCE = AnswerSource("lexical", "00", "sample", 41)
ANSWERED = StoredAnswer({"id": "a", "body": "A?", "documents": [], "snippets": []}, (), ())


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(Database(tmp_path))


def added(
    store: Store, *entries: Entry, key: str | None = None, content: str = "c", owner: str | None = None
) -> BatchJob:
    identifier, _ = store.add(entries, content, ranker=None, candidates=50, key=key, owner=owner)
    return known(store, identifier)


def known(store: Store, identifier: str) -> BatchJob:
    found = store.get(identifier)
    assert found is not None
    return found


def entries(count: int) -> list[Entry]:
    return [Entry(f"q{n}", f"Body {n}?", "list") for n in range(count)]


def test_a_new_batch_is_queued_with_its_questions(store: Store) -> None:
    batch = added(store, Entry("a", "A?"), Entry(None, "", None, "questions[1]", "must be an object"))
    assert (batch.state, batch.counts) == (State.QUEUED, QuestionCounts(questions=2, answered=0, failed=1))
    assert (batch.started, batch.source, batch.candidates) == (None, None, 50)
    assert [w.question.id for w in store.waiting(batch.number, 9)] == ["a"]
    (fault,) = store.faults(batch.number)
    assert (fault.position, fault.id, fault.field, fault.message) == (
        1,
        None,
        "questions[1]",
        "must be an object",
    )


def test_answers_count_and_come_back_in_the_questions_order(store: Store) -> None:
    batch = added(store, *entries(3))
    assert store.begin(batch, SOURCE)
    answers = [StoredAnswer({"id": f"q{n}", "documents": ["d"]}, (1 / 3,), (0.1, n / 7)) for n in range(3)]
    for position in (2, 0):
        assert store.answer(batch.number, position, answers[position], 0.5)
    assert store.fail_question(batch.number, 1, "no")
    assert [kept for _, kept in store.results(batch.number)] == [answers[0], None, answers[2]]
    assert [entry.id for entry, _ in store.results(batch.number)] == ["q0", "q1", "q2"]
    batch = known(store, batch.id)
    assert batch.counts == QuestionCounts(questions=3, answered=2, failed=1)
    assert batch.seconds_a_question == 0.5
    assert [fault.field for fault in store.faults(batch.number)] == ["questions[1]"]


def test_a_question_is_answered_once(store: Store) -> None:
    batch = added(store, *entries(1))
    store.begin(batch, SOURCE)
    assert store.answer(batch.number, 0, ANSWERED, 1)
    assert not store.answer(batch.number, 0, ANSWERED, 1)
    assert not store.fail_question(batch.number, 0, "late")
    assert known(store, batch.id).counts.answered == 1


@pytest.mark.parametrize("state", [State.CANCELLED, State.DONE, State.FAILED])
def test_a_finished_batch_takes_no_answer_and_finishes_once(store: Store, state: State) -> None:
    batch = added(store, *entries(2))
    store.begin(batch, SOURCE)
    assert store.finish(batch.number, state, "because")
    assert not store.answer(batch.number, 0, ANSWERED, 1)
    assert not store.begin(batch, SOURCE)
    assert not store.finish(batch.number, State.DONE)
    batch = known(store, batch.id)
    assert (batch.state, batch.reason, batch.counts.answered) == (state, "because", 0)
    assert batch.finished is not None


def test_the_same_source_goes_on_and_another_starts_anew(store: Store) -> None:
    batch = added(store, Entry(None, "", field="questions[0].id", fault="is missing"), *entries(2))
    store.begin(batch, SOURCE)
    store.answer(batch.number, 1, ANSWERED, 1)
    store.fail_question(batch.number, 2, "no")
    store.begin(batch, SOURCE)
    assert known(store, batch.id).counts == QuestionCounts(3, 1, 2)
    assert known(store, batch.id).restarts == ()
    for other, words in (
        (AnswerSource("other", "11", "sample", 41), "the ranker changed from lexical (00) to other (11)"),
        (AnswerSource("other", "11", "next", 41), "the index changed from sample to next"),
        (AnswerSource("other", "11", "next", 42), "the index changed from 41 to 42 documents"),
    ):
        store.begin(batch, other)
        found = known(store, batch.id)
        assert found.counts == QuestionCounts(3, 0, 1), "what was refused stays so"
        assert found.source == other
        assert isinstance(found.restarts[-1], Restart)
        assert found.restarts[-1].reason == words
        assert [w.position for w in store.waiting(batch.number, 9)] == [1, 2]


def test_a_key_stands_for_one_content(store: Store) -> None:
    first = added(store, *entries(1), key="k")
    assert store.add(entries(1), "c", ranker=None, candidates=1, key="k") == (
        first.id,
        False,
    )
    with pytest.raises(KeyReused):
        added(store, *entries(1), key="k", content="other")
    assert added(store, *entries(1)).id != first.id
    store.finish(first.number, State.CANCELLED)
    store.remove(first.number)
    assert added(store, *entries(1), key="k", content="other").id != first.id


def test_only_so_many_are_taken_at_once(tmp_path: Path) -> None:
    store = Store(Database(tmp_path), BatchLimits(unfinished=2))
    first = added(store, *entries(1), key="k")
    added(store, *entries(1))
    with pytest.raises(TooManyBatches):
        added(store, *entries(1))
    assert added(store, *entries(1), key="k").id == first.id
    store.finish(first.number, State.DONE)
    added(store, *entries(1))


def test_pages_go_from_the_newest_to_the_oldest(store: Store) -> None:
    made = [added(store, *entries(1)).id for _ in range(5)]
    first = store.page(2)
    second = store.page(2, before=first[-1].number)
    third = store.page(2, before=second[-1].number)
    assert [batch.id for batch in first + second + third] == made[::-1]
    assert [batch.id for batch in store.list_unfinished()] == made


def test_only_finished_batches_can_be_removed_and_nothing_of_them_stays(store: Store, tmp_path: Path) -> None:
    batch = added(store, *entries(2))
    store.begin(batch, SOURCE)
    store.begin(batch, AnswerSource("other", "11", "sample", 41))
    assert not store.remove(batch.number)
    store.finish(batch.number, State.DONE)
    assert store.remove(batch.number)
    with Database(tmp_path).reading() as connection:
        for table in ("batches", "questions", "restarts"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0


def test_old_batches_are_removed_and_unfinished_ones_are_not(store: Store, tmp_path: Path) -> None:
    old, new, running = (added(store, *entries(1)) for _ in range(3))
    for batch in (old, new):
        store.finish(batch.number, State.DONE)
    with Database(tmp_path).writing() as connection:
        connection.execute("UPDATE batches SET created = 0")
        connection.execute("UPDATE batches SET finished = finished - 86400 * 7 WHERE id = ?", (old.id,))
    assert store.remove_old(7) == 1
    assert [batch.id for batch in store.page(9)] == [running.id, new.id]


def test_what_it_waits_for_is_told_until_it_goes_on(store: Store) -> None:
    batch = added(store, *entries(1))
    store.wait_for(batch.number, "the index")
    assert known(store, batch.id).waits_for == "the index"
    store.begin(batch, SOURCE)
    assert known(store, batch.id).waits_for is None


def test_any_text_is_kept_as_it_is(store: Store) -> None:
    odd = Entry("\0\u2028\U0001f9ec", "'; DROP TABLE batches; --\r\n", "list")
    batch = added(store, odd)
    (waiting,) = store.waiting(batch.number, 1)
    assert (waiting.question.id, waiting.question.body) == (odd.id, odd.body)


def test_the_tally_counts_batches_by_state_and_the_questions_that_still_wait(store: Store) -> None:
    assert store.tally() == Tally(dict.fromkeys(State, 0), 0)
    first, second = added(store, *entries(3)), added(store, *entries(2))
    added(store, *entries(4))
    assert store.begin(first, SOURCE)
    assert store.answer(first.number, 0, ANSWERED, 0.1)
    assert store.finish(second.number, State.CANCELLED)
    counted = dict.fromkeys(State, 0) | {State.RUNNING: 1, State.CANCELLED: 1, State.QUEUED: 1}
    assert store.tally() == Tally(counted, 2 + 4)


def ids(batches: list[BatchJob]) -> list[str]:
    return [batch.id for batch in batches]


def test_a_page_has_what_its_viewer_sees(store: Store) -> None:
    nobodys, adas, bobs = (added(store, *entries(1), owner=owner) for owner in (None, "ada", "bob"))
    assert ids(store.page(9, viewer=Viewer("ada"))) == [adas.id]
    assert ids(store.page(9, viewer=Viewer())) == [nobodys.id]
    assert ids(store.page(9, viewer=Viewer("eve", sees_all=True))) == [bobs.id, adas.id, nobodys.id]
    assert (adas.owner, nobodys.owner) == ("ada", None)


def test_idempotency_keys_are_each_owners_own(store: Store) -> None:
    made = [added(store, *entries(1), key="k", owner=owner).id for owner in (None, "ada", "bob")]
    assert len(set(made)) == 3
    again = [added(store, *entries(1), key="k", owner=owner).id for owner in (None, "ada", "bob")]
    assert again == made
    with pytest.raises(KeyReused):
        added(store, *entries(1), key="k", owner="ada", content="other")


def test_one_owner_cannot_take_all_places(tmp_path: Path) -> None:
    store = Store(Database(tmp_path), BatchLimits(unfinished=4, share=0.5))
    first, _ = (added(store, *entries(1), owner="ada") for _ in range(2))
    with pytest.raises(TooManyBatches):
        added(store, *entries(1), owner="ada")
    added(store, *entries(1), owner="bob")
    store.finish(first.number, State.CANCELLED)
    added(store, *entries(1), owner="ada")
    added(store, *entries(1), owner="bob")
    with pytest.raises(TooManyBatches):
        added(store, *entries(1), owner="eve")


def ended(store: Store, owner: str | None = None, characters: int = 1) -> str:
    batch = added(store, Entry("q", "x" * characters), owner=owner)
    assert store.finish(batch.number, State.CANCELLED)
    return batch.id


def test_only_so_many_finished_batches_are_kept_of_one_and_of_all(tmp_path: Path) -> None:
    store = Store(Database(tmp_path), BatchLimits(finished=4, share=0.5))
    bobs = ended(store, "bob")
    adas = [ended(store, "ada") for _ in range(5)]
    assert ids(store.page(9)) == [*adas[:-3:-1], bobs], "the oldest of ada's are gone"
    eves = [ended(store, "eve") for _ in range(2)]
    kept = ids(store.page(9))
    assert len(kept) == 4
    assert {bobs, *eves} < set(kept), "who has most loses first"


def test_only_so_many_bytes_of_finished_batches_are_kept(tmp_path: Path) -> None:
    store = Store(Database(tmp_path), BatchLimits(finished_bytes=10_000))
    small = ended(store)
    large = [ended(store, characters=4000) for _ in range(3)]
    assert ids(store.page(9)) == large[:0:-1]
    assert small not in ids(store.page(9))
    huge = ended(store, characters=20_000)
    assert ids(store.page(9)) == [huge], "what has just finished can be fetched"
    ended(store)
    assert huge not in ids(store.page(9))


def test_submitting_and_cancelling_for_ever_takes_a_bounded_file(tmp_path: Path) -> None:
    store = Store(Database(tmp_path), BatchLimits(finished_bytes=200_000))
    for _ in range(40):
        ended(store, "ada", characters=50_000)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 6_000_000
    assert len(store.page(99)) <= 4


def test_answers_count_in_the_size(tmp_path: Path) -> None:
    store = Store(Database(tmp_path), BatchLimits(finished_bytes=10_000))
    small, large = ended(store), added(store, *entries(1))
    store.begin(large, SOURCE)
    answer = StoredAnswer({"id": "q0", "body": "x" * 12_000, "documents": [], "snippets": []}, (), ())
    store.answer(large.number, 0, answer, 1)
    assert small in ids(store.page(9))
    store.finish(large.number, State.DONE)
    assert ids(store.page(9)) == [large.id]
