"""A test set taken in question by question: one that is wrong is told in its place, the rest is answered."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from pydantic import ValidationError

from bioqa.app.http.errors import FieldError, field_problem
from bioqa.app.http.schemas import AskedQuestion
from bioqa.app.jobs.records import Entry
from bioqa.bioasq.golden import TYPES
from bioqa.system.jsonfile import has_lone_surrogate, show

LONGEST_ID = 200


@dataclass(frozen=True, slots=True)
class TestSetLimits:
    questions: int
    characters: int
    """Characters of one question."""

    __test__ = False  # not pytest's


def entries(data: object, limits: TestSetLimits) -> list[Entry]:
    """Return the questions of a parsed test set, in order; invalid ones with their fault.

    Raises FieldError if there is no list of questions, if it is too long, or if every question is invalid.
    """
    questions = data.get("questions") if isinstance(data, Mapping) else None
    if not isinstance(data, Mapping):
        raise FieldError("the test set", f"must be an object with the key questions, not {show(data)}")
    if not isinstance(questions, list):
        state = show(questions) if "questions" in data else "missing"
        raise FieldError("questions", f"must be a list, but is {state}")
    if not 1 <= len(questions) <= limits.questions:
        raise FieldError("questions", f"must be 1 to {limits.questions}, not {len(questions)}")
    seen: set[str] = set()
    taken = [
        _entry(position, question, seen, limits.characters) for position, question in enumerate(questions)
    ]
    if all(entry.fault is not None for entry in taken):
        first = taken[0]
        more = f" (and {len(taken) - 1} more questions that cannot be answered)" if len(taken) > 1 else ""
        raise FieldError(first.field, f"{first.fault}{more}")
    return taken


def content_hash(taken: Sequence[Entry], ranker: str | None, options: Mapping[str, Any] | None = None) -> str:
    """Hash what is asked: the same for the same questions, ranker and options, however a file was written."""
    # Without options, that of earlier versions: a request may be repeated after an upgrade.
    content = [[*map(astuple, taken)], ranker, *([dict(options)] if options else [])]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _entry(position: int, question: object, seen: set[str], most_characters: int) -> Entry:
    fault = _fault(question, most_characters)
    entry = question if isinstance(question, Mapping) else {}
    identifier = _text(entry.get("id")) or None
    if identifier is not None and len(identifier) > LONGEST_ID:
        identifier = None
        fault = fault or ("id", f"must have at most {LONGEST_ID} characters")
    if fault is None and identifier in seen:
        fault = ("id", "duplicate question id")
    if identifier in seen:
        identifier = None  # the submission uses it for the earlier question
    elif identifier is not None:
        seen.add(identifier)
    kind, body = entry.get("type"), _text(entry.get("body"))
    field, message = fault or ("", None)
    return Entry(
        id=identifier,
        body=body if fault is None else body[:most_characters],
        type=kind if isinstance(kind, str) and kind in TYPES else None,
        field=f"questions[{position}]" + (f".{field}" if field else ""),
        fault=message,
    )


def _fault(question: object, most_characters: int) -> tuple[str, str] | None:
    """Return the first invalid field and what is wrong with it."""
    try:
        checked = AskedQuestion.model_validate(question)
    except ValidationError as error:
        first = error.errors()[0]
        if not first["loc"]:
            return "", f"must be an object, not {show(question)}"
        problem = field_problem({**first, "loc": ("body", *first["loc"])})
        return problem.field, problem.message
    if len(checked.body) > most_characters:
        return "body", f"must have at most {most_characters} characters, not {len(checked.body)}"
    return None


def _text(value: object) -> str:
    return value if isinstance(value, str) and not has_lone_surrogate(value) else ""
