"""An answer: documents and snippets, best first, where they come from, and what is to be known of them.

What is told of an answer is told by these dataclasses in every face: ``POST /v1/search`` has them as its
schema, and Python hands them out as they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from pydantic import computed_field

from bioqa.app.answers.emptied import LeftOut
from bioqa.app.answers.explaining import Explanation
from bioqa.app.answers.facets import Facets
from bioqa.app.answers.fusion import FoundBy
from bioqa.app.answers.question import DEFAULT_OPTIONS, Options
from bioqa.app.answers.understood import Understood, understood
from bioqa.bioasq.domain import Document, Question, Response, Section, Sentence
from bioqa.indexer.search.notation.interpretation import Interpretation
from bioqa.indexer.search.questions.reading import Reading
from bioqa.models.answers.confidence import Confidence
from bioqa.models.answers.ranking import RankedDocument, RankedSentence, Selection
from bioqa.models.answers.roles import Role
from bioqa.system.schema import DESCRIBED_BY_DOCSTRINGS


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Milliseconds of each stage. For questions ranked together, ``rerank`` is the whole batch's time."""

    __pydantic_config__ = DESCRIBED_BY_DOCSTRINGS

    wait: float = 0.0
    """In the queues before retrieval and before ranking."""
    retrieve: float
    vectors: float = 0.0
    """Part of ``retrieve``: finding by meaning; 0 if words alone were searched for."""
    rerank: float
    select: float

    @computed_field  # type: ignore[prop-decorator]  # as pydantic documents it
    @property
    def total(self) -> float:
        return round(self.wait + self.retrieve + self.rerank + self.select, 3)


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
    found_by: FoundBy | None = None
    """Its ranks by words and by meaning; None if words alone were searched for."""

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

    @property
    def standing(self) -> str:
        return self.document.metadata.standing.value


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
    role: Role | None = None
    """What it does in its abstract: aim, background, method, result or conclusion; None for titles."""

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

    @property
    def standing(self) -> str:
        """The document's."""
        return self.document.metadata.standing.value


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The documents and snippets for a question, best first."""

    question: Question
    options: Options = DEFAULT_OPTIONS
    selection: Selection
    """As the ranker left them; ``documents`` and ``snippets`` are made of it."""
    index: str
    """The name of the index that was searched; empty for texts that came with the question."""
    ranker: str
    ranker_hash: str
    """SHA-256 of the ranker's files."""
    timings_ms: Timings
    candidates: int
    """Number of documents that were found and that the ranker read."""
    truncated_sentences: int = 0
    """Sentences that the ranker read only in part."""
    calibrated: bool = False
    """Whether scores are calibrated probabilities, which are comparable between answers."""
    degraded: str | None = None
    """Reason why BM25 replaced the ranker; None normally."""
    condensed: str | None = None
    """The words by which a long question was answered; None if it was answered as it was asked."""
    confidence: Confidence | None = None
    """Whether the documents answer the question; None for texts that came with it.

    >>> index = bioqa.open_index("sample-index")
    >>> bioqa.ask("How do I change the oil of a motorbike?", index).confidence.level
    'unlikely'
    """
    notation: Interpretation | None = None
    """The tags, operators or identifiers that were recognised; None if there are none."""
    reading: Reading | None = None
    """How the words of the question were read; None if they were taken literally."""
    next_offset: int | None = None
    """The ``offset`` of further results; None if there are none."""
    fitting: int | None = None
    """With ``order`` date: how many of the candidates fit the question; these alone are sorted by date. None
    by relevance, and if the ranker's scores are no probabilities."""
    facets: Facets | None = None
    """Numbers of documents among the best 1,000, if they were asked for: ``years``, ``types``, …

    >>> index = bioqa.open_index("sample-index")
    >>> bioqa.ask("Which genes influence the dose of warfarin?", index, facets=True).facets.types[0]
    Counted(value='Journal Article', documents=59)
    """
    emptied: tuple[LeftOut, ...] = ()
    """If filters leave no document: each ``filter``, its ``condition``, and the number of ``documents`` that
    would be found without it."""
    explanation: Explanation | None = None
    """Where the article that was to be explained stands; None if documents are only listed."""
    found_by: Mapping[str, FoundBy] = field(default_factory=dict)
    """By PMID: each candidate's ranks by words and by meaning; empty if words alone were searched for."""
    by_words: str | None = None
    """Reason why words alone found the candidates, though vectors were to be used; None normally."""

    @property
    def documents(self) -> tuple[AnswerDocument, ...]:
        return tuple(
            AnswerDocument(
                rank,
                ranked.score,
                ranked.document,
                ranked.own_score,
                self.found_by.get(ranked.document.pmid),
            )
            for rank, ranked in enumerate(self.ranked_documents, start=self.options.offset + 1)
        )

    @property
    def snippets(self) -> tuple[AnswerSnippet, ...]:
        return tuple(
            AnswerSnippet(rank, ranked.score, ranked.document, ranked.sentence, ranked.own_score, ranked.role)
            for rank, ranked in enumerate(self.selection.sentences, start=1)
        )

    @property
    def ranked_documents(self) -> tuple[RankedDocument, ...]:
        """The documents with the scores of all their sentences."""
        return self.selection.documents

    @property
    def ranked_sentences(self) -> tuple[RankedSentence, ...]:
        return self.selection.sentences

    @property
    def interpretation(self) -> Understood | None:
        """What was searched for instead of the question, or beside it; None if it was taken as it is.

        ``words``, ``restriction`` and ``identifiers`` of PubMed's notation, ``corrections`` of misspelt
        words, and ``expansions``: other spellings, abbreviations, synonyms.

        >>> index = bioqa.open_index("sample-index")
        >>> answer = bioqa.ask("Which genes influence the dose of warfarrin?", index)
        >>> answer.interpretation.corrections
        (CorrectedWord(word='warfarrin', correction='warfarin'),)
        """
        return understood(self.notation, self.reading)

    @property
    def is_listed(self) -> bool:
        """Whether nothing was ranked: the question has restrictions only, or names articles."""
        return self.notation is not None and not self.notation.words

    def response(self) -> Response:
        """The answer as an entry of a submission."""
        return self.selection.response(self.question)
