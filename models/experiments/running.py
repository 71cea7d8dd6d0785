"""The runs of an experiment: components without stored scores are trained or scored.

Those without an encoder are trained in processes of one thread each; those with one in turn, with all
threads. Each component's scores are stored as soon as they are there, so an interrupted experiment resumes
with the next component, and a fine-tuned one after its last epoch.
"""

import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from bioqa.models.experiments import stored_scores
from bioqa.models.experiments.cached_states import open_encoder_for, warm
from bioqa.models.experiments.components import Component, Ready, TrainedComponent, Untrained, ZeroShot
from bioqa.models.experiments.data import ExperimentData
from bioqa.models.experiments.scoring import Log, score_ready, train_component
from bioqa.models.experiments.speed import TimedRanker
from bioqa.models.experiments.stored_scores import ComponentScores
from bioqa.models.experiments.systems import System
from bioqa.models.experiments.zero_shot import score_zero_shot
from bioqa.models.training.state import state_path


@dataclass(frozen=True, slots=True)
class SeedRuns:
    """Where scores are stored, and what they are made with."""

    data: ExperimentData
    folder: Path
    seeds: Sequence[int]
    workers: int = 2
    device: str = "auto"
    ready: Callable[[str], TimedRanker] | None = None
    """Loads the ranker of a ``Ready`` component by its folder."""
    code: str = ""
    """The version of the code, which is stored with the scores."""
    log: Log = lambda line: None

    def make(self, systems: Sequence[System]) -> None:
        """Train or score every component whose scores are not stored."""
        # Seed by seed: an interrupted experiment then has whole rows of the first seed.
        wanted = {
            stored_scores.file_of(self.folder, component, seed): (component, seed)
            for position, seed in enumerate(self.seeds)
            for system in systems
            if position < system.seeds
            for component in system.components
            if not isinstance(component, Untrained)
        }
        missing = {path: key for path, key in wanted.items() if not path.is_file()}
        cheap = {
            path: (component, seed)
            for path, (component, seed) in missing.items()
            if isinstance(component, TrainedComponent) and not component.encoder
        }
        for path, scores in _in_processes(self.data, cheap, self.workers):
            self._store(path, *cheap[path], scores)
        for path, (component, seed) in missing.items():
            if path not in cheap:
                self.log(f"{path.stem} begins")
                self._store(path, component, seed, self._alone(component, seed, path))
                # Not before: if the process is killed while storing, the training can be resumed.
                state_path(path).unlink(missing_ok=True)

    def _store(self, path: Path, component: Component, seed: int, scores: ComponentScores) -> None:
        if self.code:
            scores = replace(scores, record={**scores.record, "code": self.code})
        stored_scores.save(path, component, seed, self.data, scores)
        self.log(f"{path.stem}: {scores.brief_record}")

    def _alone(self, component: Component, seed: int, path: Path) -> ComponentScores:
        if isinstance(component, Ready):
            assert self.ready is not None
            return score_ready(component, self.ready(component.folder), self.data, self.log)
        assert not isinstance(component, Untrained)
        if isinstance(component, ZeroShot):
            encoder = open_encoder_for(component.encoder, self.device)
            return score_zero_shot(component, self.data, encoder, self.log)
        encoder = open_encoder_for(component.encoder, self.device, self.folder / "states")
        cache = encoder.cache
        try:
            warm(component, self.data, encoder, self.log)
            return train_component(component, self.data, seed, encoder, state=state_path(path), log=self.log)
        finally:
            if cache is not None:
                cache.close()


_data: ExperimentData | None = None


def _in_processes(
    data: ExperimentData, missing: Mapping[Path, tuple[Component, int]], workers: int
) -> Iterator[tuple[Path, ComponentScores]]:
    if not missing:
        return
    if workers == 1:
        # Without another process, which would need a copy of the data.
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            for path, (component, seed) in missing.items():
                assert isinstance(component, TrainedComponent)
                yield path, train_component(component, data, seed)
        finally:
            torch.set_num_threads(threads)
        return
    # Spawned, not forked: torch's threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_start, initargs=(data,)) as pool:
        futures = {pool.submit(_train, *key): path for path, key in missing.items()}
        for future in as_completed(futures):
            yield futures[future], future.result()


def _start(data: ExperimentData) -> None:
    global _data
    _data = data
    torch.set_num_threads(1)


def _train(component: Component, seed: int) -> ComponentScores:
    assert _data is not None
    assert isinstance(component, TrainedComponent)
    return train_component(component, _data, seed)
