"""Reading test sets, golden files and submissions; writing submissions."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from bioqa.bioasq.domain import Question, Response, Snippet
from bioqa.bioasq.golden import TYPES, Golden, id_field, parse_golden, question_entries, text_field
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import has_lone_surrogate, read_json, show, write_json

__all__ = [
    "Golden",
    "parse_golden",
    "parse_testset",
    "read_golden",
    "read_submission",
    "read_testset",
    "submission_dict",
    "write_submission",
]


def read_testset(path: str | Path) -> tuple[Question, ...]:
    """Read the questions of a test set, plain or gzip, in the file's order.

    Raises BioqaError, naming file, question and field, if the file or a required field is invalid.
    """
    return parse_testset(read_json(path), str(path))


def parse_testset(data: object, name: str) -> tuple[Question, ...]:
    """Read the questions of a parsed test set; ``name`` stands for it in error messages.

    Ids are unique strings that are not empty; a type is one of BioASQ's four, or absent. Other keys are
    ignored. Raises BioqaError for anything else, and for a test set without questions.
    """
    questions: dict[str, Question] = {}
    for where, entry in question_entries(data, name):
        question = _question(entry, where)
        if question.id in questions:
            raise BioqaError(f"{where}: id: duplicate question id")
        questions[question.id] = question
    if not questions:
        raise BioqaError(f"{name}: questions: must hold at least one question")
    return tuple(questions.values())


def read_golden(path: str | Path) -> Golden:
    """Read a golden file, plain or gzip, counting every irregularity that was tolerated.

    Raises BioqaError as ``parse_golden`` does.
    """
    return parse_golden(read_json(path), str(path))


def read_submission(path: str | Path) -> Golden:
    """Read a system's file for evaluation, as leniently as a golden file."""
    return read_golden(path)


def submission_dict(responses: Iterable[Response]) -> dict[str, object]:
    """Convert responses into a submission ready for JSON, with BioASQ's keys and no others.

    For a question without type, the ``type`` key is omitted: the official tool's phase A does not need it,
    and crashes on null. Raises BioqaError, naming question and field, for text that UTF-8 cannot encode.
    """
    return {"questions": [response_dict(response) for response in responses]}


def write_submission(path: str | Path, responses: Iterable[Response]) -> None:
    """Write a submission atomically: a reader sees either the old file or the complete new one.

    Raises BioqaError if the file cannot be written, or as ``submission_dict`` does.
    """
    write_json(path, submission_dict(responses))


def _question(entry: Mapping[str, object], where: str) -> Question:
    identifier = id_field(entry, where)
    body = text_field(entry, "body", where)
    kind = text_field(entry, "type", where)
    if not (body and body.strip()):
        raise BioqaError(f"{where}: body: must be a question, but is {'empty' if body else 'missing'}")
    if kind is not None and kind not in TYPES:
        raise BioqaError(f"{where}: type: must be one of {', '.join(TYPES)}, not {show(kind)}")
    for field, text in (("id", identifier), ("body", body)):
        if has_lone_surrogate(text):
            raise BioqaError(f"{where}: {field}: holds half a character (a lone surrogate)")
    return Question(identifier, body, kind)


def response_dict(response: Response) -> dict[str, object]:
    """One entry of a submission, as ``submission_dict`` makes it."""
    question = response.question
    entry: dict[str, object] = {"id": question.id}
    if question.type is not None:
        entry["type"] = question.type
    entry["body"] = question.body
    entry["documents"] = list(response.documents)
    entry["snippets"] = [_snippet_dict(snippet) for snippet in response.snippets]
    _refuse_lone_surrogates(entry, f"question {show(question.id)}")
    return entry


def _snippet_dict(snippet: Snippet) -> dict[str, object]:
    return {
        "document": snippet.document,
        "text": snippet.text,
        "beginSection": snippet.begin_section,
        "endSection": snippet.end_section,
        "offsetInBeginSection": snippet.begin,
        "offsetInEndSection": snippet.end,
    }


def _refuse_lone_surrogates(value: object, where: str) -> None:
    if isinstance(value, str) and has_lone_surrogate(value):
        raise BioqaError(f"{where}: holds half a character (a lone surrogate), which UTF-8 cannot encode")
    if isinstance(value, dict):
        for key, item in value.items():
            _refuse_lone_surrogates(item, f"{where}: {key}")
    elif isinstance(value, list):
        for position, item in enumerate(value):
            _refuse_lone_surrogates(item, f"{where}[{position}]")
