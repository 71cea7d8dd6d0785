"""Answers checked, measured and written as BioASQ does."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bioqa.answered import Answer
from bioqa.bioasq import comparison as comparing
from bioqa.bioasq import files, measures, validation
from bioqa.bioasq.comparison import Comparison
from bioqa.bioasq.domain import Question, Response
from bioqa.bioasq.golden import Golden
from bioqa.bioasq.inputs import read_answers, read_gold, system_names
from bioqa.bioasq.measures import LATEST, Measures
from bioqa.bioasq.roles import check_golden, check_pair
from bioqa.bioasq.significance import RESAMPLES, SEED
from bioqa.bioasq.validation import Fault
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import read_json, write_bytes

SHOWN_FAULTS = 10

Responses = str | Path | Golden | Iterable[Answer | Response]
"""A file's path, a file that was read, or answers."""


def evaluate(golden: Responses, system: Responses, edition: int = LATEST) -> Measures:
    """The official measures of phase A for a system's answers.

    ``edition``: 2 for BioASQ 1 and 2, 3 for 3 and 4, 5 for 5 to 7, 8 for 8, 9 from 9 on. Golden questions
    without an answer are in no mean; ``missing_ids`` names them. Raises BioqaError for an unknown edition, a
    file that cannot be read, and files in the wrong place: a test set, or two that are swapped.

    >>> index, gold = bioqa.open_index("sample-index"), bioqa.sample().questions
    >>> measures = bioqa.evaluate(gold, bioqa.ask_all(bioqa.read_testset(gold), index))
    >>> measures.questions, measures.documents.map > 0.85, measures.snippets.f1 > 0.35
    (25, True, True)
    >>> rows = [bioqa.evaluate(gold, gold, edition).official() for edition in bioqa.EDITIONS]
    >>> [round(row["map_documents"], 2) for row in rows]
    [1.0, 0.28, 0.28, 1.0, 1.0]
    """
    gold, answers = _responses(golden), _responses(system)
    check_golden(gold, _name(golden, "the golden file"))
    check_pair(gold, answers, _name(golden, "the golden file"), _name(system, "the answers"))
    return measures.evaluate(gold, answers, edition)


def compare(
    golden: Responses,
    systems: Mapping[str, Responses] | Sequence[str | Path],
    edition: int = LATEST,
    *,
    baseline: str | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Comparison:
    """Compare systems as ``bioqa compare`` does: measures with intervals, differences with p values.

    ``systems``: answers, or files, by name; or files alone, which are named by their first part. Files may be
    TREC runs, the golden one TREC judgements. Each system is compared with ``baseline``, or with the first.
    ``rows()`` and ``question_rows()`` of the result are for data frames; ``systems`` has the objects. Raises
    BioqaError as ``evaluate`` does, and for a baseline that is not among the systems.

    >>> index, gold = bioqa.open_index("sample-index"), bioqa.sample().questions
    >>> questions = bioqa.read_testset(gold)
    >>> rankers = {name: bioqa.load_ranker(name) for name in ("bm25", "soft")}
    >>> systems = {name: bioqa.ask_all(questions, index, ranker) for name, ranker in rankers.items()}
    >>> comparison = bioqa.compare(gold, systems)
    >>> found = comparison.systems[1].difference("mf1_snippets")
    >>> found.low <= found.value <= found.high, found.wins + found.ties + found.losses
    (True, 25)
    >>> 0 < found.p <= found.p_holm <= 1
    True
    >>> len(comparison.rows()), len(comparison.question_rows())
    (20, 50)
    """
    if not isinstance(systems, Mapping):
        systems = dict(zip(system_names(systems), systems, strict=True))
    gold = read_gold(golden).responses if isinstance(golden, str | Path) else _responses(golden)
    check_golden(gold, _name(golden, "the golden file"))
    answers = {
        name: read_answers(system).responses if isinstance(system, str | Path) else _responses(system)
        for name, system in systems.items()
    }
    for name, given in answers.items():
        check_pair(gold, given, _name(golden, "the golden file"), name)
    return comparing.compare(gold, answers, edition, baseline=baseline, resamples=resamples, seed=seed)


def write_report(path: str | Path, comparison: Comparison, title: str = "Comparison") -> None:
    """Write a comparison as one HTML file with tables and charts, as ``bioqa compare --html`` does.

    >>> gold = bioqa.sample().questions
    >>> bioqa.write_report("report.html", bioqa.compare(gold, {"gold": gold}))
    """
    # Imported here: templates are needed by nothing else in this module.
    from bioqa.app.reports.report import html_report

    write_bytes(path, html_report(comparison, title).encode())


def question_measures(golden: Responses, system: Responses, edition: int = LATEST) -> list[dict[str, Any]]:
    """The measures of each golden question that is answered, as rows for a data frame.

    >>> gold = bioqa.sample().questions
    >>> row = bioqa.question_measures(gold, gold)[0]
    >>> row["f1_documents"], row["gold_documents"]
    (1.0, 3)
    """
    measured = measures.per_question(_responses(golden), _responses(system), edition)
    return [question.row() for question in measured]


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
    questions = files.read_testset(testset) if isinstance(testset, str | Path) else testset
    return validation.validate(data, questions)


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


def _name(source: Responses, otherwise: str) -> str:
    return str(source) if isinstance(source, str | Path) else otherwise


def _responses(source: Responses) -> tuple[Response, ...]:
    if isinstance(source, str | Path):
        source = files.read_golden(source)
    if isinstance(source, Golden):
        return source.responses
    return tuple(answer.response() if isinstance(answer, Answer) else answer for answer in source)
