"""Citations encoded in several processes: the same vectors as in one, whatever happens to the processes."""

import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bioqa.app.answers import vectors_building
from bioqa.app.answers.vectors_building import Encoding, build, start_encoder
from bioqa.app.answers.workers import WorkerLost
from bioqa.bioasq.domain import Document
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.indexer.vectors.file import Floats, VectorsError
from bioqa.models.encoders.vectors import VectorEncoder, VectorSettings
from tests.app.answers.meaning import indexed
from tests.models.encoders.tiny import write_tiny

DOCUMENTS = [Document(str(n), 1, f"aspirin {n} " * (n % 7), "help " * (n % 5)) for n in range(1, 60)]


@pytest.fixture(autouse=True)
def _small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors_building, "TOGETHER", 8)
    monkeypatch.setattr(vectors_building, "FEW", 16)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_tiny(tmp_path_factory.mktemp("encoding") / "tiny", ["aspirin", "help"]))


@pytest.fixture(scope="module")
def encoder(folder: str) -> VectorEncoder:
    return VectorEncoder.load(folder, VectorSettings(), device="cpu", title=folder)


@pytest.fixture(scope="module")
def several(encoder: VectorEncoder, folder: str) -> Iterator[Encoding]:
    with Encoding(encoder, folder, 2) as encoding:
        yield encoding


@pytest.fixture(scope="module")
def alone(encoder: VectorEncoder, folder: str) -> Iterator[Encoding]:
    with Encoding(encoder, folder, 1) as encoding:
        yield encoding


def test_several_processes_make_the_same_vectors(several: Encoding, alone: Encoding) -> None:
    expected = alone(DOCUMENTS)
    np.testing.assert_array_equal(several(DOCUMENTS), expected)
    np.testing.assert_allclose(expected[3:4], alone(DOCUMENTS[3:4]), atol=1e-5)
    assert alone([]).shape == (0, 16)


def test_a_process_that_was_killed_is_replaced(several: Encoding, alone: Encoding) -> None:
    several(DOCUMENTS)
    assert several.processes is not None
    for process in [*several.processes._running]:
        os.kill(process._child.process.pid, signal.SIGKILL)
    np.testing.assert_array_equal(several(DOCUMENTS), alone(DOCUMENTS))


def test_few_citations_start_no_process(encoder: VectorEncoder, folder: str) -> None:
    with Encoding(encoder, folder, 2) as encoding:
        encoding(DOCUMENTS[:16])
        assert encoding.processes is not None
        assert encoding.processes.ready == 0


def test_citations_that_end_processes_are_an_error(encoder: VectorEncoder, folder: str) -> None:
    with Encoding(encoder, folder, 2) as encoding:

        class Deadly:
            def open(self) -> None:
                pass

            close = open

            def call(self, texts: Sequence[str], **_: Any) -> Floats:
                raise WorkerLost("encoding: a process was ended by SIGKILL")

        encoding.processes = Deadly()  # type: ignore[assignment]
        with pytest.raises(
            VectorsError, match="SIGKILL, twice over the same citations; what is written stays"
        ):
            encoding(DOCUMENTS)


def test_an_encoder_that_is_exchanged_meanwhile_is_noticed(encoder: VectorEncoder, tmp_path: Path) -> None:
    other = str(write_tiny(tmp_path / "other", ["aspirin", "help"], seed=1))
    with pytest.raises(VectorsError, match="was exchanged while its vectors were made"):
        start_encoder(other, encoder.settings, encoder.name, encoder.hash)


def test_the_file_is_the_same_byte_for_byte(tmp_path: Path, folder: str) -> None:
    contents = []
    for processes in (1, 2):
        with indexed(tmp_path / str(processes), DOCUMENTS) as index:
            assert isinstance(index, TantivyIndex)
            contents.append(build(index, folder, {}, device="cpu", processes=processes).path.read_bytes())
    assert contents[0] == contents[1]
