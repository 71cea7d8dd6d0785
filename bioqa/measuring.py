"""Answers checked, measured and written as BioASQ does."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bioqa.answered import Answer
from bioqa.bioasq import files, measures, validation
from bioqa.bioasq.domain import Question, Response
from bioqa.bioasq.errors import BioqaError
from bioqa.bioasq.golden import Golden
from bioqa.bioasq.jsonfile import read_json
from bioqa.bioasq.measures import LATEST, Measures
from bioqa.bioasq.validation import Fault

SHOWN_FAULTS = 10

Responses = str | Path | Golden | Iterable[Answer | Response]
"""A file's path, a file that was read, or answers."""


def evaluate(golden: Responses, system: Responses, edition: int = LATEST) -> Measures:
    """The official measures of phase A for a system's answers.

    ``edition``: 2 for BioASQ 1 and 2, 3 for 3 and 4, 5 for 5 to 7, 8 for 8, 9 from 9 on. Golden questions
    without an answer are in no mean; ``missing_ids`` names them. Raises BioqaError for an unknown edition, or
    a file that cannot be read.

    >>> index, gold = bioqa.open_index("sample-index"), bioqa.sample().questions
    >>> measures = bioqa.evaluate(gold, bioqa.ask_all(bioqa.read_testset(gold), index))
    >>> measures.questions, measures.documents.map > 0.85, measures.snippets.f1 > 0.35
    (25, True, True)
    >>> rows = [bioqa.evaluate(gold, gold, edition).official() for edition in bioqa.EDITIONS]
    >>> [round(row["map_documents"], 2) for row in rows]
    [1.0, 0.28, 0.28, 1.0, 1.0]
    """
    return measures.evaluate(_responses(golden), _responses(system), edition)


def question_measures(golden: Responses, system: Responses, edition: int = LATEST) -> list[dict[str, Any]]:
    """The measures of each golden question that is answered, as rows for a data frame.

    >>> gold = bioqa.sample().questions
    >>> row = bioqa.question_measures(gold, gold)[0]
    >>> row["f1_documents"], row["gold_documents"]
    (1.0, 3)
    """
    measured = measures.per_question(_responses(golden), _responses(system), edition)
    return [each.row() for each in measured]


def validate(
    submission: str | Path | Iterable[Answer | Response],
    testset: str | Path | Sequence[Question] | None = None,
) -> list[Fault]:
    """Every fault of a submission, each with its question and field; against its test set if that is given.

    >>> bioqa.validate(bioqa.sample().questions)[:1]
    []
    """
    if isinstance(submission, str | Path):
        data = read_json(submission)
    else:
        data = files.submission_dict(_responses(submission))
    asked = files.read_testset(testset) if isinstance(testset, str | Path) else testset
    return validation.validate(data, asked)


def write_submission(path: str | Path, answers: Iterable[Answer | Response]) -> None:
    """Write a submission, whole or not at all. Raises BioqaError if it would not be valid.

    >>> index = bioqa.open_index("sample-index")
    >>> questions = bioqa.read_testset(bioqa.sample().questions)
    >>> bioqa.write_submission("submission.json", bioqa.ask_all(questions, index))
    >>> bioqa.validate("submission.json", questions)
    []
    """
    responses = _responses(answers)
    if faults := validate(responses):
        more = f"; and {len(faults) - SHOWN_FAULTS} more" if len(faults) > SHOWN_FAULTS else ""
        shown = "; ".join(map(str, faults[:SHOWN_FAULTS]))
        raise BioqaError(f"the submission would be invalid and is not written: {shown}{more}")
    files.write_submission(path, responses)


def _responses(source: Responses) -> tuple[Response, ...]:
    if isinstance(source, str | Path):
        source = files.read_golden(source)
    if isinstance(source, Golden):
        return source.responses
    return tuple(each.response() if isinstance(each, Answer) else each for each in source)
