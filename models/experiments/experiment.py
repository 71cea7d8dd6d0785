"""Running an experiment: what is not yet kept is trained or scored.

Parts without an encoder are trained in processes of one thread each; those with one in turn, with all
threads. Every part's scores are kept as soon as they are there, so an interrupted experiment goes on where it
was; a fine-tuned part goes on after its last epoch.
"""

import multiprocessing
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import torch

from bioqa.models.experiments import encoders, parts
from bioqa.models.experiments.making import Progress, Ranks, score_ready, train_part
from bioqa.models.experiments.parts import AnyPart, Data, Part, PartScores, Ready, ZeroShot
from bioqa.models.experiments.systems import System


@dataclass(frozen=True, slots=True)
class Experiment:
    """Where scores are kept, and what they are made with."""

    data: Data
    folder: Path
    seeds: Sequence[int]
    workers: int = 2
    device: str = "auto"
    ready: Callable[[str], Ranks] | None = None
    """Loads a ranker by its folder."""
    progress: Progress = lambda text: None

    def make(self, systems: Sequence[System]) -> None:
        """Trains or scores every part that is not kept."""
        # Seed by seed: an experiment that is interrupted has whole rows of the first.
        wanted = {
            parts.file_of(self.folder, part, seed): (part, seed)
            for place, seed in enumerate(self.seeds)
            for system in systems
            if place < system.seeds
            for part in system.parts
        }
        missing = {path: key for path, key in wanted.items() if not path.is_file()}
        cheap = {
            path: key for path, key in missing.items() if isinstance(key[0], Part) and not key[0].encoder
        }
        for path, scores in _in_processes(self.data, cheap, self.workers):
            self._keep(path, *cheap[path], scores)
        for path, (part, seed) in missing.items():
            if path not in cheap:
                self.progress(f"{path.stem} begins")
                self._keep(path, part, seed, self._alone(part, seed, path))

    def _keep(self, path: Path, part: AnyPart, seed: int, scores: PartScores) -> None:
        parts.save(path, part, seed, self.data, scores)
        record = {name: v for name, v in scores.record.items() if name != "epochs"}
        self.progress(f"{path.stem}: {record}")

    def _alone(self, part: AnyPart, seed: int, path: Path) -> PartScores:
        if isinstance(part, Ready):
            assert self.ready is not None
            return score_ready(part, self.ready(part.folder), self.data, self.progress)
        if isinstance(part, ZeroShot):
            encoder = encoders.open_for(part.encoder, self.device)
            return encoders.score_zero_shot(part, self.data, encoder, self.progress)
        encoder = encoders.open_for(part.encoder, self.device, self.folder / "states")
        cache, unfinished = encoder.cache, path.with_suffix(".unfinished")
        try:
            encoders.warm(part, self.data, encoder, self.progress)
            scores = train_part(part, self.data, seed, encoder, unfinished=unfinished, progress=self.progress)
        finally:
            if cache is not None:
                cache.close()
        shutil.rmtree(unfinished, ignore_errors=True)
        return scores


_data: Data | None = None


def _in_processes(
    data: Data, missing: Mapping[Path, tuple[AnyPart, int]], workers: int
) -> Iterator[tuple[Path, PartScores]]:
    if not missing:
        return
    # Spawned, not forked: torch's threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_start, initargs=(data,)) as pool:
        futures = {pool.submit(_train, *key): path for path, key in missing.items()}
        for future in as_completed(futures):
            yield futures[future], future.result()


def _start(data: Data) -> None:
    global _data
    _data = data
    torch.set_num_threads(1)


def _train(part: AnyPart, seed: int) -> PartScores:
    assert _data is not None
    assert isinstance(part, Part)
    return train_part(part, _data, seed)
