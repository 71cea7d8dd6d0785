"""The table of document, snippet and sentence measures of all systems, on one collection with gold.

Every system re-ranks the same candidates and selects snippets in the same way, with its three scalars
calibrated on dev. Trained systems are trained once a seed, in processes of one thread each, and what each
run measured is kept as a file, so that an interrupted experiment goes on where it was.
"""

import hashlib
import json
import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bioasq.errors import BioqaError
from models.experiments import baselines
from models.experiments.results import Run, run_of
from models.features import Scaling
from models.registry import RankerSettings, settings_of
from models.selection import Calibration
from models.training.data import Prepared, scaling_of
from models.training.run import Development, PoolScores, train_model
from models.vocabulary import Vocabulary

REFERENCE = "BM25+BM25 (tuned, stemmed)"
"""The strongest system without training, which the others' differences are tested against."""


@dataclass(frozen=True, slots=True)
class System:
    """A trained system: one ranker, or one for documents and another for sentences."""

    name: str
    sentences: RankerSettings
    documents: RankerSettings | None = None


def _short(ranker: str, **changes: Any) -> RankerSettings:
    """The paper trains up to 30 epochs and waits 4; here dev scores no longer rise after the sixth or so."""
    return settings_of(ranker, epochs=8, patience=3, **changes)


_EXTENDED = {"features": "extended", "last_layer": False}

TRAINED: tuple[System, ...] = (
    System("JPDRMM extended, listwise", _short("jpdrmm", **_EXTENDED, listwise_weight=0.3)),
    System("JPDRMM extended", _short("jpdrmm", **_EXTENDED)),
    System("PDRMM+PDRMM", _short("sentence-pdrmm"), _short("pdrmm")),
    System("PDRMM+BCNN", _short("bcnn"), _short("pdrmm")),
    System("Sentence PDRMM", _short("sentence-pdrmm")),
    System("JPDRMM λ .1", _short("jpdrmm")),
    System("JPDRMM λ .01", _short("jpdrmm", sentence_weight=0.01)),
    System("JPDRMM λ .1, no last layer", _short("jpdrmm", last_layer=False)),
    System("JPDRMM λ .01, no last layer", _short("jpdrmm", sentence_weight=0.01, last_layer=False)),
)
"""The systems of the papers, and JPDRMM with the extended features, λ .1 and no last layer."""


@dataclass(frozen=True, slots=True)
class Data:
    """The prepared questions, and what the training ones determine."""

    vocabulary: Vocabulary
    train: Sequence[Prepared]
    dev: Sequence[Prepared]
    test: Sequence[Prepared]
    scaling: Scaling = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "scaling", scaling_of(self.train))

    def fingerprint(self) -> str:
        """Of the questions and of what their candidates' features come to: tells kept runs of other data."""
        digest = hashlib.sha256()
        for question in (*self.train, *self.dev, *self.test):
            digest.update(question.response.question.id.encode() + b"\0")
        for values in (self.scaling.document_mean, self.scaling.sentence_mean):
            digest.update(np.round(values, 4).tobytes())
        return digest.hexdigest()


def run(
    data: Data,
    systems: Sequence[System],
    seeds: Sequence[int],
    folder: Path,
    *,
    workers: int = 2,
    progress: Callable[[Run], None] = lambda run: None,
) -> list[Run]:
    """All runs, baselines first. ``folder`` keeps one file a trained run; those there are not run again."""
    runs = list(_baselines(data))
    for finished in runs:
        progress(finished)
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [(system, seed) for system in systems for seed in seeds]
    made_of = data.fingerprint()
    kept = {key: _read(path, key[0], made_of) for key in wanted if (path := _file(folder, *key)).is_file()}
    missing = [key for key in wanted if key not in kept]
    for key, finished in _in_processes(data, missing, workers):
        _write(_file(folder, *key), finished, key[0], made_of)
        kept[key] = finished
        progress(finished)
    return runs + [kept[key] for key in wanted] + [_oracle(data)]


def _baselines(data: Data) -> Iterator[Run]:
    grid = baselines.tune_bm25(data.dev, data.vocabulary)
    k1, b = max(grid, key=lambda constants: grid[constants])
    for name, documents in (
        ("default", baselines.first_stage),
        ("tuned", lambda questions: baselines.tuned_bm25(questions, data.vocabulary, k1, b)),
    ):
        for kind, stemmed in (("papers'", False), ("stemmed", True)):
            dev, test = (
                baselines.with_sentence_bm25(questions, documents(questions), stemmed=stemmed)
                for questions in (data.dev, data.test)
            )
            system = f"BM25+BM25 ({name}, {kind})"
            yield run_of(system, None, (data.dev, dev), (data.test, test))


def _oracle(data: Data) -> Run:
    dev, test = baselines.oracle(data.dev), baselines.oracle(data.test)
    return run_of("Oracle", None, (data.dev, dev), (data.test, test))


_Key = tuple[System, int]
_data: Data | None = None


def _in_processes(data: Data, keys: Sequence[_Key], workers: int) -> Iterator[tuple[_Key, Run]]:
    if not keys:
        return
    # Spawned, not forked: torch's threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_start, initargs=(data,)) as pool:
        futures = {pool.submit(_train, key): key for key in keys}
        for future in as_completed(futures):
            yield futures[future], future.result()


def _start(data: Data) -> None:
    global _data
    _data = data
    torch.set_num_threads(1)


def _train(key: _Key) -> Run:
    system, seed = key
    assert _data is not None
    dev, test = _scores(_data, system.sentences, seed)
    if system.documents is not None:
        of_documents = _scores(_data, system.documents, seed)
        dev, test = (
            [PoolScores(d.documents, s.sentences, s.gold_sentences) for d, s in zip(ds, ss, strict=True)]
            for ds, ss in zip(of_documents, (dev, test), strict=True)
        )
    return run_of(system.name, seed, (_data.dev, dev), (_data.test, test))


def _scores(data: Data, settings: RankerSettings, seed: int) -> tuple[list[PoolScores], list[PoolScores]]:
    """Trains and scores dev and test."""
    dev, test = (
        Development(questions, settings, data.scaling, data.vocabulary) for questions in (data.dev, data.test)
    )
    trained = train_model(settings, data.vocabulary, data.train, data.scaling, dev, seed=seed)
    return dev.scores(trained.model), test.scores(trained.model)


def _file(folder: Path, system: System, seed: int) -> Path:
    name = "".join(c if c.isalnum() else "-" for c in system.name.lower())
    return folder / f"{name}-{seed}.json"


def _write(path: Path, finished: Run, system: System, made_of: str) -> None:
    kept = {"system": asdict(system), "data": made_of, "run": asdict(finished)}
    unfinished = path.with_suffix(".tmp")
    unfinished.write_text(json.dumps(kept, allow_nan=False), encoding="utf-8")
    unfinished.replace(path)


def _read(path: Path, system: System, made_of: str) -> Run:
    """Raises BioqaError for a run of other settings or data: it must not pass for this one."""
    try:
        kept: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        same = kept["system"] == asdict(system) and kept["data"] == made_of
        values = kept["run"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BioqaError(f"{path}: not a kept run: {error!r}") from error
    if not same:
        raise BioqaError(f"{path}: a run of other settings or data; remove it or name another folder")
    by_question = {name: tuple(v) for name, v in values["by_question"].items()}
    calibration = Calibration(**values["calibration"])
    return Run(**{**values, "by_question": by_question, "calibration": calibration})
