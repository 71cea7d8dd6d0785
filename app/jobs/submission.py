"""What a finished batch hands out: a BioASQ submission or a TREC run, checked before anybody gets it."""

import json
from collections.abc import Mapping
from typing import Any

from bioqa.app.jobs.records import Entry
from bioqa.app.jobs.store import Store
from bioqa.bioasq.domain import Question
from bioqa.bioasq.errors import BioqaError
from bioqa.bioasq.trec import RunLine, pmid, run_lines
from bioqa.bioasq.validation import validate

SHOWN_FAULTS = 3


class InvalidResult(BioqaError):
    """What would be handed out is no valid submission: a fault of the index or of this program."""


def submission(store: Store, number: int) -> dict[str, Any]:
    """Every question that has an id of its own, in order; those without answer with empty lists.

    Raises InvalidResult.
    """
    questions, entries = [], []
    for entry, answered in store.results(number):
        if entry.id is None:
            continue
        questions.append(Question(entry.id, entry.body, entry.type))
        entries.append(_empty(entry) if answered is None else answered.entry)
    made = {"questions": entries}
    if faults := faults_of(made, questions):
        raise InvalidResult(faults)
    return made


def encoded(made: Mapping[str, Any]) -> bytes:
    """As JSON in UTF-8, question by question: one of thousands would hold up all other threads else."""
    entries = (json.dumps(entry, ensure_ascii=False, allow_nan=False) for entry in made["questions"])
    return b'{"questions": [' + b",\n".join(entry.encode() for entry in entries) + b"]}\n"


def run(store: Store, number: int, tag: str) -> list[RunLine]:
    """The answered questions' documents with the ranker's scores.

    Raises BioqaError if an id cannot stand in a run.
    """
    lines: list[RunLine] = []
    for entry, answered in store.results(number):
        if entry.id is not None and answered is not None:
            pmids = [pmid(url) for url in answered.entry["documents"]]
            lines += run_lines(entry.id, zip(pmids, answered.document_scores, strict=True), tag)
    return lines


def faults_of(made: Mapping[str, Any], questions: list[Question]) -> str:
    """The first faults of a submission in words; empty if there is none."""
    faults = validate(made, questions)
    more = f"; and {len(faults) - SHOWN_FAULTS} more" if len(faults) > SHOWN_FAULTS else ""
    return "; ".join(map(str, faults[:SHOWN_FAULTS])) + more


def _empty(entry: Entry) -> dict[str, Any]:
    kept: dict[str, Any] = {
        "id": entry.id,
        "type": entry.type,
        "body": entry.body,
        "documents": [],
        "snippets": [],
    }
    return {key: value for key, value in kept.items() if value is not None}
