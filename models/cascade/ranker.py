"""A cascade: a cheap ranker orders all candidates, an encoder reads the sentences of the best.

How much is read depends on the question, the candidates and a budget in milliseconds, but not on the clock:
the budget is converted to word pieces by a speed that was measured once and is stored with the checkpoint. So
a busy machine answers later, but gives the same answer. Documents are read in the first ranker's order until
one does not fit, so a longer budget reads all that a shorter one does, and more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from bioqa.bioasq.domain import DEPTH, Candidate, Document
from bioqa.models.answers.aptness import Aptness, apply_aptness, columns
from bioqa.models.answers.meaning import without_cosines
from bioqa.models.answers.ranking import RankedDocument, Ranking
from bioqa.models.answers.scale import Scale
from bioqa.models.answers.selection import Calibration, log_weights
from bioqa.models.arrays import Floats, Ints
from bioqa.models.cascade.encoder import CrossEncoder, Passage
from bioqa.models.encoders.encoder import processor_has_bfloat16
from bioqa.models.reranker import Reranker
from bioqa.models.text.tokens import tokenise_question
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.system.errors import BioqaError

BUDGET_MS = 1000.0


class CascadeError(BioqaError):
    """A cascade's folder or one of its settings is not valid."""


@dataclass(frozen=True, slots=True)
class Combination:
    """How the scores of both rankers, all logits, are combined, and how much is read. Tuned on dev."""

    document_weight: float = 0.5
    """Weight of a document's best sentence, added to the first ranker's score of the document."""
    sentence_weight: float = 0.0
    """Weight of the first ranker's score of a sentence, added to the encoder's."""
    unread_scale: float = 1.0
    """Scale and offset of the least-squares line that maps the first ranker's sentence scores onto the
    encoder's scale, for sentences that it did not read."""
    unread_offset: float = 0.0
    relevance_weight: float = 0.0
    """Weight of the encoder's logit of the document, added to the first ranker's score of the document."""
    unread_relevance_scale: float = 0.0
    """Scale and offset of the line that maps the first ranker's scores of documents onto those logits, for
    documents that the encoder did not read."""
    unread_relevance_offset: float = 0.0
    most_documents: int = 0
    """Documents that are read at most, whatever the budget; 0: no limit."""
    most_sentences: int = 0
    """Sentences of a document that are read at most: those that the first ranker scores highest; 0: all."""

    def __post_init__(self) -> None:
        for setting in fields(self):
            value = getattr(self, setting.name)
            if not isinstance(value, int | float) or isinstance(value, bool) or not isfinite(value):
                raise CascadeError(f"{setting.name} {value!r} is not a number")
        for name in ("most_documents", "most_sentences"):
            value = getattr(self, name)
            if type(value) is not int or value < 0:
                raise CascadeError(f"{name} {value!r} is not a whole number from 0")

    def apply(self, first: Sequence[RankedDocument], reading: "EncoderReading") -> list[RankedDocument]:
        """New scores for the documents, in the first ranker's order, the first of which were read."""
        documents = []
        for position, document in enumerate(first):
            cheap = np.array(document.sentence_scores, dtype=np.float64)
            relevance = self.unread_relevance_scale * document.score + self.unread_relevance_offset
            scores = self.unread_scale * cheap + self.unread_offset
            if position < len(reading.scores):
                read = reading.scores[position]
                scores = np.where(np.isnan(read), scores, read + self.sentence_weight * cheap)
                # A document without sentences has nothing that could be read.
                relevance = reading.relevance[position] if len(scores) else relevance
            best = float(scores.max()) if len(scores) else 0.0
            score = document.score + self.document_weight * best + self.relevance_weight * relevance
            documents.append(RankedDocument(document.document, score, tuple(scores.tolist()), first=document))
        return documents


@dataclass(frozen=True, slots=True)
class Speed:
    """A question's cost: ``fixed_ms`` for the first ranker, then the encoder's word pieces a millisecond."""

    fixed_ms: float
    pieces_per_ms: float
    threads: int
    half_precision: bool = False
    """Whether a CPU reads in bfloat16: faster, but scores differ in the second decimal."""

    def __post_init__(self) -> None:
        if not (0 <= self.fixed_ms < float("inf") and 0 < self.pieces_per_ms < float("inf")):
            raise CascadeError(f"speed {self.fixed_ms} ms, {self.pieces_per_ms} pieces a ms: not above 0")

    def pieces(self, budget_ms: float) -> int:
        """The word pieces that may be read in that time."""
        return max(0, int((budget_ms - self.fixed_ms) * self.pieces_per_ms))


@dataclass(frozen=True, slots=True)
class EncoderReading:
    """The encoder's results for the documents that it read."""

    scores: list[Floats]
    """Logits of each document's sentences; NaN for those that were not read."""
    relevance: list[float]
    """Logit of each document: of its best passage; 0 for a document without sentences."""
    costs: list[int]
    """Word pieces that each document took."""
    truncated: int
    """Sentences that were read in part."""


@dataclass(frozen=True, slots=True)
class TunedCascade:
    """What is measured and tuned after both rankers are trained."""

    combination: Combination
    speed: Speed
    calibration: Calibration
    """Scalars of the selection of sentences."""


class Cascade:
    """Ranks like ``bioqa.models.reranker.Reranker``; thread-safe as that is."""

    reads_pieces = True

    def __init__(
        self,
        first: Reranker,
        reader: CrossEncoder,
        tuned: TunedCascade,
        *,
        name: str,
        fingerprint: str = "",
        record: Mapping[str, Any] | None = None,
        budget_ms: float = BUDGET_MS,
        aptness: Aptness | None = None,
    ) -> None:
        """``aptness``: a second reading that was fitted to this cascade, with ``CASCADE_COLUMNS``."""
        self.name = name
        self.aptness = aptness
        self.first = first
        self.reader = reader.eval()
        read_as_served(reader, half_precision=tuned.speed.half_precision)
        self.combination = tuned.combination
        self.speed = tuned.speed
        self.calibration = tuned.calibration
        self.budget_ms = _budget(budget_ms)
        self.record = dict(record or {})
        self.fingerprint = fingerprint
        """Hash of the files."""

    @property
    def hash(self) -> str:
        """Hash of the files, the budget and the speed, as all of them change the answers."""
        return sha256(f"{self.fingerprint} {self.budget_ms} {self.speed}".encode()).hexdigest()

    @property
    def scale(self) -> Scale | None:
        """What its scores mean, if that was fitted."""
        return Scale.from_dict(self.record.get("scale"))

    @property
    def config(self) -> Mapping[str, Any]:
        return {
            "settings": {
                "ranker": "cascade",
                "budget_ms": self.budget_ms,
                "pieces": self.speed.pieces(self.budget_ms),
            },
            "combination": asdict(self.combination),
            "speed": asdict(self.speed),
            "calibration": asdict(self.calibration),
            "first": {"name": self.first.name, "hash": self.first.hash, **self.first.config},
            **{name: value for name, value in self.record.items() if name != "curve"},
        }

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        """All candidates, best first. ``truncated_sentences`` counts those that the encoder read in part."""
        # What was fitted beside the encoder's scores are the first ranker's without what meaning adds.
        first = self.first.score_many([(question, without_cosines(candidates))])[0].documents
        combination = self.combination
        readable = first[: combination.most_documents or None]
        reading = self.read(question, readable, self.speed.pieces(self.budget_ms), combination.most_sentences)
        ranked = combination.apply(first, reading)
        ranked.sort(key=lambda document: -document.score)
        return self.read_again(question, Ranking(tuple(ranked), reading.truncated))

    def rank_many(self, items: Sequence[tuple[str, Sequence[Candidate]]]) -> list[Ranking]:
        """``rank`` for each in turn."""
        return [self.rank(question, candidates) for question, candidates in items]

    def read_again(self, question: str, ranking: Ranking) -> Ranking:
        """As the first ranker does, with this one's calibration; or by this one's own second reading."""
        if self.aptness is None or not self.calibration.aptness or not ranking.documents:
            return self.first.read_again(question, ranking, self.calibration)
        supported, rows = self.columns(question, ranking)
        return apply_aptness(supported, self.aptness, rows, question)

    def columns(self, question: str, ranking: Ranking) -> tuple[Ranking, Floats]:
        """``CASCADE_COLUMNS`` of the sentences of a ranking's ten best documents, of which there is one.

        And the ranking with these documents' support. It is the first ranker's, which reads them again, too.
        """
        best = ranking.documents[:DEPTH]
        firsts = sorted((ranked.first or ranked for ranked in best), key=lambda ranked: -ranked.score)
        read = self.first.read_again(question, Ranking(tuple(firsts))).documents
        by_pmid = {ranked.document.pmid: ranked for ranked in read}
        firsts = [by_pmid[ranked.document.pmid] for ranked in best]
        best = tuple(
            replace(ranked, support=first.support, first=first)
            for ranked, first in zip(best, firsts, strict=True)
        )
        rows = columns(
            question,
            tokenise_question(question, self.vocabulary),
            best,
            self.first.tokens([ranked.document for ranked in best]),
            self.vocabulary,
            self.calibration,
        )
        weights = np.concatenate([log_weights(first, self.first.calibration) for first in firsts])
        supported = replace(ranking, documents=(*best, *ranking.documents[DEPTH:]))
        return supported, np.column_stack([rows, weights])

    @property
    def vocabulary(self) -> Vocabulary:
        """The first ranker's."""
        return self.first.vocabulary

    def read_stored_tokens(self, folder: Path) -> None:
        """As the first ranker's."""
        self.first.read_stored_tokens(folder)

    def candidates(self, question: str, documents: Sequence[Document]) -> list[Candidate]:
        """As the first ranker's."""
        return self.first.candidates(question, documents)

    def read(
        self, question: str, documents: Sequence[RankedDocument], pieces: float, most_sentences: int = 0
    ) -> EncoderReading:
        """Logits of the sentences of the first documents, within ``pieces`` word pieces.

        ``most_sentences`` of each, those that the first ranker scores highest; 0: all.
        """
        passages: list[list[Passage]] = []
        chosen: list[Ints] = []
        for ranked in documents:
            places = _highest(ranked.sentence_scores, most_sentences)
            texts = ranked.document.sentence_texts()
            of_document = self.reader.passages(question, [texts[position] for position in places])
            pieces -= sum(passage.cost for passage in of_document)
            if pieces < 0:
                break
            passages.append(of_document)
            chosen.append(places)
        read = [ranked.document for ranked in documents[: len(passages)]]
        flat = [passage for of_document in passages for passage in of_document]
        sentences, of_passages = self._logits(question, read, chosen, flat)
        scores = []
        for document, places in zip(read, chosen, strict=True):
            scores.append(np.full(document.sentence_count, np.nan))
            scores[-1][places], sentences = sentences[: len(places)], sentences[len(places) :]
        by_document = (
            np.split(of_passages, np.cumsum([len(of_document) for of_document in passages])[:-1])
            if read
            else []
        )
        relevance = [float(logits.max()) if len(logits) else 0.0 for logits in by_document]
        costs = [sum(passage.cost for passage in of_document) for of_document in passages]
        return EncoderReading(
            scores, relevance, costs, sum(p.truncated for of_document in passages for p in of_document)
        )

    def _logits(
        self,
        question: str,
        documents: Sequence[Document],
        chosen: Sequence[Ints],
        passages: Sequence[Passage],
    ) -> tuple[Floats, Floats]:
        """Logits of the documents' chosen sentences, and of all passages."""
        if not passages:
            return np.zeros(0), np.zeros(0)
        loaded = self.first.checkpoint
        # Only sentence features are used, which do not depend on first-stage scores: 0 will do.
        _, features = self.first.example(question, [Candidate(document, 0.0) for document in documents])
        scaled = loaded.scaling.apply(features, loaded.settings.reading.features).sentences
        begins = np.cumsum([0, *(len(document.sentences) for document in documents)])
        rows = [places + begin for places, begin in zip(chosen, begins, strict=False)]
        return self.reader.score(passages, scaled[np.concatenate(rows)])


def _highest(scores: Sequence[float], most: int) -> Ints:
    """[≤ most] places of the highest scores, in ascending order; of equal ones, the first; 0: all."""
    order = np.argsort(-np.array(scores, dtype=np.float64), kind="stable")
    places: Ints = np.sort(order[: most or None])
    return places


def read_as_served(reader: CrossEncoder, *, half_precision: bool) -> None:
    """Make an encoder on a CPU read each passage alone, in bfloat16 if it is wanted and the processor has it.

    Alone, a passage takes no longer there, and no other one changes its last digits.
    """
    if reader.encoder.device.type == "cpu":
        reader.encoder.budget = 1
        if half_precision and processor_has_bfloat16():
            reader.encoder.halve()


def _budget(budget_ms: float) -> float:
    if not 0 <= budget_ms < float("inf"):
        raise CascadeError(f"a budget of {budget_ms} ms is not 0 or above")
    return budget_ms
