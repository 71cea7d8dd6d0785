"""What a batch that is done hands out."""

import json
from pathlib import Path

import pytest

from bioqa.app.jobs.database import Database
from bioqa.app.jobs.records import AnswerSource, Entry, StoredAnswer
from bioqa.app.jobs.store import Store
from bioqa.app.jobs.submission import InvalidResult, encode, faults_of, run, submission
from bioqa.bioasq.domain import PUBMED_URL
from bioqa.bioasq.validation import validate
from bioqa.system.errors import BioqaError

ENTRIES = [
    Entry("a", "A?", "list"),
    Entry(None, "", field="questions[1].id", fault="is missing"),
    Entry("c", "C?", field="questions[2].body", fault="is too long"),
    Entry("d", "D \u03b1?"),
]


BODIES = {entry.id: entry.body for entry in ENTRIES}


def answer(identifier: str, *pmids: str) -> StoredAnswer:
    entry = {
        "id": identifier,
        "body": BODIES.get(identifier, "A?"),
        "documents": [f"{PUBMED_URL}{pmid}" for pmid in pmids],
        "snippets": [],
    }
    return StoredAnswer(entry, tuple(1 / (1 + n) for n in range(len(pmids))), ())


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(Database(tmp_path))


def number_of(store: Store, entries: list[Entry], answers: dict[int, StoredAnswer]) -> int:
    identifier, _ = store.add(entries, "c", ranker=None, candidates=10)
    batch = store.get(identifier)
    assert batch is not None
    store.begin(batch, AnswerSource("soft", "00", "sample", 41))
    for position, each in answers.items():
        assert store.answer(batch.number, position, each, 0.1)
    return batch.number


def test_each_question_with_an_id_stands_in_order_and_may_be_empty(store: Store) -> None:
    made = submission(store, number_of(store, ENTRIES, {3: answer("d", "3", "4"), 0: answer("a", "1")}))
    assert [entry["id"] for entry in made["questions"]] == ["a", "c", "d"]
    assert made["questions"][1] == {"id": "c", "body": "C?", "documents": [], "snippets": []}
    assert made["questions"][2]["documents"] == [f"{PUBMED_URL}3", f"{PUBMED_URL}4"]


def test_an_answer_that_became_invalid_is_not_handed_out(store: Store) -> None:
    number = number_of(store, ENTRIES, {0: answer("a", "1", "1"), 3: answer("d", "x")})
    with pytest.raises(InvalidResult, match=r"a: documents\[1\].*; d: documents\[0\]"):
        submission(store, number)


def test_only_the_first_faults_are_told() -> None:
    assert faults_of({"questions": []}, []) != ""
    many = {"questions": [0] * 5}
    told = faults_of(many, [])
    assert told.startswith("; ".join(map(str, validate(many, [])[:3])))
    assert told.endswith(f"; and {len(validate(many, [])) - 3} more")


def test_encoded_it_is_the_same_json() -> None:
    made = {"questions": [{"id": "a", "body": "\u03b1 \u2028"}, {"id": "b"}]}
    assert json.loads(encode(made)) == made
    assert json.loads(encode({"questions": []})) == {"questions": []}
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode({"questions": [{"score": float("inf")}]})


def test_a_run_has_the_answered_questions_alone(store: Store) -> None:
    lines = run(store, number_of(store, ENTRIES, {0: answer("a", "7", "8")}), "soft")
    assert [str(line).split()[:4] for line in lines] == [["a", "Q0", "7", "1"], ["a", "Q0", "8", "2"]]
    spaced = number_of(store, [Entry("a b", "A?")], {0: answer("a b", "7")})
    with pytest.raises(BioqaError, match="a b"):
        run(store, spaced, "soft")
