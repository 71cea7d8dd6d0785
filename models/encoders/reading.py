"""Questions and documents as an encoder's word pieces."""

from collections.abc import Sequence
from itertools import chain, islice
from typing import Literal

import numpy as np

from bioqa.bioasq.domain import Document
from bioqa.models.arrays import concatenate
from bioqa.models.encoders.encoder import Encoder
from bioqa.models.encoders.inputs import Pieced, Pieces
from bioqa.models.text.documents import DocumentCache
from bioqa.models.text.words import END, words

Reads = Literal["vectors", "pairs", "words"]
"""``vectors``: static word vectors, no encoder. ``pairs``: question and running text in one sequence.
``words``: each text alone, as cleaned words, so that every word has a state beside the id that exact matches
compare."""


class Reader:
    """Thread-safe; caches the documents most recently read."""

    def __init__(
        self, encoder: Encoder, reads: Reads, *, by_document: bool, cached_documents: int = 20_000
    ) -> None:
        """``by_document``: a unit is a whole document, not a sentence."""
        self.encoder = encoder
        self._by_word = reads == "words"
        self._by_document = by_document
        self._units = DocumentCache(self._read, cached_documents)

    def __call__(self, question: str, documents: Sequence[Document]) -> Pieces:
        question_pieces = self._cut(self._piece([question.replace(END, " ")])[0])
        units = tuple(chain.from_iterable(self._units(documents)))
        return Pieces(question_pieces, units, self._by_word)

    def count_truncated(self, pieces: Pieces) -> int:
        """Number of units that the encoder reads only in part."""
        room = self.encoder.room
        if not self._by_word:
            room = self.encoder.room_beside(len(pieces.question.ids))
        return sum(len(unit.ids) > room for unit in pieces.units)

    def _read(self, documents: Sequence[Document]) -> list[tuple[Pieced, ...]]:
        texts = [[text.replace(END, " ") for text in d.sentence_texts()] for d in documents]
        # One call: the tokeniser works on its texts in parallel.
        pieced = iter(self._piece([*chain.from_iterable(texts)]))
        return [self._units_of([*islice(pieced, len(of_document))]) for of_document in texts]

    def _units_of(self, sentences: Sequence[Pieced]) -> tuple[Pieced, ...]:
        if not self._by_document:
            return tuple(map(self._cut, sentences))
        starts = np.cumsum([0, *(len(s.ids) for s in sentences)])
        firsts = (
            np.where(s.firsts >= 0, s.firsts + start, -1)
            for s, start in zip(sentences, starts.tolist(), strict=False)
        )
        return (self._cut(Pieced(concatenate(s.ids for s in sentences), concatenate(firsts))),)

    def _piece(self, texts: Sequence[str]) -> list[Pieced]:
        if self._by_word:
            return self.encoder.word_pieces([words(text) for text in texts])
        return self.encoder.pieces(texts)

    def _cut(self, text: Pieced) -> Pieced:
        """Drop first pieces beyond the encoder's room: these words get no state."""
        return Pieced(text.ids, np.where(text.firsts < self.encoder.room, text.firsts, -1))
