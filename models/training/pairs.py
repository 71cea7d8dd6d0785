"""Pairs to learn from: a relevant candidate and irrelevant ones of the same question."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from bioqa.models.arrays import Booleans
from bioqa.models.rankers.batch import Example
from bioqa.models.text.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class TrainingQuestion:
    """A question's candidates with their labels."""

    example: Example
    relevant: Booleans
    """[documents]"""
    labels: Booleans
    """[sentences]"""
    sentence_counts: tuple[int, ...]
    """[documents]"""


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """Training questions, and the vocabulary of their word ids."""

    questions: Sequence[TrainingQuestion]
    vocabulary: Vocabulary


@dataclass(frozen=True, slots=True)
class Pair:
    """Indices of a question and of its candidates."""

    question: int
    relevant: int
    irrelevant: tuple[int, ...]


def draw_pairs(
    questions: Sequence[TrainingQuestion],
    generator: np.random.Generator,
    irrelevant_documents: int = 1,
    *,
    documents_only: bool = False,
) -> list[Pair]:
    """Each relevant candidate with random irrelevant ones of its question, shuffled.

    Relevant candidates without a positive sentence are dropped unless ``documents_only``: they would teach a
    ranker of sentences that none of theirs is relevant.
    """
    pairs = []
    for number, question in enumerate(questions):
        irrelevant = np.flatnonzero(~question.relevant)
        if not len(irrelevant):
            continue
        ends = np.cumsum(question.sentence_counts)
        for document in np.flatnonzero(question.relevant).tolist():
            end = int(ends[document])
            if documents_only or question.labels[end - question.sentence_counts[document] : end].any():
                drawn = generator.choice(irrelevant, irrelevant_documents)
                pairs.append(Pair(number, document, tuple(drawn.tolist())))
    return [pairs[i] for i in generator.permutation(len(pairs))]


def pair_labels(questions: Sequence[TrainingQuestion], pairs: Sequence[Pair]) -> tuple[Tensor, Tensor]:
    """Labels of all sentences, and weights by which several irrelevant documents count as one."""
    labels, weights = [], []
    for pair in pairs:
        question = questions[pair.question]
        ends = np.cumsum(question.sentence_counts)
        for document in (pair.relevant, *pair.irrelevant):
            end, count = int(ends[document]), question.sentence_counts[document]
            labels.append(question.labels[end - count : end])
            weights.append(np.full(count, 1.0 if document == pair.relevant else 1 / len(pair.irrelevant)))
    return torch.from_numpy(np.concatenate(labels)).float(), torch.from_numpy(np.concatenate(weights)).float()
