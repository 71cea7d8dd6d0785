"""Submissions and runs, golden files and judgements: told apart by their content."""

import gzip
import json
from pathlib import Path

import pytest

from bioqa.bioasq.domain import PUBMED_URL
from bioqa.bioasq.files import submission_dict, write_submission
from bioqa.bioasq.inputs import read_answers, read_gold
from bioqa.bioasq.trec import judgements, submission_run
from bioqa.system.errors import BioqaError
from tests.bioasq.comparing import golden, system

GOLD = golden(5)
ANSWERS = system(GOLD, 0.5, 1)


def test_a_run_has_the_documents_of_the_submission(tmp_path: Path) -> None:
    run, packed, submission = tmp_path / "run", tmp_path / "packed", tmp_path / "submission.json"
    text = "".join(f"{line}\n" for line in submission_run(ANSWERS, "x"))
    run.write_text(text)
    packed.write_bytes(gzip.compress(b"\xef\xbb\xbf\n" + text.encode()))
    write_submission(submission, ANSWERS)
    documents = [each.documents for each in ANSWERS]
    for path in (run, packed, submission):
        assert [each.documents for each in read_answers(path).responses] == documents
    assert read_answers(submission).responses == tuple(ANSWERS)
    assert not any(each.snippets for each in read_answers(run).responses)


def test_judgements_are_gold(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("".join(f"{line}\n" for line in judgements(GOLD)) + "q9 0 77 0\n")
    read = read_gold(path).responses
    assert [set(each.documents) for each in read[:5]] == [set(each.documents) for each in GOLD]
    assert read[5].documents == ()
    path.write_text(json.dumps(submission_dict(GOLD)))
    assert read_gold(path).responses == tuple(GOLD)


def test_a_run_keeps_the_ten_best(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("".join(f"q0 Q0 {pmid} 0 {pmid} x\n" for pmid in range(100, 120)))
    (read,) = read_answers(path).responses
    assert read.documents == tuple(f"{PUBMED_URL}{pmid}" for pmid in range(119, 109, -1))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "not JSON"),
        ("nonsense", "not JSON"),
        ("{", "not JSON"),
        ("[1, 2, 3, 4, 5, 6]", "must be an object"),
        ("q0 Q0 1 1 x\n", "line 1: must have 6 fields"),
        ("q0 Q0 1 1 x y\n", "line 1: score"),
        ("q0 0 1 1\n", "must have 6 fields"),
    ],
)
def test_what_is_neither_is_named(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "file"
    path.write_text(content)
    with pytest.raises(BioqaError, match=words):
        read_answers(path)
    (tmp_path / "odd").write_bytes(b"q0 Q0 1 1 1 \xff\n")
    with pytest.raises(BioqaError, match="not UTF-8"):
        read_answers(tmp_path / "odd")
