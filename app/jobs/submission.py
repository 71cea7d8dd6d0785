"""The results of a finished batch: a BioASQ submission or a TREC run, validated before they are returned."""

import json
from collections.abc import Mapping
from typing import Any

from bioqa.app.jobs.records import Entry
from bioqa.app.jobs.store import Store
from bioqa.bioasq.domain import Question
from bioqa.bioasq.trec import RunLine, pmid, run_lines
from bioqa.bioasq.validation import validate
from bioqa.system.errors import BioqaError

SHOWN_FAULTS = 3


class InvalidResult(BioqaError):
    """The submission would be invalid: a fault of the index or of this program."""


def submission(store: Store, number: int) -> dict[str, Any]:
    """Build a submission: every question with an id of its own, in order, without an answer with empty lists.

    Raises InvalidResult.
    """
    questions, entries = [], []
    for entry, answered in store.results(number):
        if entry.id is None:
            continue
        questions.append(Question(entry.id, entry.body, entry.type))
        entries.append(_empty(entry) if answered is None else answered.entry)
    submission = {"questions": entries}
    if faults := faults_of(submission, questions):
        raise InvalidResult(faults)
    return submission


def encode(submission: Mapping[str, Any]) -> bytes:
    """Encode as JSON in UTF-8. Serialised per question: one huge json.dumps would hold the GIL."""
    entries = (json.dumps(entry, ensure_ascii=False, allow_nan=False) for entry in submission["questions"])
    return b'{"questions": [' + b",\n".join(entry.encode() for entry in entries) + b"]}\n"


def run(store: Store, number: int, tag: str) -> list[RunLine]:
    """List the answered questions' documents with the ranker's scores.

    Raises BioqaError if a run cannot hold a question's id.
    """
    lines: list[RunLine] = []
    for entry, answered in store.results(number):
        if entry.id is not None and answered is not None:
            pmids = [pmid(url) for url in answered.entry["documents"]]
            lines += run_lines(entry.id, zip(pmids, answered.document_scores, strict=True), tag)
    return lines


def faults_of(submission: Mapping[str, Any], questions: list[Question]) -> str:
    """Describe the first faults of a submission; empty if there is none."""
    faults = validate(submission, questions)
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
