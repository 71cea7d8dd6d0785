"""What is kept of an unfinished batch, and used when it is resumed."""

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.question import Options
from bioqa.app.cli.batch import answer_batch
from bioqa.bioasq.domain import Question
from bioqa.bioasq.validation import validate
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import read_json
from tests.app.cli.interrupting import QUESTIONS, CountingRanker


class OtherRanker(CountingRanker):
    hash = "11" * 32


def journal(output: Path) -> Path:
    return output.with_name("submission.journal")


def interrupted(answerer: Answerer, output: Path, after: int) -> None:
    with pytest.raises(KeyboardInterrupt):
        answer_batch(Answerer(answerer.index, CountingRanker(after)), QUESTIONS, output)
    assert not output.exists()
    assert journal(output).exists()


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
        answer_batch(Answerer(answerer.index, ranker), questions, output, Options(candidates=candidates))
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


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """No file grows beyond this size, as on a disk with so much space left."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [0, 1000, 20_000])
def test_on_a_full_disk_the_file_is_named_and_with_room_the_batch_is_resumed(
    answerer: Answerer, output: Path, size: int
) -> None:
    with (
        full_disk(size),
        pytest.raises(BioqaError, match=r"submission(\.journal)?: cannot be written: File too large$"),
    ):
        answer_batch(answerer, QUESTIONS, output)
    assert not output.exists()
    answer_batch(answerer, QUESTIONS, output)
    assert validate(read_json(output), QUESTIONS) == []
