"""The questions of an experiment."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bioqa.models.features.extractor import Scaling
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.data import Prepared, fingerprint, scaling_of


@dataclass(frozen=True, slots=True)
class ExperimentData:
    """The prepared questions, and what the training ones determine."""

    vocabulary: Vocabulary
    train: Sequence[Prepared]
    dev: Sequence[Prepared]
    tests: Mapping[str, Sequence[Prepared]]
    """By the collection's name."""
    scaling: Scaling = field(init=False)
    fingerprint: str = field(init=False)
    """SHA-256 of everything that scores and measures depend on: stored scores of other data are refused."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "scaling", scaling_of(self.train))
        digest = hashlib.sha256(self.vocabulary.fingerprint.encode())
        for name, questions in [("train", self.train), ("dev", self.dev), *self.tests.items()]:
            digest.update(f"{name}\0{fingerprint(questions)}\0".encode())
        # Changes with the code of the features; rounded, because their last digits depend on the machine.
        for values in (self.scaling.document_mean, self.scaling.sentence_mean):
            digest.update(np.round(values, 4).tobytes())
        object.__setattr__(self, "fingerprint", digest.hexdigest())
