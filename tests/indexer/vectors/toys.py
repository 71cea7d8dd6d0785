"""An encoder of a few numbers that depend on the text alone, and documents for it."""

import hashlib
from collections.abc import Sequence

import numpy as np

from bioqa.bioasq.domain import Document
from bioqa.indexer.vectors.file import EncoderRecord, Floats
from tests.indexer.documents import document

WIDTH = 24
ENCODER = EncoderRecord("toy", "ab" * 32, WIDTH, {"pieces": 8})


def vector_of(text: str) -> Floats:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little")
    return np.random.default_rng(seed).standard_normal(WIDTH).astype(np.float32)


class Toy:
    """Counts the citations that it has encoded."""

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def __call__(self, documents: Sequence[Document]) -> Floats:
        self.encoded += [each.pmid for each in documents]
        return np.stack([vector_of(each.title + each.abstract) for each in documents])


def some_documents(count: int, begin: int = 1) -> list[Document]:
    return [document(number, f"Title {number}.", "A text.") for number in range(begin, begin + count)]
