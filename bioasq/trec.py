"""TREC's formats: runs (``qid Q0 docno rank score tag``) and judgements (``qid 0 docno relevance``).

As trec_eval reads a run: the rank does not count; documents are ordered by falling score, read in single
precision, and where scores are equal by falling document number, compared as text. What is written here is
read there in the order that it was written in: scores that single precision cannot tell apart, or that do not
fall, are lowered to the next number below.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bioqa.bioasq.domain import MAX_ITEMS, PUBMED_URL, Question, Response
from bioqa.bioasq.errors import BioqaError
from bioqa.bioasq.jsonfile import read_bytes, shown

PMID = re.compile(r"[1-9][0-9]{0,17}")
INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
LARGEST = float(np.finfo(np.float32).max)
SPACES = re.compile(r"[ \t]+")


@dataclass(frozen=True, slots=True)
class RunLine:
    question: str
    document: str
    """TREC's docno: here, a PMID."""
    rank: int
    score: float
    """Of single precision."""
    tag: str

    def __str__(self) -> str:
        return f"{self.question} Q0 {self.document} {self.rank} {_written(self.score)} {self.tag}"


@dataclass(frozen=True, slots=True)
class Judgement:
    question: str
    document: str
    relevance: int

    def __str__(self) -> str:
        return f"{self.question} 0 {self.document} {self.relevance}"


def run_lines(question: str, documents: Iterable[tuple[str, float]], tag: str) -> Iterator[RunLine]:
    """A question's documents, best first, as a run's lines.

    Raises BioqaError if a name holds white space, or a score is no number of single precision.
    """
    _check_name("question id", question)
    _check_name("tag", tag)
    above = np.float32(np.inf)
    for rank, (document, score) in enumerate(documents, start=1):
        _check_name("document", document)
        if not math.isfinite(score) or abs(score) > LARGEST:
            raise BioqaError(f"question {shown(question)}: the score {score} cannot stand in a TREC run")
        single = np.float32(score)
        if single >= above:
            single = np.nextafter(above, np.float32(-np.inf))
        above = single
        yield RunLine(question, document, rank, float(single), tag)


def submission_run(responses: Iterable[Response], tag: str) -> Iterator[RunLine]:
    """A run of documents that have no scores: each gets the number of those from it to the end of its list.

    Raises BioqaError, naming the question, for a document that is no PubMed URL of BioASQ.
    """
    for response in responses:
        documents = list(dict.fromkeys(response.documents))
        try:
            pmids = [pmid(document) for document in documents]
            scored = ((each, float(len(pmids) - place)) for place, each in enumerate(pmids))
            yield from run_lines(response.question.id, scored, tag)
        except BioqaError as error:
            raise BioqaError(f"question {shown(response.question.id)}: {error}") from error


def judgements(golden: Iterable[Response]) -> Iterator[Judgement]:
    """Every golden document, relevance 1. Raises BioqaError as ``submission_run`` does."""
    for response in golden:
        _check_name("question id", response.question.id)
        for document in dict.fromkeys(response.documents):
            try:
                yield Judgement(response.question.id, pmid(document), 1)
            except BioqaError as error:
                raise BioqaError(f"question {shown(response.question.id)}: {error}") from error


def read_run(path: str | Path) -> list[RunLine]:
    """A run's lines in the file's order; plain or gzip. Raises BioqaError, naming file, line and field."""
    return parse_run(_text(path), str(path))


def parse_run(text: str, name: str) -> list[RunLine]:
    """Raises BioqaError, which calls the text by ``name``, for a line that is no line of a run."""
    lines: list[RunLine] = []
    seen: set[tuple[str, str]] = set()
    for where, fields in _lines(text, name, ("question", "Q0", "document", "rank", "score", "tag")):
        question, constant, document, rank, score, tag = fields
        if constant != "Q0":
            raise BioqaError(f"{where}: the second field must be Q0, not {shown(constant)}")
        if not INTEGER.fullmatch(rank):
            raise BioqaError(f"{where}: rank: must be an integer, not {shown(rank)}")
        value = float(score) if NUMBER.fullmatch(score) else math.inf
        if not abs(value) <= LARGEST:
            raise BioqaError(f"{where}: score: must be a number of single precision, not {shown(score)}")
        _check_new(seen, question, document, where)
        lines.append(RunLine(question, document, int(rank), float(np.float32(value)), tag))
    return lines


def read_judgements(path: str | Path) -> list[Judgement]:
    """Judgements in the file's order; plain or gzip. Raises BioqaError, naming file, line and field."""
    return parse_judgements(_text(path), str(path))


def parse_judgements(text: str, name: str) -> list[Judgement]:
    """Raises BioqaError, which calls the text by ``name``, for a line that is no judgement."""
    found: list[Judgement] = []
    seen: set[tuple[str, str]] = set()
    for where, (question, _, document, relevance) in _lines(
        text, name, ("question", "iteration", "document", "relevance")
    ):
        if not INTEGER.fullmatch(relevance):
            raise BioqaError(f"{where}: relevance: must be an integer, not {shown(relevance)}")
        _check_new(seen, question, document, where)
        found.append(Judgement(question, document, int(relevance)))
    return found


def evaluated_order(lines: Iterable[RunLine]) -> dict[str, list[RunLine]]:
    """By question, in the order of their first lines: its lines as trec_eval orders them."""
    grouped: dict[str, list[RunLine]] = {}
    for line in lines:
        grouped.setdefault(line.question, []).append(line)
    for group in grouped.values():
        group.sort(key=lambda line: (np.float32(line.score), line.document), reverse=True)
    return grouped


def run_responses(lines: Sequence[RunLine], questions: Sequence[Question] | None = None) -> list[Response]:
    """The ten best documents of each question of a run, as a submission's entries without snippets.

    With ``questions``: those, in their order, also where the run has nothing for them. Raises BioqaError for
    a question that is not among them, or a document that is no PMID.
    """
    ranked = {
        question: [line.document for line in group[:MAX_ITEMS]]
        for question, group in evaluated_order(lines).items()
    }
    return _responses(ranked, questions)


def judged_responses(
    found: Sequence[Judgement], questions: Sequence[Question] | None = None, least: int = 1
) -> list[Response]:
    """The documents judged ``least`` or better, as a golden file's entries without snippets.

    ``questions`` and errors as in ``run_responses``.
    """
    relevant: dict[str, list[str]] = {}
    for judgement in found:
        documents = relevant.setdefault(judgement.question, [])
        if judgement.relevance >= least:
            documents.append(judgement.document)
    return _responses(relevant, questions)


def pmid(url: str) -> str:
    """The PMID of a document's URL. Raises BioqaError if it is not of BioASQ's form."""
    number = url.removeprefix(PUBMED_URL)
    if number == url or not PMID.fullmatch(number):
        raise BioqaError(f"the document {shown(url)} is not {PUBMED_URL} and a PMID")
    return number


def _responses(documents: dict[str, list[str]], questions: Sequence[Question] | None) -> list[Response]:
    if questions is None:
        questions = [Question(identifier, "") for identifier in documents]
    known = {question.id for question in questions}
    for identifier, pmids in documents.items():
        if identifier not in known:
            raise BioqaError(f"the question {shown(identifier)} is not in the test set")
        for each in pmids:
            if not PMID.fullmatch(each):
                raise BioqaError(f"question {shown(identifier)}: the document {shown(each)} is no PMID")
    return [
        Response(question, tuple(PUBMED_URL + each for each in documents.get(question.id, ())), ())
        for question in questions
    ]


def _text(path: str | Path) -> str:
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BioqaError(f"{path}: not UTF-8: byte {error.start} ({error.reason})") from error


def _lines(text: str, name: str, fields: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Each line's fields, with the words that place it. Lines without any are left out."""
    # Not str.split: an id may hold what only Unicode takes for white space or for the end of a line.
    for number, line in enumerate(text.split("\n"), start=1):
        found = SPACES.split(line.strip(" \t\r"))
        if found == [""]:
            continue
        where = f"{name}, line {number}"
        if len(found) != len(fields):
            raise BioqaError(
                f"{where}: must have {len(fields)} fields ({', '.join(fields)}), but has {len(found)}"
            )
        yield where, found


def _check_new(seen: set[tuple[str, str]], question: str, document: str, where: str) -> None:
    if (question, document) in seen:
        raise BioqaError(f"{where}: the document {shown(document)} stands for its question a second time")
    seen.add((question, document))


def _check_name(kind: str, name: str) -> None:
    if not name or any(character.isspace() or not character.isprintable() for character in name):
        raise BioqaError(
            f"{kind} {shown(name)}: must have characters but no white space to stand in a TREC file"
        )


def _written(score: float) -> str:
    """The shortest text that single precision reads as the same number."""
    return str(np.float32(score))
