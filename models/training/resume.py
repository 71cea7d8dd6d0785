"""Training that was interrupted goes on after its last whole epoch, with the numbers that it would have had.

One safetensors file, replaced as a whole after every epoch: weights, the best epoch's weights, the
optimiser's moments, the states of both random generators, and what the epochs measured.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from bioqa.bioasq.errors import BioqaError

_FILE = "training.safetensors"


@dataclass(frozen=True, slots=True)
class Epoch:
    """What one epoch did; ``score`` decides which epoch's weights are kept."""

    number: int
    loss: float
    scores: Mapping[str, float]
    score: float
    seconds: float


@dataclass(slots=True)
class Training:
    """What changes while a model is trained."""

    model: nn.Module
    learned: Sequence[str]
    """Names of what the model learns, in its state."""
    optimiser: torch.optim.Optimizer
    generator: np.random.Generator
    best: dict[str, Tensor]
    epochs: list[Epoch]

    def keep(self) -> None:
        """Takes the present weights for the best."""
        self.best = {name: value.clone() for name, value in self._weights().items()}

    def take_best(self) -> None:
        self._put(self.best)

    def save(self, folder: Path, key: str) -> None:
        """``key``: of settings and data, so that no other training goes on from here."""
        tensors = {f"model/{name}": value.contiguous() for name, value in self._weights().items()}
        tensors |= {f"best/{name}": value for name, value in self.best.items()}
        for number, moments in self.optimiser.state_dict()["state"].items():
            tensors |= {f"optimiser/{number}/{name}": value for name, value in moments.items()}
        tensors["generator"] = torch.get_rng_state()
        kept = {
            "key": key,
            "epochs": json.dumps([asdict(epoch) for epoch in self.epochs]),
            "generator": json.dumps(self.generator.bit_generator.state),
        }
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / f"{_FILE}.tmp"
        save_file(tensors, unfinished, kept)
        unfinished.replace(folder / _FILE)

    def resume(self, folder: Path, key: str) -> None:
        """Does nothing where nothing was kept. Raises BioqaError for a file of another training."""
        path = folder / _FILE
        if not path.is_file():
            return
        try:
            with safe_open(path, "pt") as file:
                kept: dict[str, str] = file.metadata() or {}
                tensors: dict[str, Tensor] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (OSError, SafetensorError) as error:
            raise BioqaError(f"{path}: not an interrupted training: {error}") from error
        if kept.get("key") != key:
            raise BioqaError(f"{folder}: an interrupted training of other settings or data; remove it")
        self.epochs[:] = [Epoch(**epoch) for epoch in json.loads(kept["epochs"])]
        self.generator.bit_generator.state = json.loads(kept["generator"])
        torch.set_rng_state(tensors["generator"])
        self._put(_under(tensors, "model/"))
        self.best = _under(tensors, "best/")
        moments: dict[int, dict[str, Any]] = {}
        for name, value in _under(tensors, "optimiser/").items():
            number, moment = name.split("/")
            moments.setdefault(int(number), {})[moment] = value
        self.optimiser.load_state_dict(self.optimiser.state_dict() | {"state": moments})

    def _weights(self) -> dict[str, Tensor]:
        state = self.model.state_dict()
        return {name: state[name].cpu() for name in self.learned}

    def _put(self, weights: Mapping[str, Tensor]) -> None:
        self.model.load_state_dict(self.model.state_dict() | dict(weights))


def _under(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
