"""TREC's formats: runs (``qid Q0 docno rank score tag``) and judgements (``qid 0 docno relevance``).

trec_eval ignores the second column and the rank of a run's line: it sorts documents by descending score in
single precision, and those with equal scores by descending document number, compared as text. Runs written
here keep their order under this rule: a score that is not below the one before it, in single precision, is
lowered to the next smaller number.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from bioqa.bioasq.domain import MOST_DOCUMENTS, PUBMED_URL, Question, Response
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import read_bytes, show

PMID = re.compile(r"[1-9][0-9]{0,17}")
PUBMED_FORMS = re.compile(
    r"(?:https?://(?:(?:www\.)?ncbi\.nlm\.nih\.gov/(?:m/)?pubmed|pubmed\.ncbi\.nlm\.nih\.gov)/)?"
    r"([1-9][0-9]{0,17})/?",
    re.IGNORECASE | re.ASCII,
)
"""A PMID alone, or in one of the URLs that PubMed has had."""
INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
NUMBER = re.compile(r"[+-]?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
LARGEST = float(np.finfo(np.float32).max)
Line = TypeVar("Line")

SPACES = re.compile(r"[ \t]+")


@dataclass(frozen=True, slots=True)
class RunLine:
    question: str
    document: str
    """TREC's docno: here, a PMID."""
    rank: int
    """Position among the question's lines; what a file says in this column is not read."""
    score: float
    """In single precision."""
    tag: str

    def __str__(self) -> str:
        return f"{self.question} Q0 {self.document} {self.rank} {_format_score(self.score)} {self.tag}"


@dataclass(frozen=True, slots=True)
class Judgement:
    question: str
    document: str
    relevance: int

    def __str__(self) -> str:
        return f"{self.question} 0 {self.document} {self.relevance}"


def run_lines(question: str, documents: Iterable[tuple[str, float]], tag: str) -> Iterator[RunLine]:
    """Yield the lines of a run for one question's documents, best first.

    Raises BioqaError if a name contains white space, or a score is out of single precision's range.
    """
    _check_name("question id", question)
    _check_name("tag", tag)
    previous = np.float32(np.inf)
    for rank, (document, score) in enumerate(documents, start=1):
        _check_name("document", document)
        if not math.isfinite(score) or abs(score) > LARGEST:
            raise BioqaError(f"question {show(question)}: the score {score} cannot be written in a TREC run")
        single = np.float32(score)
        if single >= previous:
            single = np.nextafter(previous, np.float32(-np.inf))
        previous = single
        yield RunLine(question, document, rank, float(single), tag)


def submission_run(responses: Iterable[Response], tag: str) -> Iterator[RunLine]:
    """Yield a run for responses, which have no scores: a list's last document gets 1, the one before 2.

    Raises BioqaError, naming the question, for a document that is not a PMID, alone or in a URL of PubMed.
    """
    for response in responses:
        try:
            pmids = list(dict.fromkeys(pmid(document) for document in response.documents))
            scored = ((pmid, float(len(pmids) - index)) for index, pmid in enumerate(pmids))
            yield from run_lines(response.question.id, scored, tag)
        except BioqaError as error:
            raise BioqaError(f"question {show(response.question.id)}: {error}") from error


def judgements(golden: Iterable[Response]) -> Iterator[Judgement]:
    """Yield relevance 1 for every golden document. Raises BioqaError as ``submission_run`` does."""
    for response in golden:
        _check_name("question id", response.question.id)
        try:
            pmids = dict.fromkeys(pmid(document) for document in response.documents)
        except BioqaError as error:
            raise BioqaError(f"question {show(response.question.id)}: {error}") from error
        yield from (Judgement(response.question.id, pmid, 1) for pmid in pmids)


def read_run(path: str | Path) -> list[RunLine]:
    """Read a run, plain or gzip, in the file's order. Raises BioqaError, naming file, line and field, and for
    a file without lines, which an earlier step has failed to fill."""
    return _some(parse_run(decode(read_bytes(path), str(path)), str(path)), path)


def parse_run(text: str, name: str) -> list[RunLine]:
    """Parse a run. Raises BioqaError, in which ``name`` stands for the text, for an invalid line."""
    lines: list[RunLine] = []
    seen: set[tuple[str, str]] = set()
    ranks: Counter[str] = Counter()
    for where, fields in _lines(text, name, ("question", "Q0", "document", "rank", "score", "tag")):
        question, _, document, _, score, tag = fields
        value = float(score) if NUMBER.fullmatch(score) else math.inf
        if not abs(value) <= LARGEST:
            raise BioqaError(f"{where}: score: must be a number of single precision, not {show(score)}")
        _check_new(seen, question, document, where)
        ranks[question] += 1
        lines.append(RunLine(question, document, ranks[question], float(np.float32(value)), tag))
    return lines


def read_judgements(path: str | Path) -> list[Judgement]:
    """Read judgements as ``read_run`` reads a run."""
    return _some(parse_judgements(decode(read_bytes(path), str(path)), str(path)), path)


def parse_judgements(text: str, name: str) -> list[Judgement]:
    """Parse judgements. Raises BioqaError, in which ``name`` stands for the text, for an invalid line."""
    parsed: list[Judgement] = []
    seen: set[tuple[str, str]] = set()
    for where, (question, _, document, relevance) in _lines(
        text, name, ("question", "iteration", "document", "relevance")
    ):
        if not INTEGER.fullmatch(relevance):
            raise BioqaError(f"{where}: relevance: must be an integer, not {show(relevance)}")
        _check_new(seen, question, document, where)
        parsed.append(Judgement(question, document, int(relevance)))
    return parsed


def evaluated_order(lines: Iterable[RunLine]) -> dict[str, list[RunLine]]:
    """Group a run by question, in the order of first lines; each group is sorted as trec_eval sorts it."""
    grouped: dict[str, list[RunLine]] = {}
    for line in lines:
        grouped.setdefault(line.question, []).append(line)
    for group in grouped.values():
        group.sort(key=lambda line: (np.float32(line.score), line.document), reverse=True)
    return grouped


def run_responses(lines: Sequence[RunLine], questions: Sequence[Question] | None = None) -> list[Response]:
    """Convert a run into entries of a submission, without snippets: each question's ten best documents.

    With ``questions``, the result has exactly these, in this order, even if the run has no documents for
    them. Raises BioqaError for a question that is not among them, or a document that is not a PMID.
    """
    ranked = {
        question: [line.document for line in group[:MOST_DOCUMENTS]]
        for question, group in evaluated_order(lines).items()
    }
    return _responses(ranked, questions)


def judged_responses(
    judged: Sequence[Judgement], questions: Sequence[Question] | None = None, least: int = 1
) -> list[Response]:
    """Convert judgements into entries of a golden file, without snippets.

    Documents of relevance ``least`` or more are golden.

    ``questions`` and errors as in ``run_responses``.
    """
    relevant: dict[str, list[str]] = {}
    for judgement in judged:
        documents = relevant.setdefault(judgement.question, [])
        if judgement.relevance >= least:
            documents.append(judgement.document)
    return _responses(relevant, questions)


def pmid(document: str) -> str:
    """Return the PMID of a document: of its URL in one of PubMed's forms, or the PMID itself.

    Raises BioqaError for anything else."""
    match = PUBMED_FORMS.fullmatch(document)
    if match is None:
        raise BioqaError(f"the document {show(document)} is neither a PMID nor a URL of PubMed")
    return match[1]


def _responses(documents: dict[str, list[str]], questions: Sequence[Question] | None) -> list[Response]:
    if questions is None:
        questions = [Question(identifier, "") for identifier in documents]
    ids = {question.id for question in questions}
    for identifier, pmids in documents.items():
        if identifier not in ids:
            raise BioqaError(f"the question {show(identifier)} is not in the test set")
        for pmid in pmids:
            if not PMID.fullmatch(pmid):
                raise BioqaError(f"question {show(identifier)}: the document {show(pmid)} is not a PMID")
    return [
        Response(question, tuple(PUBMED_URL + pmid for pmid in documents.get(question.id, ())), ())
        for question in questions
    ]


def _some(lines: list[Line], path: str | Path) -> list[Line]:
    if not lines:
        raise BioqaError(f"{path}: has no lines")
    return lines


def decode(content: bytes, name: str) -> str:
    """The text of a file. Raises BioqaError, in which ``name`` stands for it, if it is not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BioqaError(f"{name}: not UTF-8: byte {error.start} ({error.reason})") from error


def _lines(text: str, name: str, fields: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each line's fields, with its location for error messages. Blank lines are skipped."""
    # Not str.split or splitlines: ids may contain characters that only Unicode counts as white space.
    for number, line in enumerate(text.split("\n"), start=1):
        values = SPACES.split(line.strip(" \t\r"))
        if values == [""]:
            continue
        where = f"{name}, line {number}"
        if len(values) != len(fields):
            raise BioqaError(
                f"{where}: must have {len(fields)} fields ({', '.join(fields)}), but has {len(values)}"
            )
        yield where, values


def _check_new(seen: set[tuple[str, str]], question: str, document: str, where: str) -> None:
    if (question, document) in seen:
        raise BioqaError(f"{where}: duplicate document {show(document)} for this question")
    seen.add((question, document))


def _check_name(kind: str, name: str) -> None:
    if not name or any(character.isspace() or not character.isprintable() for character in name):
        raise BioqaError(f"{kind} {show(name)}: must not be empty or contain white space in a TREC file")


def _format_score(score: float) -> str:
    """Format a score as the shortest text that reads as the same number in single precision."""
    return str(np.float32(score))
