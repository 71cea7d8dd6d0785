"""Documents and questions as numbers: packed word and stem ids, one run for each text unit.

Packed, not padded: a unit's ids lie one behind the other and its length says where it ends, so that what
is computed of a sentence cannot depend on its neighbours in a batch.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass
from itertools import chain
from threading import Lock

import numpy as np
import numpy.typing as npt

from bioasq.domain import Document
from models.arrays import Ints
from models.text import STOP_WORDS, terms, words
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
    return TokenisedQuestion(
        np.array(_word_ids(question, vocabulary), dtype=np.int64),
        np.array(_stem_ids(question, vocabulary), dtype=np.int64),
        len(question.strip()),
    )


def tokenise_document(document: Document, vocabulary: Vocabulary) -> TokenisedDocument:
    texts = [document.sentence_text(sentence) for sentence in document.sentences]
    word_ids = [_word_ids(text, vocabulary) for text in texts]
    stem_ids = [_stem_ids(text, vocabulary) for text in texts]
    return TokenisedDocument(
        words=_packed(word_ids),
        word_counts=_lengths(word_ids),
        stems=_packed(stem_ids),
        stem_counts=_lengths(stem_ids),
        characters=_lengths(texts),
        titles=np.array([s.section == "title" for s in document.sentences], dtype=np.bool_),
    )


def _word_ids(text: str, vocabulary: Vocabulary) -> list[int]:
    tokens = words(text)
    found = list(map(vocabulary.word_ids.get, tokens))
    return [
        vocabulary.word_id(token) if known is None else known
        for token, known in zip(tokens, found, strict=True)
    ]


def _stem_ids(text: str, vocabulary: Vocabulary) -> list[int]:
    tokens = [token for token in terms(text) if token not in STOP_WORDS]
    found = map(vocabulary.term_ids.get, tokens)
    ids = (
        vocabulary.stem_id(token) if known is None else known
        for token, known in zip(tokens, found, strict=True)
    )
    return [number for number in ids if number is not None]


def _packed(ids: Sequence[list[int]]) -> Ints:
    return np.array(list(chain.from_iterable(ids)), dtype=np.int64)


def _lengths(units: Sequence[Sized]) -> Ints:
    return np.array([len(unit) for unit in units], dtype=np.int64)


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


def concatenate(arrays: Iterable[Ints]) -> Ints:
    """As numpy's, but of nothing it makes an empty array of integers."""
    return np.concatenate([np.empty(0, dtype=np.int64), *arrays])
