"""Measures and checks, from files and from answers alike."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import bioqa
from tests.app.rankers import LexicalRanker

GOLD = bioqa.sample().questions


def answers(index: bioqa.Index) -> list[bioqa.Answer]:
    return [*bioqa.ask_all(bioqa.read_testset(GOLD), index, LexicalRanker())]


def test_answers_and_their_file_have_the_same_measures(index: bioqa.Index, tmp_path: Path) -> None:
    given = answers(index)
    bioqa.write_submission(tmp_path / "submission.json", given)
    for edition in bioqa.EDITIONS:
        measures = bioqa.evaluate(bioqa.read_golden(GOLD), given, edition)
        assert measures == bioqa.evaluate(GOLD, tmp_path / "submission.json", edition)
        assert 0 < measures.documents.map < 1
    assert bioqa.evaluate(GOLD, given) == bioqa.evaluate(GOLD, given, 9)


def test_rows_of_questions_have_the_means_of_the_measures(index: bioqa.Index) -> None:
    rows, measures = bioqa.question_measures(GOLD, answers(index)), bioqa.evaluate(GOLD, answers(index))
    assert len(rows) == measures.questions == 25
    mean = sum(row["f1_snippets"] for row in rows) / 25
    assert mean == pytest.approx(measures.snippets.f1)


def test_a_question_without_an_answer_is_named(index: bioqa.Index) -> None:
    given = answers(index)
    measures = bioqa.evaluate(GOLD, given[1:])
    assert measures.missing_ids == (given[0].question.id,)


def test_faults_are_found_in_files_and_in_answers(index: bioqa.Index, tmp_path: Path) -> None:
    questions = bioqa.read_testset(GOLD)
    given = answers(index)
    assert bioqa.validate(given, GOLD) == []
    missing = bioqa.validate(given[1:], questions)
    assert given[0].question.id in str(missing)
    (tmp_path / "bad.json").write_text(json.dumps({"questions": [{"id": "x"}]}))
    assert bioqa.validate(tmp_path / "bad.json")


def test_no_invalid_submission_is_written(index: bioqa.Index, tmp_path: Path) -> None:
    response = answers(index)[0].response()
    twice = replace(response, documents=(response.documents[0],) * 2)
    with pytest.raises(bioqa.BioqaError, match="would be invalid and is not written"):
        bioqa.write_submission(tmp_path / "submission.json", [twice])
    assert not (tmp_path / "submission.json").exists()


def test_an_unknown_edition_is_an_error() -> None:
    with pytest.raises(bioqa.BioqaError, match="edition"):
        bioqa.evaluate(GOLD, GOLD, 7)
