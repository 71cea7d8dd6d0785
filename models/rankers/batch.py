"""What a ranker's ``forward`` takes: questions padded with an explicit mask, text units packed.

A text unit is a sentence, or a whole document for rankers of documents. Units are packed rather than padded,
because their lengths differ widely (1 to 400 words): no work is done on padding, and no score depends on it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bioqa.models.arrays import Booleans, Ints, concatenate
from bioqa.models.encoders.inputs import Pieces
from bioqa.models.features.extractor import Features
from bioqa.models.rankers.settings import InputReading, Units, WordReading
from bioqa.models.text.tokens import TokenisedDocument, TokenisedQuestion
from bioqa.models.text.vocabulary import Vocabulary

NO_IDS = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Example:
    """One question with some of its candidates, as arrays; features are scaled.

    Words without a vector are excluded, so a unit may be empty, unless the ranker has a vector for unknown
    words: then their ids are negative. If an encoder reads word by word, words without a state are excluded
    instead, and ids of words unknown to the vocabulary are negative.
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
    """Features of documents, and of sentences (one row a unit, or none where units are documents)."""
    pieces: Pieces | None = None
    """For rankers over an encoder."""
    truncated: int = 0
    """Number of units of which only the first words are read."""

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


def make_example(
    units: Units,
    reading: InputReading,
    question: TokenisedQuestion,
    documents: Sequence[TokenisedDocument],
    features: Features,
    pieces: Pieces | None = None,
    stop_ids: Ints = NO_IDS,
) -> Example:
    """What a ranker of these units reads. ``features``: of the documents and of all of their sentences.
    ``stop_ids``: the vocabulary's, for rankers that do not read them.
    """
    sentences = np.array([len(d.word_counts) for d in documents], dtype=np.int64)
    counts = concatenate(d.word_counts for d in documents)
    words = concatenate(d.words for d in documents)
    owner = (
        np.arange(len(counts)) if units == "sentences" else np.repeat(np.arange(len(documents)), sentences)
    )
    if units == "titles":
        titles = np.concatenate([np.zeros(0, dtype=np.bool_), *(d.titles for d in documents)])
        words = words[np.repeat(titles, counts)]
        counts = counts * titles
    number = len(counts) if units == "sentences" else len(documents)
    words_read, has_word = _readable(reading, pieces, question.words, words, stop_ids)
    lengths = np.bincount(np.repeat(owner, counts)[has_word], minlength=number).astype(np.int64)
    of_units, lengths, truncated = _cut(reading, words[has_word], lengths)
    return Example(
        words_read,
        of_units,
        lengths,
        sentences if units == "sentences" else np.ones(number, dtype=np.int64),
        features if units == "sentences" else Features(features.documents, features.sentences[:0]),
        pieces,
        truncated,
    )


def _readable(
    reading: InputReading, pieces: Pieces | None, question: Ints, words: Ints, stop_ids: Ints
) -> tuple[Ints, Booleans]:
    """The question's words that are read, and which of the units' words are."""
    of_question, of_units = question >= 0, words >= 0
    if pieces is not None and pieces.by_word:
        of_question = pieces.question.firsts >= 0
        of_units = concatenate(unit.firsts for unit in pieces.units) >= 0
    if not isinstance(reading, WordReading):
        return question[of_question], of_units
    if reading.unknown_words != "drop":
        of_question, of_units = np.ones_like(of_question), np.ones_like(of_units)
    if not reading.stop_words:
        of_question, of_units = (
            read & ~np.isin(ids, stop_ids) for read, ids in ((of_question, question), (of_units, words))
        )
    return question[of_question][: reading.question_words or None], of_units


def _cut(reading: InputReading, words: Ints, lengths: Ints) -> tuple[Ints, Ints, int]:
    """The first words of each unit, how many these are, and the number of units that are cut."""
    if not isinstance(reading, WordReading) or not reading.unit_words:
        return words, lengths, 0
    places = np.arange(len(words)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    kept = np.minimum(lengths, reading.unit_words)
    return words[places < reading.unit_words], kept, int((kept < lengths).sum())


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

    def to(self, device: torch.device) -> "Packing":
        return replace(
            self, order=self.order.to(device), rows=self.rows.to(device), units=self.units.to(device)
        )


def packing_of(lengths: Tensor) -> Packing:
    """The packing of units of these ``lengths`` [units], on their device."""
    return Packing.of(lengths.cpu().numpy()).to(lengths.device)


def owners(lengths: Tensor) -> Tensor:
    """[words] which unit a word belongs to, given the ``lengths`` [units] of packed units."""
    return torch.repeat_interleave(torch.arange(len(lengths), device=lengths.device), lengths)


@dataclass(frozen=True)
class Batch:
    """B questions with D documents of S units in all; a question's and a document's units are consecutive."""

    questions: Tensor
    """[B, n] word ids, 0 where masked"""
    mask: Tensor
    """[B, n] True for terms"""
    idf: Tensor
    """[B, n]"""
    frequencies: Tensor
    """[B, n] what share of all words of the corpus is this one; 0 where masked"""
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
    pieces: tuple[Pieces, ...]
    """[B] for rankers over an encoder, else none"""

    def to(self, device: torch.device) -> "Batch":
        """With all tensors on this device; ``pieces`` are an encoder's input and stay."""
        if self.words.device == device:
            return self
        values: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        moved: dict[str, Any] = {
            name: value.to(device) for name, value in values.items() if isinstance(value, Tensor)
        }
        return replace(self, **moved)

    @cached_property
    def packing(self) -> Packing:
        """The packing of the units' words; made when it is first needed."""
        return packing_of(self.lengths)

    @cached_property
    def word_unit(self) -> Tensor:
        """[words] which unit a word belongs to"""
        return owners(self.lengths)

    @cached_property
    def padding(self) -> Tensor:
        """[S, longest] True for words: the mask of ``pad``; at least one place."""
        longest = int(self.lengths.max()) if len(self.lengths) else 0
        return torch.arange(max(1, longest), device=self.lengths.device) < self.lengths[:, None]

    def pad(self, values: Tensor) -> Tensor:
        """Values of the units' words [words, …] → [S, longest, …], 0 where masked.

        Similarities are computed packed and only then laid out for convolutions: for 100 documents in a
        third of the time that products of padded vectors take.
        """
        padded = values.new_zeros(*self.padding.shape, *values.shape[1:])
        padded[self.padding] = values
        return padded

    def padded_terms(self, values: Tensor) -> Tensor:
        """Values of the questions' terms [terms, …] → [B, n, …], 0 where masked."""
        padded = values.new_zeros(*self.mask.shape, *values.shape[1:])
        padded[self.mask] = values
        return padded


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
        frequencies=torch.from_numpy(np.where(mask, vocabulary.frequency_of(questions), np.float32(0))),
        words=torch.from_numpy(concatenate(e.words for e in examples)),
        lengths=torch.from_numpy(lengths),
        question_words=tuple(len(e.words) for e in examples),
        unit_question=torch.from_numpy(np.repeat(np.arange(len(examples)), units)),
        unit_document=torch.from_numpy(np.repeat(np.arange(len(unit_counts)), unit_counts)),
        document_features=torch.from_numpy(np.concatenate([e.features.documents for e in examples])),
        sentence_features=torch.from_numpy(np.concatenate([e.features.sentences for e in examples])),
        pieces=tuple(e.pieces for e in examples if e.pieces is not None),
    )
