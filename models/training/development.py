"""Development questions: a ranker's scores of them, and the measures of these scores."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from bioqa.models.answers.calibration import calibrate
from bioqa.models.answers.evaluation import SentenceCase, mean_average_precision, sentence_auc
from bioqa.models.answers.ranking import Ranking, ranking
from bioqa.models.arrays import Floats
from bioqa.models.features.extractor import stemmed_bm25
from bioqa.models.rankers.batch import Example, collate
from bioqa.models.rankers.registry import place_of
from bioqa.models.training.data import Prepared, RankerInputs


@dataclass(frozen=True, slots=True)
class PoolScores:
    """A ranker's scores of one question."""

    documents: Floats
    """[retrieved documents]"""
    sentences: Floats
    """[sentences of all retrieved documents]; empty for a ranker of documents alone"""
    gold_sentences: Floats
    """[sentences of all gold documents]; likewise"""


class Development:
    """Development questions as one ranker's input, prepared once and measured after every epoch."""

    def __init__(self, questions: Sequence[Prepared], inputs: RankerInputs) -> None:
        self.questions = questions
        self._vocabulary = inputs.vocabulary
        self._documents_only = inputs.documents_only
        self._retrieved = [inputs.example(q, q.retrieved) for q in questions]
        self._gold = [inputs.example(q, q.gold) for q in questions]

    def scores(self, model: nn.Module) -> list[PoolScores]:
        model.eval()
        scored = []
        for retrieved, gold in zip(self._retrieved, self._gold, strict=True):
            documents, sentences = self._forward(model, retrieved)
            within = sentences[:0] if self._documents_only else self._forward(model, gold)[1]
            scored.append(PoolScores(documents, sentences, within))
        return scored

    def served_scores(self, model: nn.Module) -> list[PoolScores]:
        """``scores``, with the lexical sentence scores that are served for a ranker of documents alone."""
        scored = self.scores(model)
        if not self._documents_only:
            return scored
        return [
            PoolScores(s.documents, stemmed_bm25(q.retrieved.features), stemmed_bm25(q.gold.features))
            for q, s in zip(self.questions, scored, strict=True)
        ]

    def _forward(self, model: nn.Module, example: Example) -> tuple[Floats, Floats]:
        if not len(example.unit_counts):
            return np.zeros(0, dtype=np.float32), np.zeros(0, dtype=np.float32)
        with torch.inference_mode():
            scores = model(collate([example], self._vocabulary).to(place_of(model)))
        return scores.documents.cpu().numpy(), scores.sentences.cpu().numpy()

    def measure(self, model: nn.Module) -> tuple[dict[str, float], float]:
        """Document MAP (edition 8), snippet F1 after calibration, AUC within gold documents; and their mean.

        Rankers of documents alone are measured by document MAP.
        """
        scored = self.scores(model)
        documents = document_map(self.questions, [s.documents for s in scored])
        if self._documents_only:
            return {"document_map": documents}, documents
        auc = gold_auc(self.questions, [s.gold_sentences for s in scored])
        rankings = rankings_of(self.questions, scored)
        f1 = calibrate(rankings, [q.response for q in self.questions])[1]
        named = {"document_map": documents, "snippet_f1": f1, "sentence_auc": auc}
        return named, float(np.mean(list(named.values())))


def rankings_of(questions: Sequence[Prepared], scored: Sequence[PoolScores]) -> list[Ranking]:
    return [
        ranking(q.retrieved.candidates, s.documents, s.sentences)
        for q, s in zip(questions, scored, strict=True)
    ]


def document_map(questions: Sequence[Prepared], scores: Sequence[Floats]) -> float:
    by_rank = [
        q.retrieved.relevant[np.argsort(-s, kind="stable")] for q, s in zip(questions, scores, strict=True)
    ]
    return mean_average_precision(by_rank, [len(set(q.response.documents)) for q in questions])


def gold_auc(questions: Sequence[Prepared], scores: Sequence[Floats]) -> float:
    areas = gold_areas(questions, scores)
    return float(np.mean([*areas.values()])) if areas else 0.0


def gold_areas(questions: Sequence[Prepared], scores: Sequence[Floats]) -> dict[str, float]:
    """AUC of each gold document with relevant and irrelevant sentences, by question id and PMID."""
    areas = {}
    for question, of_question in zip(questions, scores, strict=True):
        ends = np.cumsum([len(tokens.word_counts) for tokens in question.gold.tokens])[:-1]
        split = zip(np.split(of_question, ends), np.split(question.gold.labels, ends), strict=True)
        for candidate, (of_document, labels) in zip(question.gold.candidates, split, strict=False):
            if labels.any() and not labels.all():
                key = f"{question.response.question.id} {candidate.document.pmid}"
                areas[key] = sentence_auc([SentenceCase(of_document, labels)])
    return areas
