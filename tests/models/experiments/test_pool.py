import json
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
import torch

from bioasq.errors import BioqaError
from models.experiments import pool
from models.experiments.pool import REFERENCE, TRAINED, Data, System, run
from models.experiments.results import MEASURES, Run, rows_of
from models.registry import settings_of
from models.training.data import Prepared, scaling_of
from models.vocabulary import Vocabulary

JOINT = System("JPDRMM λ .1", settings_of("jpdrmm", dimensions=6, epochs=1))
PIPELINE = System(
    "PDRMM+PDRMM",
    settings_of("sentence-pdrmm", dimensions=6, epochs=1),
    settings_of("pdrmm", dimensions=6, epochs=1),
)
BASELINES = [
    "BM25+BM25 (default, papers')",
    "BM25+BM25 (default, stemmed)",
    "BM25+BM25 (tuned, papers')",
    "BM25+BM25 (tuned, stemmed)",
]


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
    monkeypatch.setattr(pool, "ProcessPoolExecutor", _InProcess)
    monkeypatch.setattr(pool, "_data", None)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def data(vocabulary: Vocabulary, prepared: list[Prepared]) -> Data:
    return Data(vocabulary, prepared, prepared[:3], prepared[3:])


def _names(runs: list[Run]) -> list[tuple[str, int | None]]:
    return [(finished.system, finished.seed) for finished in runs]


def test_scaling_is_of_the_training_questions(data: Data, prepared: list[Prepared]) -> None:
    assert data.scaling.sentence_mean.tolist() == scaling_of(prepared).sentence_mean.tolist()


def test_in_a_process_of_its_own(data: Data, tmp_path: Path) -> None:
    runs = run(data, [JOINT], [1], tmp_path / "runs", workers=1)
    assert _names(runs) == [*((name, None) for name in BASELINES), (JOINT.name, 1), ("Oracle", None)]
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["jpdrmm-λ--1-1.json"]
    rows = rows_of(runs, REFERENCE)
    assert [row.system for row in rows] == [*BASELINES, JOINT.name, "Oracle"]
    assert all(set(row.mean) == set(MEASURES) for row in rows)
    assert rows[-1].mean["document_map_8"] == pytest.approx(2 / 3)


@pytest.mark.usefixtures("in_process")
def test_an_interrupted_experiment_goes_on_where_it_was(data: Data, tmp_path: Path) -> None:
    systems, folder = [PIPELINE, JOINT], tmp_path / "runs"
    told: list[Run] = []
    runs = run(data, systems, [1, 2], folder, progress=told.append)
    trained = [(PIPELINE.name, 1), (PIPELINE.name, 2), (JOINT.name, 1), (JOINT.name, 2)]
    assert _names(runs) == [*((name, None) for name in BASELINES), *trained, ("Oracle", None)]
    assert sorted(_names(told)[4:]) == sorted(trained)
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert len(files) == 4

    lost = "pdrmm-pdrmm-2.json"
    (folder / lost).unlink()
    told.clear()
    again = run(data, systems, [1, 2], folder, progress=told.append)
    assert _names(told)[4:] == [(PIPELINE.name, 2)]
    assert again == runs
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files


@pytest.mark.usefixtures("in_process")
def test_nothing_is_trained_again_where_all_is_kept(
    data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = run(data, [JOINT], [1], tmp_path)
    monkeypatch.setattr(pool, "_train", None)
    assert run(data, [JOINT], [1], tmp_path) == runs
    kept = json.loads(next(tmp_path.iterdir()).read_text())
    assert kept["run"]["means"] == runs[4].means


@pytest.mark.usefixtures("in_process")
def test_a_kept_run_of_other_settings_or_data_is_refused(data: Data, tmp_path: Path) -> None:
    run(data, [JOINT], [1], tmp_path)
    other = System(JOINT.name, settings_of("jpdrmm", dimensions=6, epochs=2))
    with pytest.raises(BioqaError, match=r"jpdrmm-λ--1-1\.json: a run of other settings or data"):
        run(data, [other], [1], tmp_path)
    fewer = Data(data.vocabulary, data.train[:-1], data.dev, data.test)
    with pytest.raises(BioqaError, match="other settings or data"):
        run(fewer, [JOINT], [1], tmp_path)
    next(tmp_path.iterdir()).write_text("{}")
    with pytest.raises(BioqaError, match="not a kept run"):
        run(data, [JOINT], [1], tmp_path)


@pytest.mark.usefixtures("in_process")
def test_the_pipelines_documents_are_by_one_ranker_and_its_sentences_by_another(
    data: Data, tmp_path: Path
) -> None:
    assert PIPELINE.documents is not None
    alone = System("Sentence PDRMM", PIPELINE.sentences)
    both, sentences = run(data, [PIPELINE, alone], [1], tmp_path)[4:6]
    assert both.means["sentence_auc"] == sentences.means["sentence_auc"]
    assert both.by_question["document_map_8"] != sentences.by_question["document_map_8"]


@pytest.mark.usefixtures("in_process")
def test_a_run_that_fails_is_not_kept(data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(key: object) -> Run:
        raise MemoryError("too small")

    monkeypatch.setattr(pool, "_train", fail)
    with pytest.raises(MemoryError, match="too small"):
        run(data, [JOINT], [1], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_systems_of_the_table() -> None:
    names = [system.name for system in TRAINED]
    assert len(set(names)) == len(names)
    assert len({pool._file(Path(), system, 1) for system in TRAINED}) == len(names)
    joint = {(s.sentences.last_layer, s.sentences.sentence_weight) for s in TRAINED if "JPDRMM" in s.name}
    assert joint >= {(True, 0.1), (True, 0.01), (False, 0.1), (False, 0.01)}
    assert {"PDRMM+PDRMM", "Sentence PDRMM"} <= set(names)
