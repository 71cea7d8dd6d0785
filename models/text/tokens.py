"""Documents and questions as numbers: packed word and stem ids, one run for each text unit.

Packed, not padded: ids of consecutive units are concatenated and lengths mark where each ends, so that what
is computed from a sentence cannot depend on its neighbours in a batch.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np

from bioqa.bioasq.domain import Document
from bioqa.models.arrays import Booleans, Ints
from bioqa.models.text.splitting import split
from bioqa.models.text.strings import KnownStrings
from bioqa.models.text.vocabulary import STOP, Vocabulary
from bioqa.models.text.words import END, STOP_WORDS, terms, words

T = TypeVar("T")


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


@dataclass(frozen=True, slots=True)
class TokenisedQuestion:
    words: Ints
    stems: Ints
    characters: int
    pieces: Ints
    """Distinct word pieces, without those of stop words."""


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


def tokenise_documents(
    documents: Sequence[Document], vocabulary: Vocabulary, known: KnownStrings | None = None
) -> list[TokenisedDocument]:
    """Tokenise documents, with what is ``known`` of this vocabulary's strings, which grows by it."""
    texts = [text for document in documents for text in document.sentence_texts()]
    strings = split(texts)
    places, *runs = (known or KnownStrings(vocabulary))(strings)
    sizes = [document.sentence_count for document in documents]
    ends = np.cumsum(sizes, dtype=np.int64)
    of_documents: list[Iterable[Any]] = []
    for its_runs in runs:
        ids, string_ends = its_runs.of(places)
        unit_ends = _reached(string_ends, np.cumsum(strings.counts))
        of_documents += _cut(ids, _reached(unit_ends, ends)), _cut(np.diff(unit_ends, prepend=0), ends)
    titles = [document.title_sentences for document in documents]
    of_documents += (
        _cut(np.array([*map(len, texts)], dtype=np.int64), ends),
        (np.arange(size) < title for size, title in zip(sizes, titles, strict=True)),
    )
    return [TokenisedDocument(*arrays) for arrays in zip(*of_documents, strict=True)]


def _reached(values: Ints, ends: Ints) -> Ints:
    """[ends] what rising values have reached there: the last before each end, 0 if there is none."""
    return np.concatenate([[0], values])[ends]


def _cut(values: Ints, ends: Ints) -> list[Ints]:
    """Of each document."""
    # Copies: a view would keep the whole batch in memory for as long as one document is cached.
    return [values[begin:end].copy() for begin, end in pairwise([0, *ends.tolist()])]


class DocumentCache(Generic[T]):
    """Least-recently-used cache of values computed from documents: popular citations are candidates often."""

    def __init__(self, make: Callable[[Sequence[Document]], Sequence[T]], capacity: int) -> None:
        """``make`` computes the values of several documents at once, in their order."""
        self._make = make
        self._capacity = capacity
        self._known: OrderedDict[tuple[str, str, str], T] = OrderedDict()
        self._lock = Lock()

    def __call__(self, documents: Sequence[Document]) -> list[T]:
        # The text rather than the version: PubMed revises most citations without a new version number.
        keys = [(document.pmid, document.title, document.abstract) for document in documents]
        found: dict[tuple[str, str, str], T] = {}
        with self._lock:
            for key in keys:
                if (known := self._known.get(key)) is not None:
                    self._known.move_to_end(key)
                    found[key] = known
        missing = {key: document for key, document in zip(keys, documents, strict=True) if key not in found}
        if missing:
            made = zip(missing, self._make([*missing.values()]), strict=True)
            found |= made
            with self._lock:
                for key in missing:
                    # Without a PMID it was sent by a client: of any size, and unlikely to be sent again.
                    if key[0]:
                        self._known[key] = found[key]
                while len(self._known) > self._capacity:
                    self._known.popitem(last=False)
        return [found[key] for key in keys]


class DocumentTokens:
    """Tokenises documents and caches those most recently used."""

    def __init__(self, vocabulary: Vocabulary, capacity: int = 20_000) -> None:
        known = KnownStrings(vocabulary)
        self._tokenised = DocumentCache(lambda found: tokenise_documents(found, vocabulary, known), capacity)

    def __call__(self, documents: Sequence[Document]) -> list[TokenisedDocument]:
        return self._tokenised(documents)
