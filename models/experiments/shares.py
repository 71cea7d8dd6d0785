"""Shares of the data, for components that are too slow for all of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from bioqa.models.arrays import Ints
from bioqa.models.features.extractor import Features
from bioqa.models.training.data import Pool, Prepared
from bioqa.models.training.sampling import sample
from bioqa.system.errors import BioqaError


@dataclass(frozen=True, slots=True)
class Share:
    """How much of the data a component is trained and measured on. 0: all of it."""

    train_questions: int = 0
    """Training questions: a random sample, the same for every component."""
    irrelevant: int = 0
    """Random irrelevant candidates of a training question for each relevant one."""
    watched: int = 0
    """Development questions for early stopping: a random sample."""
    dev_questions: int = 0
    """Development questions for calibrating the selection: a random sample."""
    test_questions: int = 0
    """Questions of each collection to measure on: a random sample."""
    candidates: int = 0
    """BM25's best documents, which are re-ranked; the others are dropped."""

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
        return self.keep_measured(sample(questions, self.dev_questions))

    def test(self, questions: Sequence[Prepared]) -> list[Prepared]:
        return self.keep_measured(sample(questions, self.test_questions))

    def keep_measured(self, questions: Iterable[Prepared]) -> list[Prepared]:
        if not self.candidates:
            return list(questions)
        return [
            replace(q, retrieved=take(q.retrieved, np.arange(len(q.retrieved.candidates))[: self.candidates]))
            for q in questions
        ]


def take(pool: Pool, documents: Ints) -> Pool:
    """These documents of a pool, in this order; features stay as computed among all candidates."""
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


def _with_few_irrelevant(question: Prepared, most: int) -> Prepared:
    """The draw depends on the question alone, not on the others of the share."""
    pool = question.retrieved
    relevant, irrelevant = np.flatnonzero(pool.relevant), np.flatnonzero(~pool.relevant)
    generator = np.random.default_rng(list(question.response.question.id.encode()))
    drawn = generator.permutation(irrelevant)[: most * len(relevant)]
    return replace(question, retrieved=take(pool, np.sort(np.concatenate([relevant, drawn]))))
