"""An encoder to which other names of a thing mean the same, and an index with vectors of it."""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bioqa.app.answers.vectors import Vectors
from bioqa.bioasq.domain import Document
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.indexer.vectors.file import EncoderRecord, Floats
from bioqa.indexer.vectors.writing import write
from bioqa.models.encoders.vectors import EncodedTexts

WIDTH = 64
SAME = {"heart": "cardiac", "attack": "infarction", "clots": "thrombosis"}


class Concepts:
    """Each word is a direction, and words of one meaning are one."""

    name = "concepts"
    hash = "12" * 32
    width = WIDTH

    def questions(self, texts: Sequence[str]) -> Floats:
        return np.stack([self._vector(text) for text in texts])

    def passages(self, documents: Sequence[Document]) -> Floats:
        return self.questions([f"{each.title} {each.abstract}" for each in documents])

    def encode(self, texts: Sequence[str], *, as_questions: bool) -> EncodedTexts:
        cut = tuple(position for position, text in enumerate(texts) if len(text) > 1000)
        return EncodedTexts(self.questions(texts), sum(len(text.split()) for text in texts), cut)

    def _vector(self, text: str) -> Floats:
        vector = np.full(WIDTH, 1e-3, dtype=np.float32)
        for word in re.findall(r"[a-z]+", text.lower()):
            seed = hashlib.sha256(SAME.get(word, word).encode()).digest()[0]
            vector += np.random.default_rng(seed).standard_normal(WIDTH).astype(np.float32)
        return vector


ENCODER = Concepts()
RECORD = EncoderRecord(ENCODER.name, ENCODER.hash, WIDTH)


def indexed(folder: Path, documents: Sequence[Document]) -> TantivyIndex:
    index = TantivyIndex.create(folder)
    index.apply(Upsert(document) for document in documents)
    index.commit()
    return index


def with_vectors(index: TantivyIndex) -> Vectors:
    write(index.documents(), RECORD, ENCODER.passages, index.beside)
    return Vectors(index.beside, lambda record: ENCODER)
