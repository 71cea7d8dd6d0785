"""Toy data of an experiment, and components that train in an instant."""

from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest
import torch

from bioqa.models.experiments import running
from bioqa.models.experiments.data import ExperimentData
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.data import Prepared
from tests.models.encoders.tiny import write_tiny


class _InProcess:
    """Stands for ProcessPoolExecutor where starting processes would only cost time."""

    def __init__(self, workers: int, *, initializer: Any, initargs: tuple[Any, ...], mp_context: Any) -> None:
        initializer(*initargs)

    def __enter__(self) -> "_InProcess":
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def submit(self, call: Any, *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(call(*arguments))
        except Exception as error:  # noqa: BLE001 (as an executor hands it on)
            future.set_exception(error)
        return future


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    threads = torch.get_num_threads()
    monkeypatch.setattr(running, "ProcessPoolExecutor", _InProcess)
    monkeypatch.setattr(running, "_data", None)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def data(vocabulary: Vocabulary, prepared: list[Prepared]) -> ExperimentData:
    return ExperimentData(vocabulary, prepared, prepared[:3], {"test": prepared[3:], "other": prepared[:2]})


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_tiny(tmp_path_factory.mktemp("encoder"), ["cures", "drug"], positions=128))
