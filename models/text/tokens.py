"""Documents and questions as numbers: packed word and stem ids, one run for each text unit.

Packed, not padded: ids of consecutive units are concatenated and lengths mark where each ends, so that what
is computed from a sentence cannot depend on its neighbours in a batch.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from bioqa.bioasq.domain import Document
from bioqa.models.arrays import Booleans, Ints
from bioqa.models.text.splitting import split
from bioqa.models.text.strings import KnownStrings
from bioqa.models.text.vocabulary import STOP, Vocabulary
from bioqa.models.text.words import END, STOP_WORDS, terms, words


@dataclass(frozen=True, slots=True)
class TokenisedDocument:
    """A document's sentences, in reading order; negative ids are words or stems outside the vocabulary."""

    words: Ints
    word_counts: Ints
    """[sentences]"""
    stems: Ints
    stem_counts: Ints
    pieces: Ints
    """Word pieces of the retrieval terms; empty if the vocabulary has no pieces."""
    piece_counts: Ints
    characters: Ints
    """[sentences]"""
    titles: Booleans
    """[sentences] whether the sentence belongs to the title"""

    def alone(self) -> "TokenisedDocument":
        """A copy, which keeps nothing of the documents that were tokenised with it in memory."""
        return TokenisedDocument(*(getattr(self, name).copy() for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class TokenisedQuestion:
    words: Ints
    stems: Ints
    characters: int
    pieces: Ints
    """Distinct word pieces, without those of stop words."""


def tokenise_question(question: str, vocabulary: Vocabulary) -> TokenisedQuestion:
    question = question.replace(END, " ")
    question_terms = terms(question)
    stems = np.array([vocabulary.term_ids[term] for term in question_terms], dtype=np.int64)
    splits = {} if vocabulary.pieces is None else vocabulary.pieces.splits
    content = [splits[term] for term in question_terms if term not in STOP_WORDS] if splits else []
    return TokenisedQuestion(
        np.array([vocabulary.word_ids[word] for word in words(question)], dtype=np.int64),
        stems[stems != STOP],
        len(question.strip()),
        np.array(sorted(set(chain.from_iterable(content))), dtype=np.int64),
    )


def tokenise_documents(
    documents: Sequence[Document], vocabulary: Vocabulary, known: KnownStrings | None = None
) -> list[TokenisedDocument]:
    """Tokenise documents, with what is ``known`` of this vocabulary's strings, which grows by it."""
    texts = [text for document in documents for text in document.sentence_texts()]
    strings = split(texts)
    places, *runs = (known or KnownStrings(vocabulary))(strings)
    return cut(
        [its_runs.of(places) for its_runs in runs],
        strings.counts,
        np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)),
        np.array([document.sentence_count for document in documents], dtype=np.int64),
        np.array([document.title_sentences for document in documents], dtype=np.int64),
    )


def cut(
    joined: Sequence[tuple[Ints, Ints]], strings: Ints, characters: Ints, sentences: Ints, titles: Ints
) -> list[TokenisedDocument]:
    """Cut what was computed of many documents together.

    ``joined``: the ids of words, stems and pieces, and where those of each string end; ``strings`` and
    ``characters`` [sentences of all]; ``sentences`` and ``titles`` [documents]: how many sentences each has,
    and how many of these its title. The arrays are views: a document's keep all others' in memory.
    """
    ends = np.cumsum(sentences, dtype=np.int64)
    of_documents: list[Iterable[Any]] = []
    for ids, string_ends in joined:
        unit_ends = _values_at(string_ends, np.cumsum(strings))
        of_documents += _cut(ids, _values_at(unit_ends, ends)), _cut(np.diff(unit_ends, prepend=0), ends)
    places = np.arange(len(strings)) - np.repeat(ends - sentences, sentences)
    of_documents += _cut(characters, ends), _cut(places < np.repeat(titles, sentences), ends)
    return [TokenisedDocument(*arrays) for arrays in zip(*of_documents, strict=True)]


def _values_at(values: Ints, ends: Ints) -> Ints:
    """[ends] what rising values have reached there: the last before each end, 0 if there is none."""
    return np.concatenate([[0], values])[ends]


def _cut(values: npt.NDArray[Any], ends: Ints) -> list[npt.NDArray[Any]]:
    """Cut the values into those of each document."""
    return [values[begin:end] for begin, end in pairwise([0, *ends.tolist()])]
