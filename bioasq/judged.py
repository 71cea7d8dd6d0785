"""Incomplete judgments: which documents and snippets anybody judged, and condensed lists.

The official measures take whatever is not golden for wrong, also what no judge saw; a system that was not in
the pool loses by it. A condensed list leaves out what nobody judged before it is measured (Sakai,
Alternatives to bpref, 2007). The official measures themselves stay as they are.

A golden file says what was judged in the key ``judged`` of its questions, which other readers ignore; TREC
judgements say it with their documents of relevance 0.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bioqa.bioasq.domain import Response, Snippet
from bioqa.bioasq.golden import parse_golden, question_entries
from bioqa.bioasq.inputs import is_trec
from bioqa.bioasq.overlap import pmid_of
from bioqa.bioasq.trec import decode, parse_judgements
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import parse_json, show

KEY = "judged"

OLD_ABSTRACT = "sections.0"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a snippet is: begin inclusive, end exclusive."""

    pmid: str
    section: str
    begin: int
    end: int

    @classmethod
    def of(cls, snippet: Snippet) -> "Place":
        section = "abstract" if snippet.begin_section == OLD_ABSTRACT else snippet.begin_section
        return cls(pmid_of(snippet.document), section, snippet.begin, snippet.end)

    def covers(self, other: "Place") -> bool:
        """Whether they share at least half of the shorter one."""
        if (self.pmid, self.section) != (other.pmid, other.section):
            return False
        shared = min(self.end, other.end) - max(self.begin, other.begin)
        return shared > 0 and 2 * shared >= min(self.end - self.begin, other.end - other.begin)


@dataclass(frozen=True, slots=True)
class Judged:
    """What was judged for a question, whatever the judgments were."""

    pmids: frozenset[str]
    places: tuple[Place, ...]

    def has_document(self, document: str) -> bool:
        return pmid_of(document) in self.pmids

    def has_snippet(self, snippet: Snippet) -> bool:
        place = Place.of(snippet)
        return any(judged.covers(place) for judged in self.places)


@dataclass(frozen=True, slots=True)
class Unjudged:
    """How much of what a system shows nobody judged, over the questions whose judgments are known."""

    documents: int
    shown_documents: int
    snippets: int
    shown_snippets: int

    @property
    def document_share(self) -> float:
        return self.documents / self.shown_documents if self.shown_documents else 0.0

    @property
    def snippet_share(self) -> float:
        return self.snippets / self.shown_snippets if self.shown_snippets else 0.0

    def __str__(self) -> str:
        return (
            f"shown but not judged: documents {self.documents} of {self.shown_documents} "
            f"({self.document_share:.1%}), snippets {self.snippets} of {self.shown_snippets} "
            f"({self.snippet_share:.1%})"
        )


def parse_judged(content: bytes, name: str) -> dict[str, Judged] | None:
    """What a golden file, or TREC judgements, say of what was judged, by question id; None if they do not.

    ``name`` stands for the file in error messages. Raises BioqaError, as reading the gold does, and for a key
    ``judged`` of another form.
    """
    judged = _from_trec(content, name) if is_trec(content) else _from_json(parse_json(content, name), name)
    return judged or None


def condense(responses: Iterable[Response], judged: Mapping[str, Judged]) -> list[Response]:
    """The responses without what nobody judged; questions whose judgments are not known stay as they are."""
    return [
        replace(
            response,
            documents=tuple(filter(known.has_document, response.documents)),
            snippets=tuple(filter(known.has_snippet, response.snippets)),
        )
        if (known := judged.get(response.question.id))
        else response
        for response in responses
    ]


def count_unjudged(responses: Iterable[Response], judged: Mapping[str, Judged]) -> Unjudged:
    counted = [response for response in responses if response.question.id in judged]
    condensed = condense(counted, judged)
    documents, snippets = (_count(counted, kind) for kind in ("documents", "snippets"))
    return Unjudged(
        documents - _count(condensed, "documents"),
        documents,
        snippets - _count(condensed, "snippets"),
        snippets,
    )


def judged_entry(documents: Iterable[str], snippets: Iterable[Snippet]) -> dict[str, object]:
    """The key ``judged`` of a question: document URLs, and snippets as BioASQ writes them, without texts."""
    return {
        "documents": [*documents],
        "snippets": [
            {
                "document": snippet.document,
                "beginSection": snippet.begin_section,
                "endSection": snippet.end_section,
                "offsetInBeginSection": snippet.begin,
                "offsetInEndSection": snippet.end,
            }
            for snippet in snippets
        ],
    }


def _count(responses: Sequence[Response], kind: str) -> int:
    return sum(len(getattr(response, kind)) for response in responses)


def _from_json(data: object, name: str) -> dict[str, Judged]:
    judged: dict[str, Judged] = {}
    for where, entry in question_entries(data, name):
        if KEY not in entry:
            continue
        of_question = entry[KEY]
        if not isinstance(of_question, dict):
            raise BioqaError(f"{where}: {KEY}: must be an object, not {show(of_question)}")
        items = {key: of_question.get(key) for key in ("documents", "snippets")}
        # The gold was judged, too.
        readings = (entry, {"id": entry.get("id"), **items})
        responses = [
            response
            for reading in readings
            for response in parse_golden({"questions": [reading]}, f"{where}: {KEY}").responses
        ]
        judged[responses[0].question.id] = Judged(
            frozenset(pmid_of(document) for response in responses for document in response.documents),
            tuple(Place.of(snippet) for response in responses for snippet in response.snippets),
        )
    return judged


def _from_trec(content: bytes, name: str) -> dict[str, Judged]:
    """Nothing if every document is relevant: such files list the relevant ones alone."""
    lines = parse_judgements(decode(content, name), name)
    if all(line.relevance > 0 for line in lines):
        return {}
    pmids: dict[str, set[str]] = {}
    for line in lines:
        pmids.setdefault(line.question, set()).add(line.document)
    return {question: Judged(frozenset(documents), ()) for question, documents in pmids.items()}
