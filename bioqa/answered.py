"""An answer: its documents and snippets as objects, rows for a data frame, BioASQ's JSON, and HTML."""

from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from bioqa.app.answers import answering
from bioqa.app.answers.emptied import LeftOut
from bioqa.app.answers.facets import Facets
from bioqa.app.answers.understood import Understood
from bioqa.bioasq.domain import Document, Question, Response, Section, Sentence
from bioqa.bioasq.files import submission_dict
from bioqa.models.answers.confidence import Confidence


@dataclass(frozen=True, slots=True)
class AnswerDocument:
    """A document of an answer. Its score is the probability that it answers, if ``Answer.calibrated``.

    If not, it orders this answer's documents and means nothing outside of it.
    """

    rank: int
    """From 1, or from ``offset`` + 1."""
    score: float
    document: Document
    raw_score: float
    """The ranker's own score: most rankers' are logits. It orders this answer's documents."""

    @property
    def pmid(self) -> str:
        return self.document.pmid

    @property
    def title(self) -> str:
        return self.document.title

    @property
    def abstract(self) -> str:
        return self.document.abstract

    @property
    def published(self) -> date | None:
        return self.document.published

    @property
    def url(self) -> str:
        """As BioASQ names it."""
        return self.document.url


@dataclass(frozen=True, slots=True)
class AnswerSnippet:
    """A sentence of an answer. Its score is the probability that it answers, if ``Answer.calibrated``.

    If not, it is in [0, 1] too, and comparable within this answer only.
    """

    rank: int
    """From 1."""
    score: float
    document: Document
    sentence: Sentence
    raw_score: float
    """The score by which it was selected, in [0, 1]; it orders this answer's snippets."""

    @property
    def pmid(self) -> str:
        return self.document.pmid

    @property
    def section(self) -> Section:
        return self.sentence.section

    @property
    def begin(self) -> int:
        """Where it begins in the section's text, in Unicode code points from 0."""
        return self.sentence.begin

    @property
    def end(self) -> int:
        """Where it ends, exclusive."""
        return self.sentence.end

    @property
    def text(self) -> str:
        return self.document.sentence_text(self.sentence)


class Answer:
    """The documents and snippets for a question, best first. In a notebook it shows itself."""

    def __init__(self, answer: answering.Answer) -> None:
        self._answer = answer

    @property
    def question(self) -> Question:
        return self._answer.question

    @property
    def documents(self) -> tuple[AnswerDocument, ...]:
        return tuple(
            AnswerDocument(rank, each.score, each.document, each.own_score)
            for rank, each in enumerate(self._answer.documents, start=self._answer.options.offset + 1)
        )

    @property
    def snippets(self) -> tuple[AnswerSnippet, ...]:
        return tuple(
            AnswerSnippet(rank, each.score, each.document, each.sentence, each.own_score)
            for rank, each in enumerate(self._answer.sentences, start=1)
        )

    @property
    def index(self) -> str:
        """The name of the index that was searched."""
        return self._answer.index

    @property
    def ranker(self) -> str:
        return self._answer.ranker

    @property
    def ranker_hash(self) -> str:
        """SHA-256 of the ranker's files."""
        return self._answer.ranker_hash

    @property
    def interpretation(self) -> Understood | None:
        """What was searched for instead of the question, or beside it; None if it was taken as it is.

        ``words``, ``restriction`` and ``identifiers`` of PubMed's notation, ``corrections`` of misspelt
        words, and ``expansions``: other spellings, abbreviations, names, synonyms.

        >>> index = bioqa.open_index("sample-index")
        >>> answer = bioqa.ask("Which genes influence the dose of warfarrin?", index)
        >>> answer.interpretation.corrections
        (Correction(word='warfarrin', correction='warfarin'),)
        """
        return self._answer.understood

    @property
    def next_offset(self) -> int | None:
        """The ``offset`` of further results; None if there are none."""
        return self._answer.next_offset

    @property
    def facets(self) -> Facets | None:
        """Numbers of documents among the best 1,000, if they were asked for: ``years``, ``types``, …

        >>> index = bioqa.open_index("sample-index")
        >>> bioqa.ask("Which genes influence the dose of warfarin?", index, facets=True).facets.types[0]
        ('Journal Article', 59)
        """
        return self._answer.facets

    @property
    def emptied(self) -> tuple[LeftOut, ...]:
        """If filters leave no document: each ``filter``, its ``condition``, and the number of ``documents``
        that would be found without it."""
        return self._answer.emptied

    @property
    def timings_ms(self) -> dict[str, float]:
        """Milliseconds: ``retrieve``, ``rerank``, ``select`` and their ``total``.

        >>> index = bioqa.open_index("sample-index")
        >>> answer = bioqa.ask("Which genes influence the dose of warfarin?", index)
        >>> list(answer.timings_ms)
        ['retrieve', 'rerank', 'select', 'total']
        """
        timings = self._answer.timings_ms
        return {
            "retrieve": timings.retrieve,
            "rerank": timings.rerank,
            "select": timings.select,
            "total": round(timings.total, 3),
        }

    @property
    def calibrated(self) -> bool:
        """Whether scores are calibrated probabilities; those of all bundled rankers are."""
        return self._answer.calibrated

    @property
    def truncated_sentences(self) -> int:
        """Sentences that the ranker read only in part."""
        return self._answer.truncated_sentences

    @property
    def confidence(self) -> Confidence | None:
        """Whether the documents answer the question: ``probability``, ``level`` and ``caution`` in words.

        >>> index = bioqa.open_index("sample-index")
        >>> bioqa.ask("How do I change the oil of a motorbike?", index).confidence.level
        'unlikely'
        """
        return self._answer.confidence

    def response(self) -> Response:
        """The answer as an entry of a submission."""
        return self._answer.response()

    def as_bioasq(self) -> dict[str, Any]:
        """The answer as JSON's objects with BioASQ's keys: an entry of a submission's ``questions``.

        >>> index = bioqa.open_index("sample-index")
        >>> answer = bioqa.ask("Which genes influence the dose of warfarin?", index)
        >>> sorted(answer.as_bioasq())
        ['body', 'documents', 'id', 'snippets']
        >>> answer.as_bioasq()["documents"][0]
        'http://www.ncbi.nlm.nih.gov/pubmed/90000032'
        """
        questions: Any = submission_dict([self.response()])["questions"]
        return dict(questions[0])

    def documents_rows(self) -> list[dict[str, Any]]:
        """A dict for each document, for ``pandas.DataFrame(rows)`` and the like.

        >>> index = bioqa.open_index("sample-index")
        >>> answer = bioqa.ask("Which genes influence the dose of warfarin?", index)
        >>> list(answer.documents_rows()[0])
        ['question', 'rank', 'pmid', 'standing', 'title', 'published', 'score', 'url']
        """
        return [
            {
                "question": self.question.id,
                "rank": each.rank,
                "pmid": each.pmid,
                "standing": each.document.metadata.standing.value,
                "title": each.title,
                "published": each.published,
                "score": each.score,
                "url": each.url,
            }
            for each in self.documents
        ]

    def snippets_rows(self) -> list[dict[str, Any]]:
        """A dict for each snippet.

        >>> index = bioqa.open_index("sample-index")
        >>> answer = bioqa.ask("Which genes influence the dose of warfarin?", index)
        >>> list(answer.snippets_rows()[0])
        ['question', 'rank', 'pmid', 'standing', 'section', 'begin', 'end', 'text', 'score']
        """
        return [
            {
                "question": self.question.id,
                "rank": each.rank,
                "pmid": each.pmid,
                "standing": each.document.metadata.standing.value,
                **asdict(each.sentence),
                "text": each.text,
                "score": each.score,
            }
            for each in self.snippets
        ]

    def _repr_html_(self) -> str:
        from bioqa.notebook import answer_html

        return answer_html(self._answer)

    def __repr__(self) -> str:
        question = self.question.body
        return f"<Answer to {question!r}: {len(self.documents)} documents, {len(self.snippets)} snippets>"
