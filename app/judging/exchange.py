"""Judgments in other forms: BioASQ golden files, TREC judgements, and lists of judged sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from bioqa.app.judging.judgments import Judgment
from bioqa.app.judging.sheet import ANSWERS, NO, NOT_RELEVANT, RELEVANT, Item, Sheet, SheetQuestion
from bioqa.bioasq.domain import PUBMED_URL, Response, Section, Snippet
from bioqa.bioasq.files import parse_golden, response_dict
from bioqa.bioasq.inputs import is_trec
from bioqa.bioasq.judged import KEY, Judged, Place, judged_entry, parse_judged
from bioqa.bioasq.overlap import pmid_of
from bioqa.bioasq.trec import Judgement, decode, parse_judgements
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import parse_json, shorten

Form = Literal["golden", "qrels", "sentences"]
FORMS: tuple[Form, ...] = ("golden", "qrels", "sentences")

Grades = Mapping[Item, int]


def golden_file(sheet: Sheet, grades: Grades, least: int = ANSWERS) -> dict[str, Any]:
    """A BioASQ golden file: the relevant documents, and the sentences of grade ``least`` or more as snippets.

    The key ``judged`` of each question has all that was judged. Questions without a judgment are left out.
    """
    entries = (_golden_entry(question, grades, least) for question in sheet.questions)
    return {"questions": [entry for entry in entries if entry is not None]}


def _golden_entry(question: SheetQuestion, grades: Grades, least: int) -> dict[str, Any] | None:
    documents = {document.pmid: document for document in question.documents}
    urls: dict[str, int] = {}
    snippets: dict[Snippet, int] = {}
    for item in question.items():
        if item not in grades:
            continue
        if item.sentence is None:
            urls[PUBMED_URL + item.pmid] = grades[item]
        else:
            snippets[documents[item.pmid].snippet(item.sentence)] = grades[item]
    if not urls and not snippets:
        return None
    response = Response(
        question.question,
        tuple(url for url, grade in urls.items() if grade == RELEVANT),
        tuple(snippet for snippet, grade in snippets.items() if grade >= least),
    )
    return {**response_dict(response), KEY: judged_entry(urls, snippets)}


def relevance_judgements(sheet: Sheet, grades: Grades) -> Iterator[Judgement]:
    """TREC judgements of the documents, also of those that are not relevant."""
    for item in sheet.items.values():
        if item.sentence is None and item in grades:
            yield Judgement(item.question, item.pmid, grades[item])


def judged_sentences(sheet: Sheet, grades: Grades) -> list[dict[str, Any]]:
    """Each question with its judged sentences: PMID, section, offsets, grade from 0 to 2."""
    return [
        {
            "id": question.id,
            "body": question.body,
            "judged": [
                _place(item) | {"grade": grades[item]}
                for item in question.items()
                if item.sentence is not None and item in grades
            ],
        }
        for question in sheet.questions
    ]


def contradictions(sheet: Sheet, grades: Grades) -> list[Item]:
    """Sentences that answer, of documents that are judged not relevant."""
    return [
        item
        for item in sheet.items.values()
        if item.sentence is not None
        and grades.get(item) == ANSWERS
        and grades.get(item._replace(sentence=None)) == NOT_RELEVANT
    ]


@dataclass(frozen=True, slots=True)
class Imported:
    """Judgments of a file, as one judge's; and how many of the file's are of nothing on the sheet."""

    judgments: list[Judgment]
    elsewhere: int


def read_judged(content: bytes, name: str, sheet: Sheet, judge: str) -> Imported:
    """Read a golden file, TREC judgements, or a list of judged sentences; the content says which it is.

    Sentences are found by place: half of the shorter one must be shared. A golden file says what is relevant
    and what answers, and in its key ``judged`` what is not or does not; a sentence that only bears on the
    question is none of these. Raises BioqaError, naming the place, for a file of no such form.
    """
    if is_trec(content):
        return _import_trec(content, name, sheet, judge)
    data = parse_json(content, name)
    if isinstance(data, list):
        return _import_sentences(data, name, sheet, judge)
    return _import_golden(data, parse_judged(content, name) or {}, name, sheet, judge)


def _import_trec(content: bytes, name: str, sheet: Sheet, judge: str) -> Imported:
    lines = parse_judgements(decode(content, name), name)
    items = [(sheet.items.get((line.question, line.document)), line.relevance) for line in lines]
    judgments = [
        Judgment(judge, item, RELEVANT if relevance > 0 else NOT_RELEVANT)
        for item, relevance in items
        if item is not None
    ]
    return Imported(judgments, len(lines) - len(judgments))


class _JudgedSentence(BaseModel):
    model_config = ConfigDict(strict=True)

    pmid: str
    section: Section
    begin: int
    end: int
    grade: Literal[0, 1, 2] | None

    def place(self) -> Place:
        return Place(self.pmid, self.section, self.begin, self.end)


class _JudgedQuestion(BaseModel):
    model_config = ConfigDict(strict=True)

    id: str
    judged: list[_JudgedSentence]


def _import_sentences(data: list[object], name: str, sheet: Sheet, judge: str) -> Imported:
    try:
        questions = TypeAdapter(list[_JudgedQuestion]).validate_python(data)
    except ValidationError as error:
        fault = error.errors()[0]
        raise BioqaError(f"{name}: {shorten('.'.join(map(str, fault['loc'])))}: {fault['msg']}") from error
    by_id = {question.id: question for question in sheet.questions}
    judgments, elsewhere = [], 0
    for question in questions:
        places = _places(by_id.get(question.id))
        for sentence in question.judged:
            if sentence.grade is None:
                continue
            items = [item for item, place in places if place.covers(sentence.place())]
            judgments += [Judgment(judge, item, sentence.grade) for item in items]
            elsewhere += not items
    return Imported(judgments, elsewhere)


def _import_golden(
    data: object, judged: Mapping[str, Judged], name: str, sheet: Sheet, judge: str
) -> Imported:
    by_id = {question.id: question for question in sheet.questions}
    judgments, elsewhere = [], 0
    for response in parse_golden(data, name).responses:
        question = by_id.get(response.question.id)
        taken = _golden_judgments(question, response, judged.get(response.question.id), judge)
        judgments += taken
        elsewhere += _count_elsewhere(question, response)
    return Imported(judgments, elsewhere)


def _golden_judgments(
    question: SheetQuestion | None, response: Response, judged: Judged | None, judge: str
) -> list[Judgment]:
    if question is None:
        return []
    relevant = {pmid_of(document) for document in response.documents}
    gold = [Place.of(snippet) for snippet in response.snippets]
    negative = judged or Judged(frozenset(), ())
    judgments = []
    for item, place in _places_of_all(question):
        if place is None:
            if item.pmid in relevant or item.pmid in negative.pmids:
                judgments.append(Judgment(judge, item, RELEVANT if item.pmid in relevant else NOT_RELEVANT))
        elif any(other.covers(place) for other in gold):
            judgments.append(Judgment(judge, item, ANSWERS))
        elif any(other.covers(place) for other in negative.places):
            judgments.append(Judgment(judge, item, NO))
    return judgments


def _count_elsewhere(question: SheetQuestion | None, response: Response) -> int:
    pmids = {document.pmid for document in question.documents} if question else set()
    places = [place for _, place in _places(question)]
    documents = {pmid_of(document) for document in response.documents}
    snippets = [Place.of(snippet) for snippet in response.snippets]
    lost = [snippet for snippet in snippets if not any(place.covers(snippet) for place in places)]
    return len(documents - pmids) + len(lost)


def _places(question: SheetQuestion | None) -> Sequence[tuple[Item, Place]]:
    """The question's sentences on the sheet; none if it has not this question."""
    if question is None:
        return []
    return [(item, place) for item, place in _places_of_all(question) if place is not None]


def _places_of_all(question: SheetQuestion) -> Iterator[tuple[Item, Place | None]]:
    for item in question.items():
        sentence = item.sentence
        place = None if sentence is None else Place(item.pmid, sentence.section, sentence.begin, sentence.end)
        yield item, place


def _place(item: Item) -> dict[str, Any]:
    sentence = item.sentence
    assert sentence is not None
    return {
        "pmid": item.pmid,
        "section": sentence.section,
        "begin": sentence.begin,
        "end": sentence.end,
    }
