"""The toy world, prepared once for all tests of the rankers; only to be read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from bioqa.models import checkpoint
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.rankers.registry import ARCHITECTURES, settings_of
from bioqa.models.rankers.settings import RankerSettings
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.data import Prepared, prepare
from bioqa.models.training.train import TrainingData, make_checkpoint
from tests.models.toys import GOLDEN, ToyIndex, corpus_words, toy_settings, vocabulary_of

FORMS: dict[str, dict[str, Any]] = {
    "": {},
    " extended": {"features": "extended"},
    " without last layer": {"last_layer": False},
    " without C": {"cascade": False},
    " without D": {"disambiguate": False},
}
VARIANTS: dict[str, RankerSettings] = {
    f"{name}{label}": toy_settings(name, **changes)
    for name in ARCHITECTURES
    for label, changes in FORMS.items()
    # The joint layers are the same above every sentence ranker.
    if not label or ARCHITECTURES[name].reads == "vectors"
    if changes.keys() <= settings_of(name).as_dict().keys()
    if not label or toy_settings(name, **changes) != toy_settings(name)
}
"""Every ranker of the registry, in each form that changes what it computes."""


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Toy tensors gain nothing from a second thread, and where cores are busy the two wait for each other."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    """All words of the toy documents but the disease of the last topic: ids of unknown words occur too."""
    return vocabulary_of(word for word in corpus_words() if word != "ferroplegia")


@pytest.fixture(scope="session")
def index() -> ToyIndex:
    return ToyIndex()


@pytest.fixture(scope="session")
def prepared(index: ToyIndex, vocabulary: Vocabulary) -> list[Prepared]:
    return prepare(index, GOLDEN, vocabulary, size=12)


@pytest.fixture(scope="session")
def trained(vocabulary: Vocabulary, prepared: list[Prepared]) -> Checkpoint:
    """A JPDRMM trained for two epochs."""
    settings = settings_of("jpdrmm", dimensions=6, epochs=2)
    data = TrainingData(vocabulary, prepared, prepared[:3])
    return make_checkpoint(settings, data, seed=1, record={"train": "toys"})


@pytest.fixture
def folder(trained: Checkpoint, tmp_path: Path) -> Path:
    """The trained checkpoint's folder, to be damaged at will."""
    path = tmp_path / "toy"
    checkpoint.save(trained, path)
    return path


@pytest.fixture
def damage(folder: Path) -> Callable[[str, bytes], Path]:
    """Replaces one of the checkpoint's files and gives the folder."""

    def replace(name: str, content: bytes) -> Path:
        (folder / name).write_bytes(content)
        return folder

    return replace
