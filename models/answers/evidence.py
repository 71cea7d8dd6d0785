"""Whether an answer answers at all: a probability from what the question and the best documents share.

A logistic regression over evidence that means the same for every ranker and index: shares of the question's
words, weighted by their IDF in biomedical English, that the best documents and sentences have; the ranker's
calibrated sentence scores; and whether the question is in another language. ``bench.confidence`` fits and
measures it: docs/confidence.md.
"""

import json
import math
import re
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from functools import cache
from itertools import accumulate, islice
from pathlib import Path

import numpy as np

from bioqa.bioasq.domain import Document
from bioqa.models.answers import answered
from bioqa.models.answers.confidence import Confidence, Level
from bioqa.models.answers.ranking import RankedDocument, Ranking
from bioqa.models.answers.selection import Calibration, probability
from bioqa.models.text.background import Background, background
from bioqa.models.text.words import stem, terms
from bioqa.system.characters import fold
from bioqa.system.identification import foreign_language
from bioqa.system.language import Language

FITTED = Path(__file__).with_name("confidence.json")
"""Coefficients and thresholds, as ``bench.confidence`` writes them."""

DOCUMENTS = 10
"""Best documents that are looked at."""


RARE = 6.0
"""IDF from which an everyday word is rare in biomedical English: about one citation in 400."""

ASKING = frozenset(
    """
    act affect best contain define describe difference different exist explain find give happen implicated
    include involve kind know known list main mean name occur play please present purpose related stand tell
    two three type use used utilized way acronym example
    """.split()  # noqa: SIM905
)
"""Words by which questions are put, and which articles that answer them need not have. Stemmed below."""

_WORD = re.compile(r"[^\W_]+")
_ASKING_STEMS = frozenset(map(stem, ASKING))


@dataclass(frozen=True, slots=True)
class AnswerEvidence:
    """What the estimate is made from. Shares are of the IDF of the question's distinct stems."""

    first_share: float
    """What the first document has."""
    best_share: float
    """What the document with most has."""
    mean_share: float
    """The mean over the documents."""
    found_share: float
    """What the documents have together."""
    sentence_share: float
    """What the sentence with most has."""
    found_mass: float
    """log(1 + IDF) of what the document with most has: of two complete matches, the longer tells more."""
    asked_mass: float
    """log(1 + IDF) of the whole question."""
    unknown_share: float
    """Words that neither the documents nor biomedical English have."""
    everyday_share: float
    """Words of everyday English that are rare in biomedical English: wheel, recipe."""
    sentence_score: float
    """The highest sentence score of the first document, as snippets are selected by."""
    foreign: float
    """1 if the question is in another language."""

    def vector(self) -> list[float]:
        return [getattr(self, field.name) for field in fields(self)]


@dataclass(frozen=True, slots=True)
class Estimator:
    """The fitted model: the log odds are ``offset`` and the sum of ``weights`` times evidence."""

    offset: float
    weights: Mapping[str, float]
    unlikely_below: float
    likely_from: float

    def log_odds(self, evidence: AnswerEvidence) -> float:
        return self.offset + sum(
            weight * float(getattr(evidence, name)) for name, weight in self.weights.items()
        )

    def level(self, probability: float) -> Level:
        if probability < self.unlikely_below:
            return "unlikely"
        return "likely" if probability >= self.likely_from else "doubtful"


@cache
def load_estimator() -> Estimator:
    """The estimator that is bundled, read once."""
    return Estimator(**json.loads(FITTED.read_text(encoding="utf-8"))["model"])


def confidence(
    question: str, ranking: Ranking, calibration: Calibration, *, answered_by: str | None = None
) -> Confidence:
    """How likely the ranking's best documents answer the question. Takes about half a millisecond.

    ``answered_by``: the words that were searched for and ranked by, if not the question as it was asked.
    """
    language = foreign_language(question, is_known)
    if not ranking.documents:
        return Confidence(0.0, "unlikely", language)
    estimator = load_estimator()
    signs = evidence(answered_by or question, ranking, calibration, language)
    # Rounded as it is shown, so that the level agrees with what is seen. The tanh does not overflow.
    estimate = round(0.5 * (1.0 + math.tanh(0.5 * estimator.log_odds(signs))), 3)
    level = estimator.level(estimate)
    # Learned of rankers that read sentences once: a cascade's log-weights mean something else.
    is_cascade = ranking.documents[0].first is not None
    if calibration.aptness and level != "unlikely" and not is_cascade:
        # That the documents fit is not enough: one of the first sentences is to answer.
        best = ranking.documents[:DOCUMENTS]
        stands = answered.standing(best, calibration, signs.sentence_share, signs.sentence_score)
        estimate = min(estimate, round(answered.load().probability(stands), 3))
        if level == "likely" and estimate < answered.load().likely_from:
            level = "doubtful"
    return Confidence(estimate, level, language)


def is_known(word: str) -> bool:
    """Whether biomedical English has the word."""
    stemmed = stem(word)
    return not stemmed or stemmed in background().idf


def evidence(
    question: str,
    ranking: Ranking,
    calibration: Calibration,
    language: Language | None,
) -> AnswerEvidence:
    """Compare the question with the best documents of its ranking."""
    rarities = background()
    weights = _weigh_stems(question, rarities)
    total = max(sum(weights.values()), 1e-6)
    best = ranking.documents[:DOCUMENTS]
    sentences = _find_stems([ranked.document for ranked in best], weights.keys())
    documents = [frozenset[str]().union(*of_document) for of_document in sentences]
    by_document = [_mass(document, weights) for document in documents]
    by_sentence = [_mass(sentence, weights) for of_document in sentences for sentence in of_document]
    together = frozenset[str]().union(*documents)
    shares = np.array(by_document or [0.0]) / total
    return AnswerEvidence(
        first_share=float(shares[0]),
        best_share=float(shares.max()),
        mean_share=float(shares.mean()),
        found_share=_mass(together, weights) / total,
        sentence_share=max(by_sentence, default=0.0) / total,
        found_mass=math.log1p(max(by_document, default=0.0)),
        asked_mass=math.log1p(total),
        unknown_share=sum(weights[s] for s in weights if s not in rarities.idf and s not in together) / total,
        everyday_share=everyday_share(question),
        sentence_score=_sentence_score(best[:1], calibration),
        foreign=float(language is not None),
    )


def _weigh_stems(question: str, rarities: Background) -> dict[str, float]:
    """The question's distinct stems with their IDF, without those of stop words and, if others are left, of
    words by which questions are put."""
    stems = dict.fromkeys(stemmed for term in terms(question) if (stemmed := stem(term)))
    telling = [stemmed for stemmed in stems if stemmed not in _ASKING_STEMS]
    return {stemmed: rarities.weight(stemmed) for stemmed in telling or stems}


def everyday_share(question: str) -> float:
    """The share of everyday words in the question, as in ``AnswerEvidence``."""
    rarities = background()
    weights = {
        term: rarities.weight(stemmed)
        for term in terms(question)
        if (stemmed := stem(term)) and stemmed not in _ASKING_STEMS
    }
    everyday = (weight for term, weight in weights.items() if weight >= RARE and term in rarities.everyday)
    return sum(everyday) / max(sum(weights.values()), 1e-6)


def _find_stems(documents: Sequence[Document], stems: Collection[str]) -> list[list[set[str]]]:
    """Which of the stems each sentence of each document has.

    They are looked for in the text, which takes a fifth of the time that stemming every word would.
    """
    texts = [fold(text.lower()) for document in documents for text in document.sentence_texts()]
    begins = [0, *accumulate(len(text) + 1 for text in texts)]
    joined = "\n".join(texts)
    stems_of: list[set[str]] = [set() for _ in texts]
    for stemmed in stems:
        beginning = _beginning(stemmed)
        at = joined.find(beginning)
        while at >= 0:
            after = at + 1
            if not joined[at - 1 : at].isalnum() and stem(_whole_word(joined, at)) == stemmed:
                number = bisect_right(begins, at) - 1
                stems_of[number].add(stemmed)
                after = begins[number + 1]
            at = joined.find(beginning, after)
    sentences = iter(stems_of)
    return [[*islice(sentences, document.sentence_count)] for document in documents]


def _beginning(stemmed: str) -> str:
    """What the words of a stem begin with: therapi is the stem of therapy, use that of using, possibl that of
    possibility. Only dying and lying, of die and lie, begin otherwise."""
    return stemmed[:-1] if len(stemmed) > 1 and stemmed.endswith(("i", "e", "bl")) else stemmed


def _whole_word(text: str, at: int) -> str:
    match = _WORD.match(text, at)
    return match.group() if match else ""


def _mass(stems: Set[str], weights: Mapping[str, float]) -> float:
    return sum(weights[stemmed] for stemmed in weights.keys() & stems)


def _sentence_score(documents: Sequence[RankedDocument], calibration: Calibration) -> float:
    scores = [probability(document.sentence_scores, calibration).max(initial=0.0) for document in documents]
    # A ranker that fails may score NaN, which is not to be passed on.
    return float(np.nan_to_num(max(scores, default=0.0)))
