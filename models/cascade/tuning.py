"""Tuning a cascade: how two rankers' scores become one, chosen on development questions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from bioqa.models.answers.calibration import calibrate
from bioqa.models.answers.evaluation import SentenceCase, mean_average_precision, sentence_auc
from bioqa.models.answers.ranking import RankedDocument, Ranking
from bioqa.models.answers.selection import Calibration
from bioqa.models.arrays import Booleans, Floats
from bioqa.models.cascade.ranker import Cascade, Combination, EncoderReading
from bioqa.models.training.data import Prepared

DOCUMENT_WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2)
RELEVANCE_WEIGHTS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
SENTENCE_WEIGHTS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0)


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """A development question with both rankers' scores, which ``Combination`` is tuned on."""

    prepared: Prepared
    first: tuple[RankedDocument, ...]
    reading: EncoderReading

    def labels(self) -> list[Booleans]:
        """For each document that was read, which of its sentences are relevant."""
        pool = self.prepared.retrieved
        ends = np.cumsum([len(c.document.sentences) for c in pool.candidates])[:-1]
        split = zip(pool.candidates, np.split(pool.labels, ends), strict=True)
        by_url = {candidate.document.url: labels for candidate, labels in split}
        return [by_url[d.document.url] for d in self.first[: len(self.reading.scores)]]


def read_questions(
    cascade: Cascade,
    questions: Sequence[Prepared],
    documents: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
    sentences: int = 0,
) -> list[ReadQuestion]:
    """Read the first ranker's best documents, and of each its best sentences (0: all)."""
    read = []
    for done, question in enumerate(questions, 1):
        body = question.response.question.body.strip()
        first = cascade.first.rank(body, question.retrieved.candidates).documents
        reading = cascade.read(body, first[:documents], float("inf"), sentences)
        read.append(ReadQuestion(question, first, reading))
        progress(done, len(questions))
    return read


def tune(questions: Sequence[ReadQuestion], pieces: int) -> tuple[Combination, Calibration, dict[str, Any]]:
    """The combination with the highest mean of document MAP and snippet F1 if ``pieces`` are read.

    The weight of the first ranker's sentence scores is chosen first, by AUC within relevant documents. Of the
    two weights of documents, those with a MAP within .01 of the highest are tried with snippets.
    """
    weights = {weight: sentence_weight_auc(questions, weight) for weight in SENTENCE_WEIGHTS}
    sentence_weight = max(weights, key=lambda weight: weights[weight])
    line = straight_line(*_sentence_scores(questions, sentence_weight))
    of_documents = straight_line(*_document_scores(questions))
    golden = [q.prepared.response for q in questions]
    tried = []
    for weight, relevance in product(DOCUMENT_WEIGHTS, RELEVANCE_WEIGHTS):
        combination = Combination(weight, sentence_weight, *line, relevance, *of_documents)
        rankings = [ranking_of(q, combination, pieces) for q in questions]
        tried.append((document_map(questions, rankings), combination))
    highest = max(value for value, _ in tried)
    best: tuple[float, Combination, Calibration, dict[str, Any]] | None = None
    for value, combination in tried:
        if value < highest - 0.01:
            continue
        rankings = [ranking_of(q, combination, pieces) for q in questions]
        calibration, f1 = calibrate(rankings, golden)
        if best is None or value + f1 > best[0]:
            scores = {"document_map": value, "snippet_f1": f1, "sentence_auc": weights[sentence_weight]}
            best = value + f1, combination, calibration, scores
    assert best is not None
    return best[1:]


def ranking_of(question: ReadQuestion, combination: Combination, pieces: float) -> Ranking:
    """The ranking that ``Cascade.rank`` gives if this many word pieces may be read."""
    reading = question.reading
    fit = int(np.searchsorted(np.cumsum(reading.costs), pieces, side="right"))
    ranked = combination.apply(question.first, replace(reading, scores=reading.scores[:fit]))
    ranked.sort(key=lambda document: -document.score)
    return Ranking(tuple(ranked))


def sentence_weight_auc(questions: Sequence[ReadQuestion], weight: float) -> float:
    """AUC within the relevant documents that were read."""
    line = straight_line(*_sentence_scores(questions, weight))
    combination = Combination(sentence_weight=weight, unread_scale=line[0], unread_offset=line[1])
    return sentence_auc(
        [
            SentenceCase(np.array(document.sentence_scores), labels)
            for q in questions
            for document, labels in zip(
                combination.apply(q.first[: len(q.reading.scores)], q.reading), q.labels(), strict=True
            )
        ]
    )


def straight_line(cheap: Floats, read: Floats) -> tuple[float, float]:
    """The least-squares line from the first ranker's scores to the encoder's: scale, offset."""
    if len(cheap) < 2 or float(cheap.std()) < 1e-9:
        return 1.0, 0.0
    scale = float(np.cov(cheap, read, bias=True)[0, 1] / cheap.var())
    return scale, float(read.mean() - scale * cheap.mean())


def _sentence_scores(questions: Sequence[ReadQuestion], sentence_weight: float) -> tuple[Floats, Floats]:
    """The first ranker's and the combined ones, of all sentences that were read."""
    pairs = [
        (np.array(d.sentence_scores)[~np.isnan(scores)], scores[~np.isnan(scores)])
        for q in questions
        for d, scores in zip(q.first, q.reading.scores, strict=False)
    ]
    cheap = np.concatenate([np.zeros(0), *(x for x, _ in pairs)])
    return cheap, np.concatenate([np.zeros(0), *(y for _, y in pairs)]) + sentence_weight * cheap


def _document_scores(questions: Sequence[ReadQuestion]) -> tuple[Floats, Floats]:
    """The first ranker's and the encoder's, of all documents that were read."""
    pairs = [
        (document.score, relevance)
        for q in questions
        for document, relevance in zip(q.first, q.reading.relevance, strict=False)
    ]
    return np.array([x for x, _ in pairs]), np.array([y for _, y in pairs])


def document_map(questions: Sequence[ReadQuestion], rankings: Sequence[Ranking]) -> float:
    gold = [set(q.prepared.response.documents) for q in questions]
    by_rank = [
        np.array([d.document.url in of_question for d in ranking.documents], dtype=np.bool_)
        for ranking, of_question in zip(rankings, gold, strict=True)
    ]
    return mean_average_precision(by_rank, [len(of_question) for of_question in gold])
