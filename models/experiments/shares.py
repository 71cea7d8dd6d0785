"""Shares of the data: what a run that cannot read everything is trained and measured on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from bioqa.bioasq.errors import BioqaError
from bioqa.models.arrays import Ints
from bioqa.models.features.extractor import Features
from bioqa.models.training.data import Pool, Prepared
from bioqa.models.training.sampling import sample


@dataclass(frozen=True, slots=True)
class Share:
    """How much of the data a run reads. 0 stands for all of it."""

    train_questions: int = 0
    """At random, the same for every run."""
    irrelevant: int = 0
    """Of a training question's irrelevant candidates, how many for each relevant one, at random."""
    watched: int = 0
    """Development questions by which training stops early, at random."""
    dev_questions: int = 0
    """Development questions that the selection is calibrated on, at random."""
    test_questions: int = 0
    """Questions of each collection that are measured, at random."""
    candidates: int = 0
    """BM25's best, which are put in a new order; the others stay behind them."""

    def __post_init__(self) -> None:
        for setting in fields(self):
            value = getattr(self, setting.name)
            if type(value) is not int or value < 0:
                raise BioqaError(f"{setting.name} {value!r} is not a whole number from 0")

    def train(self, questions: Sequence[Prepared]) -> list[Prepared]:
        chosen = sample(questions, self.train_questions)
        if not self.irrelevant:
            return chosen
        return [_with_few_irrelevant(question, self.irrelevant) for question in chosen]

    def dev(self, questions: Sequence[Prepared]) -> list[Prepared]:
        return self.measured(sample(questions, self.dev_questions))

    def test(self, questions: Sequence[Prepared]) -> list[Prepared]:
        return self.measured(sample(questions, self.test_questions))

    def measured(self, questions: Iterable[Prepared]) -> list[Prepared]:
        if not self.candidates:
            return list(questions)
        return [
            replace(q, retrieved=take(q.retrieved, np.arange(len(q.retrieved.candidates))[: self.candidates]))
            for q in questions
        ]


def take(pool: Pool, documents: Ints) -> Pool:
    """These documents of a pool, in this order, with their features as they were among all."""
    counts = np.array([len(tokens.word_counts) for tokens in pool.tokens], dtype=np.int64)
    starts = np.cumsum(counts) - counts
    rows = np.concatenate(
        [np.zeros(0, dtype=np.int64), *(np.arange(starts[d], starts[d] + counts[d]) for d in documents)]
    )
    return Pool(
        tuple(pool.candidates[d] for d in documents),
        tuple(pool.tokens[d] for d in documents),
        Features(pool.features.documents[documents], pool.features.sentences[rows]),
        pool.relevant[documents],
        pool.labels[rows],
    )


def _with_few_irrelevant(question: Prepared, each: int) -> Prepared:
    """The same ones whatever other questions the share has."""
    pool = question.retrieved
    relevant, irrelevant = np.flatnonzero(pool.relevant), np.flatnonzero(~pool.relevant)
    generator = np.random.default_rng(list(question.response.question.id.encode()))
    drawn = generator.permutation(irrelevant)[: each * len(relevant)]
    return replace(question, retrieved=take(pool, np.sort(np.concatenate([relevant, drawn]))))
