from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bioqa.app.answers.answering import Answerer
from bioqa.app.cli.batch import CHUNK, InvalidSubmission, answer_batch
from bioqa.bioasq.domain import Candidate, Question
from bioqa.bioasq.files import submission_dict
from bioqa.bioasq.validation import validate
from bioqa.models.answers.ranking import Ranking
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import read_json
from tests.app.cli.interrupting import QUESTIONS, CountingRanker
from tests.app.conftest import DRUGS
from tests.app.rankers import LexicalRanker, doubled


def test_a_batch_is_valid_and_equals_the_single_answers(answerer: Answerer, output: Path) -> None:
    told: list[tuple[int, str]] = []
    answer_batch(
        answerer, QUESTIONS, output, on_answer=lambda done, question: told.append((done, question.id))
    )
    written = read_json(output)
    assert validate(written, QUESTIONS) == []
    assert written == submission_dict(answerer.answer(question).response() for question in QUESTIONS)
    assert told == [(n + 1, f"q{n}") for n in range(6)]
    assert [path.name for path in output.parent.iterdir()] == ["submission"]


def test_the_index_is_asked_many_questions_at_once_and_only_those_left(
    answerer: Answerer, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    real = answerer.index.search_many

    def search_many(questions: Sequence[str], *rest: Any) -> list[list[Candidate]]:
        asked.append(len(questions))
        return real(questions, *rest)

    monkeypatch.setattr(answerer.index, "search_many", search_many)
    many = [Question(str(n), f"Is {DRUGS[n % 6]} good?", "yesno") for n in range(2 * CHUNK + 3)]
    with pytest.raises(KeyboardInterrupt):
        answer_batch(Answerer(answerer.index, CountingRanker(CHUNK + 1)), many, output)
    assert asked == [CHUNK, CHUNK]
    answer_batch(Answerer(answerer.index, CountingRanker()), many, output)
    assert asked[2:] == [CHUNK, 2]
    assert read_json(output) == submission_dict(answerer.answer(q).response() for q in many)


class OverlappingRanker(LexicalRanker):
    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        return doubled(super().rank(question, candidates))


def test_an_invalid_submission_is_not_written(answerer: Answerer, output: Path) -> None:
    output.write_text("old")
    with pytest.raises(InvalidSubmission, match=r"q0: snippets\[1\]: repeats"):
        answer_batch(Answerer(answerer.index, OverlappingRanker()), QUESTIONS, output)
    assert output.read_text() == "old"


def test_an_output_that_cannot_be_written_is_told_before_the_work(answerer: Answerer, tmp_path: Path) -> None:
    ranker = CountingRanker()
    for path in (tmp_path, tmp_path / "missing" / "submission"):
        with pytest.raises(BioqaError, match="cannot be written"):
            answer_batch(Answerer(answerer.index, ranker), QUESTIONS, path)
    assert ranker.asked == []
