"""Pool what several systems show, so that it is judged together and no place says whose it is."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bioqa.app.judging.sheet import (
    Sheet,
    SheetContent,
    SheetDocument,
    SheetQuestion,
)
from bioqa.bioasq.domain import PUBMED_URL, Document, Question, Response, Sentence
from bioqa.bioasq.files import parse_testset
from bioqa.bioasq.golden import is_document_url, parse_golden
from bioqa.bioasq.inputs import is_trec
from bioqa.bioasq.judged import Place
from bioqa.bioasq.overlap import pmid_of
from bioqa.bioasq.trec import decode, evaluated_order, parse_run
from bioqa.indexer.search.base import SearchIndex
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import parse_json, read_bytes, read_json


@dataclass(frozen=True, slots=True)
class Shown:
    """What one system shows: by question id, documents (URLs) and snippets, best first."""

    name: str
    responses: Mapping[str, Response]


@dataclass(frozen=True, slots=True)
class Pool:
    """A sheet, and the PMIDs that systems show but the index does not have: they cannot be judged."""

    sheet: Sheet
    missing: frozenset[str]


def read_questions(path: str | Path) -> tuple[Question, ...]:
    """The questions of a BioASQ file, or of a list of objects with ``id`` and ``body``. Raises BioqaError."""
    data = read_json(path)
    return parse_testset({"questions": data} if isinstance(data, list) else data, str(path))


def read_shown(path: str | Path, name: str) -> Shown:
    """What a submission or a TREC run shows, in full length. Raises BioqaError."""
    content = read_bytes(path)
    if is_trec(content):
        lines = evaluated_order(parse_run(decode(content, str(path)), str(path)))
        responses = [
            Response(Question(question, ""), tuple(PUBMED_URL + line.document for line in ranked), ())
            for question, ranked in lines.items()
        ]
    else:
        responses = [*parse_golden(parse_json(content, str(path)), str(path)).responses]
    by_question: dict[str, Response] = {}
    for response in responses:
        by_question.setdefault(response.question.id, response)
    return Shown(name, by_question)


def make_sheet(
    questions: Sequence[Question], shown: Sequence[Shown], index: SearchIndex, depth: int, seed: int
) -> Pool:
    """Pool each system's ``depth`` first documents and as many first snippets, with the documents of these.

    Snippets become the index's sentences that share half of the shorter one with them. Documents are
    shuffled; their sentences are in reading order. Raises BioqaError if nothing is left to judge.
    """
    pooled: list[SheetQuestion] = []
    missing: set[str] = set()
    for question in questions:
        responses = [of.responses[question.id] for of in shown if question.id in of.responses]
        pmids = _pmids(responses, depth)
        documents = index.get(pmids)
        missing.update(pmid for pmid in pmids if pmid not in documents)
        places = [Place.of(snippet) for response in responses for snippet in response.snippets[:depth]]
        in_order = sorted(documents.values(), key=lambda document: _mix(seed, question.id, document.pmid))
        of_sheet = [SheetDocument.of(document, _sentences(document, places)) for document in in_order]
        pooled.append(
            SheetQuestion(id=question.id, body=question.body, type=question.type, documents=of_sheet)
        )
    if not any(question.documents for question in pooled):
        raise BioqaError("the pool is empty: no system shows a document that the index has")
    content = SheetContent(
        systems=sorted(of.name for of in shown), depth=depth, seed=seed, index=index.name, questions=pooled
    )
    return Pool(Sheet.of(content), frozenset(missing))


def _pmids(responses: Iterable[Response], depth: int) -> list[str]:
    urls = [
        url
        for response in responses
        for url in (*response.documents[:depth], *(s.document for s in response.snippets[:depth]))
    ]
    pmids = dict.fromkeys(pmid_of(url) for url in urls)
    return [pmid for pmid in pmids if is_document_url(PUBMED_URL + pmid)]


def _sentences(document: Document, places: Sequence[Place]) -> list[Sentence]:
    shown = [place for place in places if place.pmid == document.pmid]
    return [
        sentence
        for sentence in document.sentences
        if any(place.covers(Place.of(document.snippet(sentence))) for place in shown)
    ]


def _mix(seed: int, question: str, pmid: str) -> str:
    """A key of sorting that is as good as chance, and the same wherever the sheet is made."""
    return hashlib.sha256(f"{seed} {question} {pmid}".encode()).hexdigest()
