"""Vectors of a request's texts, by the encoder of the index's vectors, or else by the bundled one."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from bioqa.app.answers.answering import IndexUnavailable
from bioqa.app.answers.context import Origin, origin
from bioqa.app.answers.refusals import RETRY_AFTER_S, EncoderUnavailable
from bioqa.app.answers.reopening import ReopeningIndex
from bioqa.app.answers.vectors import TextEncoder, Vectors, vectors_of
from bioqa.indexer.vectors.file import Floats
from bioqa.models.bundled import VECTOR_ENCODER, vector_encoder
from bioqa.system.errors import BioqaError

log = logging.getLogger("bioqa")

UNUSABLE = "the encoder of the index's vectors cannot be used; see the service's log"

InputType = Literal["query", "document"]
"""Which of an encoder's prefixes a text is read with."""

TOGETHER = 32
"""Texts of one task: a larger request is several tasks, and questions go between them."""

MOST_OF_PLAIN_TEXTS = 8
"""Texts that take about as long to encode as a plain question to answer."""


class UnknownEncoder(BioqaError):
    """Vectors of another encoder are asked for than this index has."""


@dataclass(frozen=True, slots=True)
class EmbeddingTask:
    """Texts to be encoded."""

    texts: tuple[str, ...]
    input_type: InputType
    model: str | None
    """The name that the encoder must have, if one is given."""
    by_index: bool
    """Whether the encoder of an index's vectors is asked for, if it has any."""
    origin: Origin = field(default_factory=origin)

    @property
    def is_dear(self) -> bool:
        """Whether it is as much work as several plain questions."""
        return len(self.texts) > MOST_OF_PLAIN_TEXTS


@dataclass(frozen=True, slots=True, eq=False)
class Embeddings:
    """Vectors of texts, and the encoder that they come from."""

    encoder: str
    """Its name."""
    hash: str
    """SHA-256 of all that its vectors depend on: vectors of different hashes cannot be compared."""
    vectors: Floats
    """[texts, width] of length 1."""
    pieces: int
    """Word pieces that were read, special ones included."""
    cut: tuple[int, ...]
    """Positions of the texts of which only the beginning was read."""


def embed(task: EmbeddingTask, index: ReopeningIndex) -> Embeddings:
    """Encode a task's texts. Raises IndexUnavailable, UnknownEncoder, and EncoderUnavailable."""
    try:
        encoder = (_encoder_of(index) if task.by_index else None) or bundled_encoder()
    except IndexUnavailable:
        raise
    except BioqaError as error:
        # Its words may name folders, which are no client's business.
        log.warning("texts cannot be encoded: %s", error)
        raise EncoderUnavailable(UNUSABLE, RETRY_AFTER_S) from error
    name = _public_name(encoder.name)
    if task.model not in (None, name):
        raise UnknownEncoder(f"must be {name}, the encoder of this service")
    encoded = encoder.encode(task.texts, as_questions=task.input_type == "query")
    return Embeddings(name, encoder.hash, encoded.vectors, encoded.pieces, encoded.cut)


def _public_name(name: str) -> str:
    """A folder's name without where it is, which is no client's business."""
    return Path(name).name if Path(name).is_absolute() else name


def join(parts: Sequence[Embeddings]) -> Embeddings:
    """Put the parts of a request together again. Raises EncoderUnavailable if they are of two encoders."""
    first, cut, begin = parts[0], [], 0
    for part in parts:
        if part.hash != first.hash:
            raise EncoderUnavailable("the index's vectors were exchanged meanwhile", RETRY_AFTER_S)
        cut += [begin + position for position in part.cut]
        begin += len(part.vectors)
    vectors = np.concatenate([part.vectors for part in parts])
    return Embeddings(first.encoder, first.hash, vectors, sum(part.pieces for part in parts), tuple(cut))


def _encoder_of(index: ReopeningIndex) -> TextEncoder | None:
    """The encoder of the vectors that an index has; None if it has none. Raises VectorsError if it cannot be
    used: what clients keep must not be compared with another one's vectors.
    """
    vectors: Vectors | None = index.ask(vectors_of)
    opened = None if vectors is None else vectors.current()
    return None if vectors is None or opened is None else vectors.encoder(opened)


@cache
def bundled_encoder() -> TextEncoder:
    """The encoder that comes with the package, loaded once."""
    # torch takes seconds to import, which no start of a command should wait for.
    from bioqa.models.encoders.vectors import VectorEncoder

    return VectorEncoder.load(vector_encoder(VECTOR_ENCODER), device="cpu", title=VECTOR_ENCODER)
