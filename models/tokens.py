"""Documents and questions as numbers: packed word and stem ids, one run for each text unit.

Packed, not padded: a unit's ids lie one behind the other and its length says where it ends, so that what
is computed of a sentence cannot depend on its neighbours in a batch.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from threading import Lock
from typing import Generic, TypeVar

import numpy as np

from bioasq.domain import Document
from models.arrays import Booleans, Ints
from models.text import END, STOP_WORDS, terms, words
from models.vocabulary import END_ID, STOP, Vocabulary

T = TypeVar("T")


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
    titles: Booleans
    """[sentences] True for those of the title."""
    pieces: Ints
    """Word pieces of the retrieval terms; none where the vocabulary has none."""
    piece_counts: Ints


@dataclass(frozen=True, slots=True)
class TokenisedQuestion:
    words: Ints
    stems: Ints
    characters: int
    pieces: Ints
    """Distinct word pieces, those of stop words left out."""


def tokenise_question(question: str, vocabulary: Vocabulary) -> TokenisedQuestion:
    question = question.replace(END, " ")
    asked = terms(question)
    stems = np.array([vocabulary.term_ids[term] for term in asked], dtype=np.int64)
    splits = {} if vocabulary.pieces is None else vocabulary.pieces.splits
    content = [splits[term] for term in asked if term not in STOP_WORDS] if splits else []
    return TokenisedQuestion(
        np.array([vocabulary.word_ids[word] for word in words(question)], dtype=np.int64),
        stems[stems != STOP],
        len(question.strip()),
        np.array(sorted(set(chain.from_iterable(content))), dtype=np.int64),
    )


def tokenise_document(document: Document, vocabulary: Vocabulary) -> TokenisedDocument:
    # With each sentence's end marked, a whole document is cleaned, split and looked up at once.
    texts = [document.sentence_text(sentence).replace(END, " ") for sentence in document.sentences]
    joined = f" {END} ".join([*texts, ""])
    found = terms(joined)
    word_ids, word_counts = _packed(map(vocabulary.word_ids.__getitem__, words(joined)), END_ID)
    stem_ids, stem_counts = _packed(map(vocabulary.term_ids.__getitem__, found), END_ID)
    pieces, piece_counts = _no_ids(), np.zeros(len(texts), dtype=np.int64)
    if vocabulary.pieces is not None:
        splits = map(vocabulary.pieces.splits.__getitem__, found)
        pieces, piece_counts = _packed(chain.from_iterable(splits), len(vocabulary.pieces.names))
    return TokenisedDocument(
        words=word_ids,
        word_counts=word_counts,
        stems=stem_ids,
        stem_counts=stem_counts,
        characters=np.array([s.end - s.begin for s in document.sentences], dtype=np.int64),
        titles=np.array([s.section == "title" for s in document.sentences], dtype=np.bool_),
        pieces=pieces,
        piece_counts=piece_counts,
    )


def _packed(ids: Iterable[int], end: int) -> tuple[Ints, Ints]:
    """The ids of all units, stop words left out, and how many each unit has."""
    found = np.array([*ids], dtype=np.int64)
    found = found[found != STOP]
    ends = np.flatnonzero(found == end)
    counts = ends.copy()
    counts[1:] -= ends[:-1] + 1
    return found[found != end], counts


def _no_ids() -> Ints:
    return np.empty(0, dtype=np.int64)


class DocumentCache(Generic[T]):
    """What is made of documents, the ``capacity`` most recently used: popular citations come back often."""

    def __init__(self, make: Callable[[Document], T], capacity: int) -> None:
        self._make = make
        self._capacity = capacity
        self._known: OrderedDict[tuple[str, str, str], T] = OrderedDict()
        self._lock = Lock()

    def __call__(self, document: Document) -> T:
        if not document.pmid:  # a text that somebody sent: of any size, and hardly ever to come back
            return self._make(document)
        # Not the version: PubMed revises most citations without a new one.
        key = (document.pmid, document.title, document.abstract)
        with self._lock:
            found = self._known.get(key)
            if found is not None:
                self._known.move_to_end(key)
                return found
        made = self._make(document)
        if self._capacity:
            with self._lock:
                self._known[key] = made
                while len(self._known) > self._capacity:
                    self._known.popitem(last=False)
        return made


class DocumentTokens:
    """Tokenises documents, keeping those most recently used."""

    def __init__(self, vocabulary: Vocabulary, capacity: int = 20_000) -> None:
        self._tokenised = DocumentCache(lambda document: tokenise_document(document, vocabulary), capacity)

    def __call__(self, documents: Sequence[Document]) -> list[TokenisedDocument]:
        return [self._tokenised(document) for document in documents]


def concatenate(arrays: Iterable[Ints]) -> Ints:
    """As numpy's, but of nothing it makes an empty array of integers."""
    return np.concatenate([_no_ids(), *arrays])
