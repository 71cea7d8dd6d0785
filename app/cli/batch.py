"""Answer a test set and write the submission, which is valid or not written at all."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, replace
from pathlib import Path

from bioqa.app.answers.answer import Answer
from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.question import DEFAULT_OPTIONS, Options
from bioqa.app.cli.journal import AnswerJournal
from bioqa.bioasq.domain import Question, Response
from bioqa.bioasq.files import submission_dict, write_submission
from bioqa.bioasq.validation import validate
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import is_standard_output

SHOWN_FAULTS = 10

CHUNK = 16
"""Questions whose candidates are retrieved in one request."""

OnAnswer = Callable[[int, Question], None]
"""Called with the number of questions answered and the latest one."""


class InvalidSubmission(BioqaError):
    """The submission would be invalid: a fault of the index or of this program."""


def answer_batch(
    answerer: Answerer,
    questions: Sequence[Question],
    output: Path,
    options: Options = DEFAULT_OPTIONS,
    on_answer: OnAnswer = lambda done, question: None,
) -> list[Response]:
    """Answer all questions and write the submission, atomically.

    After an interruption, calling it with the same questions, index and ranker resumes. Raises
    InvalidSubmission, and what the index, the ranker and the files raise.
    """
    if is_standard_output(output) or (output.exists() and not output.is_file()):
        # The answers so far are kept beside the output.
        raise BioqaError(f"{output}: cannot be written: not a regular file, which a batch needs to resume")
    journal = AnswerJournal.open(output, job_of(answerer, questions, options))
    try:
        responses = answer_missing(answerer, questions, journal, options, on_answer)
        _refuse_faults(responses, questions)
        write_submission(output, responses)
    finally:
        journal.close()
    journal.remove()
    return responses


def answer_missing(
    answerer: Answerer,
    questions: Sequence[Question],
    journal: AnswerJournal,
    options: Options,
    on_answer: OnAnswer,
) -> list[Response]:
    """Answer the questions that the journal lacks, into the journal; return the answers to all of them."""
    missing = {question.id: question for question in questions if question.id not in journal.answers}
    answers = _answers(answerer, [*missing.values()], options)
    for done, question in enumerate(questions, start=1):
        if question.id not in journal.answers:
            journal.append(next(answers).response())
        on_answer(done, question)
    return [replace(journal.answers[question.id], question=question) for question in questions]


def _answers(answerer: Answerer, questions: Sequence[Question], options: Options) -> Iterator[Answer]:
    for begin in range(0, len(questions), CHUNK):
        yield from answerer.answers(questions[begin : begin + CHUNK], options)


def job_of(answerer: Answerer, questions: Sequence[Question], options: Options) -> str:
    """Hash everything that the answers depend on."""
    ranker = (answerer.ranker.name, answerer.ranker.hash)
    parts = [
        [astuple(question) for question in questions],
        astuple(answerer.index.stats()),
        ranker,
        options.model_dump(mode="json"),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _refuse_faults(responses: Sequence[Response], questions: Sequence[Question]) -> None:
    faults = validate(submission_dict(responses), questions)
    if faults:
        more = f"; and {len(faults) - SHOWN_FAULTS} more" if len(faults) > SHOWN_FAULTS else ""
        raise InvalidSubmission(
            "the submission would be invalid and is not written: "
            + "; ".join(map(str, faults[:SHOWN_FAULTS]))
            + more
        )
