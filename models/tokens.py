"""Documents and questions as numbers: packed word and stem ids, one run for each text unit.

Packed, not padded: a unit's ids lie one behind the other and its length says where it ends, so that what
is computed of a sentence cannot depend on its neighbours in a batch.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
import numpy.typing as npt

from bioasq.domain import Document
from models.arrays import Ints
from models.text import words
from models.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class TokenisedDocument:
    """A document's sentences, in reading order; negative ids are words or stems outside the vocabulary."""

    words: Ints
    word_counts: Ints
    """[sentences]"""
    stems: Ints
    stem_counts: Ints
    characters: Ints
    """[sentences]"""
    titles: npt.NDArray[np.bool_]
    """[sentences] True for those of the title."""


@dataclass(frozen=True, slots=True)
class TokenisedQuestion:
    words: Ints
    stems: Ints
    characters: int


def tokenise_question(question: str, vocabulary: Vocabulary) -> TokenisedQuestion:
    tokens = words(question)
    return TokenisedQuestion(
        np.array([vocabulary.id_of(word) for word in tokens], dtype=np.int64),
        np.array([stem for word in tokens for stem in vocabulary.stem_ids_of(word)], dtype=np.int64),
        len(question.strip()),
    )


def tokenise_document(document: Document, vocabulary: Vocabulary) -> TokenisedDocument:
    known = vocabulary.word_ids.get
    ids: list[int] = []
    word_counts: list[int] = []
    unknown: dict[int, str] = {}
    for sentence in document.sentences:
        tokens = words(document.sentence_text(sentence))
        for position, token in enumerate(tokens, len(ids)):
            word = known(token)
            if word is None:
                word = vocabulary.id_of(token)
                unknown[position] = token
            ids.append(word)
        word_counts.append(len(tokens))
    array = np.array(ids, dtype=np.int64)
    counts = np.array(word_counts, dtype=np.int64)
    stems, stem_counts = _stems(array, counts, unknown, vocabulary)
    spans = document.sentences
    return TokenisedDocument(
        words=array,
        word_counts=counts,
        stems=stems,
        stem_counts=stem_counts,
        characters=np.array([s.end - s.begin for s in spans], dtype=np.int64),
        titles=np.array([s.section == "title" for s in spans], dtype=np.bool_),
    )


class DocumentTokens:
    """Tokenises documents, keeping the ``capacity`` most recently used: popular citations come back often."""

    def __init__(self, vocabulary: Vocabulary, capacity: int = 20_000) -> None:
        self._vocabulary = vocabulary
        self._capacity = capacity
        self._known: OrderedDict[tuple[str, str, str], TokenisedDocument] = OrderedDict()
        self._lock = Lock()

    def __call__(self, documents: Sequence[Document]) -> list[TokenisedDocument]:
        return [self._one(document) for document in documents]

    def _one(self, document: Document) -> TokenisedDocument:
        # Not the version: PubMed revises most citations without a new one.
        key = (document.pmid, document.title, document.abstract)
        with self._lock:
            found = self._known.get(key)
            if found is not None:
                self._known.move_to_end(key)
                return found
        made = tokenise_document(document, self._vocabulary)
        if self._capacity:
            with self._lock:
                self._known[key] = made
                while len(self._known) > self._capacity:
                    self._known.popitem(last=False)
        return made


def _stems(
    ids: Ints, word_counts: Ints, unknown: dict[int, str], vocabulary: Vocabulary
) -> tuple[Ints, Ints]:
    """The stems of packed words, and how many each unit has."""
    offsets = vocabulary.word_stem_offsets
    known = np.maximum(ids, 0)
    begins = offsets[known]
    lengths = np.where(ids >= 0, offsets[known + 1] - begins, 0)
    extra = {position: vocabulary.stem_ids_of(word) for position, word in unknown.items()}
    for position, found in extra.items():
        lengths[position] = len(found)
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    firsts = ends - lengths
    stems = vocabulary.word_stems[
        np.minimum(np.arange(total) + np.repeat(begins - firsts, lengths), len(vocabulary.word_stems) - 1)
    ]
    for position, found in extra.items():
        stems[firsts[position] : ends[position]] = found
    units = np.repeat(np.arange(len(word_counts)), word_counts)
    return stems, np.bincount(units, weights=lengths, minlength=len(word_counts)).astype(np.int64)


def concatenate(arrays: Iterable[Ints]) -> Ints:
    """As numpy's, but of nothing it makes an empty array of integers."""
    return np.concatenate([np.empty(0, dtype=np.int64), *arrays])
