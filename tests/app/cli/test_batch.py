import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bioqa.app.answers.answering import Answerer
from bioqa.app.cli.batch import CHUNK, InvalidSubmission, answer_batch
from bioqa.bioasq.domain import Candidate, Question
from bioqa.bioasq.errors import BioqaError
from bioqa.bioasq.files import submission_dict
from bioqa.bioasq.jsonfile import read_json
from bioqa.bioasq.validation import validate
from bioqa.models.answers.ranking import Ranking
from tests.app.conftest import DRUGS, LexicalRanker

QUESTIONS = tuple(Question(f"q{n}", f" Is {drug} good?\n", "yesno") for n, drug in enumerate(DRUGS))


class CountingRanker(LexicalRanker):
    """Counts its questions, and stops at one of them as a power cut would."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.asked: list[str] = []
        self.stop_at = stop_at

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        if len(self.asked) == self.stop_at:
            raise KeyboardInterrupt
        self.asked.append(question)
        return super().rank(question, candidates)


class OtherRanker(CountingRanker):
    hash = "11" * 32


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "submission"


def journal(output: Path) -> Path:
    return output.with_name("submission.journal")


def interrupted(answerer: Answerer, output: Path, after: int) -> None:
    with pytest.raises(KeyboardInterrupt):
        answer_batch(Answerer(answerer.index, CountingRanker(after)), QUESTIONS, output)
    assert not output.exists()
    assert journal(output).exists()


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


def test_an_interrupted_batch_goes_on_where_it_was(answerer: Answerer, output: Path, tmp_path: Path) -> None:
    interrupted(answerer, output, after=4)
    ranker = CountingRanker()
    answer_batch(Answerer(answerer.index, ranker), QUESTIONS, output)
    assert len(ranker.asked) == 2
    whole = tmp_path / "whole"
    answer_batch(answerer, QUESTIONS, whole)
    assert output.read_bytes() == whole.read_bytes()
    assert not journal(output).exists()


@pytest.mark.parametrize("cut", [1, 20])
def test_a_torn_last_line_is_answered_again(answerer: Answerer, output: Path, cut: int) -> None:
    interrupted(answerer, output, after=3)
    journal(output).write_bytes(journal(output).read_bytes()[:-cut])
    ranker = CountingRanker(stop_at=2)
    with pytest.raises(KeyboardInterrupt):
        answer_batch(Answerer(answerer.index, ranker), QUESTIONS, output)
    for line in journal(output).read_text().splitlines():
        json.loads(line)
    ranker = CountingRanker()
    answer_batch(Answerer(answerer.index, ranker), QUESTIONS, output)
    assert len(ranker.asked) == 2
    assert validate(read_json(output), QUESTIONS) == []


def test_a_journal_without_a_whole_line_is_begun_anew(answerer: Answerer, output: Path) -> None:
    journal(output).write_bytes(b'{"kind": "bio')
    answer_batch(answerer, QUESTIONS, output)
    assert validate(read_json(output), QUESTIONS) == []


def test_the_journal_of_another_job_is_not_used(answerer: Answerer, output: Path) -> None:
    for other in ("questions", "ranker", "candidates"):
        interrupted(answerer, output, after=4)
        ranker = OtherRanker() if other == "ranker" else CountingRanker()
        questions = [*QUESTIONS[:5], Question("q5", "Other?")] if other == "questions" else QUESTIONS
        candidates = 50 if other == "candidates" else 100
        answer_batch(Answerer(answerer.index, ranker), questions, output, candidates)
        assert len(ranker.asked) == 6
        output.unlink()


@pytest.mark.parametrize("content", ["a diary\n", '{"kind": "other", "job": "x"}\n', "[]\n"])
def test_a_file_that_is_no_journal_is_left_alone(answerer: Answerer, output: Path, content: str) -> None:
    journal(output).write_text(content)
    with pytest.raises(BioqaError, match=r"submission\.journal"):
        answer_batch(answerer, QUESTIONS, output)
    assert journal(output).read_text() == content


def test_a_damaged_journal_is_told_with_its_line(answerer: Answerer, output: Path) -> None:
    interrupted(answerer, output, after=2)
    lines = journal(output).read_bytes().splitlines(keepends=True)
    journal(output).write_bytes(lines[0] + b"{nonsense\n" + lines[2])
    with pytest.raises(BioqaError, match="line 2"):
        answer_batch(answerer, QUESTIONS, output)


class OverlappingRanker(LexicalRanker):
    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        ranking = super().rank(question, candidates)
        twice = tuple(
            replace(
                ranked,
                document=replace(ranked.document, sentences=ranked.document.sentences * 2),
                sentence_scores=ranked.sentence_scores * 2,
            )
            for ranked in ranking.documents
        )
        return replace(ranking, documents=twice)


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
