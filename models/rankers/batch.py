"""What a ranker's ``forward`` takes: questions padded with an explicit mask, text units packed.

A text unit is a sentence, or a whole document for rankers of documents. Units are packed rather than padded,
because their lengths differ widely (1 to 400 words): no work is done on padding, and no score depends on it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from bioqa.models.arrays import Ints, concatenate
from bioqa.models.encoders.inputs import Pieces
from bioqa.models.features.extractor import Features
from bioqa.models.text.tokens import TokenisedDocument, TokenisedQuestion
from bioqa.models.text.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Example:
    """One question with some of its candidates, as arrays; features are scaled.

    Words without a vector are excluded, so a unit may be empty. If an encoder reads word by word, words
    without a state are excluded instead, and ids of words unknown to the vocabulary are negative.
    """

    question: Ints
    """[terms] word ids"""
    words: Ints
    """[words of all units]"""
    word_counts: Ints
    """[units]"""
    unit_counts: Ints
    """[documents] units of each"""
    features: Features
    """Of documents, and of sentences (as many as units, or none where the units are documents)."""
    pieces: Pieces | None = None
    """For rankers over an encoder."""

    def take(self, documents: Sequence[int]) -> "Example":
        """The same question with only these candidates, in this order."""
        last_units = np.cumsum(self.unit_counts)
        ends = np.concatenate([[0], np.cumsum(self.word_counts)])
        units = [(int(last_units[d] - self.unit_counts[d]), int(last_units[d])) for d in documents]
        sentences = self.features.sentences
        if len(sentences):
            sentences = np.concatenate([sentences[b:e] for b, e in units])
        pieces = self.pieces
        if pieces is not None:
            taken = tuple(unit for b, e in units for unit in pieces.units[b:e])
            pieces = Pieces(pieces.question, taken, pieces.by_word)
        return Example(
            self.question,
            concatenate(self.words[ends[b] : ends[e]] for b, e in units),
            concatenate(self.word_counts[b:e] for b, e in units),
            self.unit_counts[list(documents)],
            Features(self.features.documents[list(documents)], sentences),
            pieces,
        )


def sentence_example(
    question: TokenisedQuestion,
    documents: Sequence[TokenisedDocument],
    features: Features,
    pieces: Pieces | None = None,
) -> Example:
    """An example whose units are the documents' sentences."""
    return _example(
        question,
        documents,
        concatenate(d.word_counts for d in documents),
        np.array([len(d.word_counts) for d in documents], dtype=np.int64),
        features,
        pieces,
    )


def document_example(
    question: TokenisedQuestion,
    documents: Sequence[TokenisedDocument],
    features: Features,
    pieces: Pieces | None = None,
) -> Example:
    """An example with one unit a document: title and abstract."""
    return _example(
        question,
        documents,
        np.array([len(d.words) for d in documents], dtype=np.int64),
        np.ones(len(documents), dtype=np.int64),
        Features(features.documents, features.sentences[:0]),
        pieces,
    )


def _example(
    question: TokenisedQuestion,
    documents: Sequence[TokenisedDocument],
    lengths: Ints,
    unit_counts: Ints,
    features: Features,
    pieces: Pieces | None,
) -> Example:
    words = concatenate(d.words for d in documents)
    units = np.repeat(np.arange(len(lengths)), lengths)
    asked, known = question.words, words
    if pieces is not None and pieces.by_word:
        asked, known = pieces.question.firsts, concatenate(unit.firsts for unit in pieces.units)
    has_word = known >= 0
    return Example(
        question.words[asked >= 0],
        words[has_word],
        np.bincount(units[has_word], minlength=len(lengths)).astype(np.int64),
        unit_counts,
        features,
        pieces,
    )


@dataclass(frozen=True, slots=True)
class Packing:
    """Time-major order of packed units: all first words, then all second words, …, longest unit first.

    In that order the units that have a t-th word are a prefix of all units, so pooling over words is a loop
    over t of operations on whole slices.
    """

    order: Tensor
    """[words] packed index of the word at each time-major place"""
    steps: tuple[int, ...]
    """How many units have a t-th word, for t = 0, 1, …"""
    rows: Tensor
    """[words] unit of the word at each time-major place, by its rank in the longest-first order"""
    units: Tensor
    """[units] the unit at each rank of the longest-first order"""

    @classmethod
    def of(cls, lengths: Ints) -> "Packing":
        longest_first = np.argsort(-lengths, kind="stable")
        sorted_lengths = lengths[longest_first]
        starts = (np.cumsum(lengths) - lengths)[longest_first]
        time = np.arange(int(sorted_lengths[0]) if len(lengths) else 0)
        steps = np.searchsorted(-sorted_lengths, -time, side="left")
        grid = starts[:, None] + time
        has_word = time[:, None] < sorted_lengths
        order, rows = grid.T[has_word], np.nonzero(has_word)[1]
        units = torch.from_numpy(longest_first)
        return cls(torch.from_numpy(order), tuple(steps.tolist()), torch.from_numpy(rows), units)


@dataclass(frozen=True, slots=True)
class Batch:
    """B questions with D documents of S units in all; a question's and a document's units are consecutive."""

    questions: Tensor
    """[B, n] word ids, 0 where masked"""
    mask: Tensor
    """[B, n] True for terms"""
    idf: Tensor
    """[B, n]"""
    words: Tensor
    """[words] word ids of all units, packed"""
    lengths: Tensor
    """[S] words of each unit"""
    question_words: tuple[int, ...]
    """[B] words of all units of each question"""
    unit_question: Tensor
    """[S] which question a unit belongs to"""
    unit_document: Tensor
    """[S] which document a unit belongs to"""
    document_features: Tensor
    """[D, document features]"""
    sentence_features: Tensor
    """[S, sentence features]; [0, …] where the units are documents"""
    packing: Packing
    pieces: tuple[Pieces, ...]
    """[B] for rankers over an encoder, else none"""


def collate(examples: Sequence[Example], vocabulary: Vocabulary) -> Batch:
    """Put examples into one batch. A question without a known term gets one masked place."""
    width = max(1, max(len(e.question) for e in examples))
    questions = np.zeros((len(examples), width), dtype=np.int64)
    mask = np.zeros((len(examples), width), dtype=np.bool_)
    for row, example in enumerate(examples):
        questions[row, : len(example.question)] = example.question
        mask[row, : len(example.question)] = True
    lengths = concatenate(e.word_counts for e in examples)
    unit_counts = concatenate(e.unit_counts for e in examples)
    units = np.array([len(e.word_counts) for e in examples])
    return Batch(
        questions=torch.from_numpy(questions),
        mask=torch.from_numpy(mask),
        idf=torch.from_numpy(np.where(mask, vocabulary.idf_of(questions), np.float32(0))),
        words=torch.from_numpy(concatenate(e.words for e in examples)),
        lengths=torch.from_numpy(lengths),
        question_words=tuple(len(e.words) for e in examples),
        unit_question=torch.from_numpy(np.repeat(np.arange(len(examples)), units)),
        unit_document=torch.from_numpy(np.repeat(np.arange(len(unit_counts)), unit_counts)),
        document_features=torch.from_numpy(np.concatenate([e.features.documents for e in examples])),
        sentence_features=torch.from_numpy(np.concatenate([e.features.sentences for e in examples])),
        packing=Packing.of(lengths),
        pieces=tuple(e.pieces for e in examples if e.pieces is not None),
    )
