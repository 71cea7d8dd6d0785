"""State of an interrupted training, so that the same command resumes it.

One safetensors file beside the output: weights, the optimiser's moments and other tensors, and in its header,
as JSON, everything else. Nothing is pickled. The file is replaced as a whole, and it names the training that
it belongs to: resuming from a state of other data, settings, seed or encoder would train a mixture of both,
and the record would describe only one of them.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from bioqa.system.errors import BioqaError

Identity = Mapping[str, str | int | float | bool | None]
"""What tells one training from another, by name: settings, seed, fingerprints of data and encoder."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state at one moment."""

    tensors: Mapping[str, Tensor]
    values: Mapping[str, Any]
    """Values that JSON has."""

    def under(self, prefix: str) -> dict[str, Tensor]:
        """The tensors of a part, by their names in it."""
        return {
            name.removeprefix(f"{prefix}/"): value
            for name, value in self.tensors.items()
            if name.startswith(f"{prefix}/")
        }


def state_path(output: Path) -> Path:
    """The state's file beside the output."""
    return output.with_name(f"{output.name}.training.safetensors")


class StateFile:
    """The file in which a training of this identity saves its state."""

    def __init__(self, path: Path, identity: Identity) -> None:
        self.path = path
        self._identity = dict(identity)

    def load(self) -> Snapshot | None:
        """None if nothing was saved. Raises BioqaError, naming the file, if it is damaged or another's."""
        if not self.path.is_file():
            return None
        try:
            with safe_open(self.path, "pt") as file:
                header: dict[str, str] = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            identity, values = json.loads(header["identity"]), json.loads(header["values"])
            differing = sorted(
                name
                for name in identity.keys() | self._identity.keys()
                if identity.get(name) != self._identity.get(name)
            )
        except (OSError, SafetensorError, KeyError, ValueError, AttributeError) as error:
            raise self._damage(error) from error
        if differing:
            raise BioqaError(
                f"{self.path}: an interrupted training with other {', '.join(differing)}; "
                "delete the file to begin anew"
            )
        return Snapshot(tensors, values)

    def save(self, snapshot: Snapshot) -> None:
        """Replace the file as a whole. Raises BioqaError, naming it, if it cannot be written."""
        header = {
            "identity": json.dumps(self._identity),
            "values": json.dumps(dict(snapshot.values)),
        }
        unfinished = self.path.with_name(self.path.name + ".tmp")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            save_file(
                {name: value.contiguous() for name, value in snapshot.tensors.items()}, unfinished, header
            )
            unfinished.replace(self.path)
        except (OSError, SafetensorError) as error:
            raise BioqaError(f"{self.path}: the state of training cannot be written: {error}") from error

    def delete(self) -> None:
        self.path.unlink(missing_ok=True)

    @contextmanager
    def resuming(self) -> Iterator[Snapshot | None]:
        """Yield what was saved, if anything was. What does not fit the model becomes a BioqaError."""
        snapshot = self.load()
        try:
            yield snapshot
        except (RuntimeError, KeyError, ValueError, TypeError) as error:
            raise self._damage(error) from error

    def _damage(self, error: Exception) -> BioqaError:
        return BioqaError(
            f"{self.path}: no usable state of a training; delete the file to begin anew ({error!r})"
        )


def snapshot_of(
    weights: Mapping[str, Tensor],
    kept: Mapping[str, Tensor],
    optimiser: torch.optim.Optimizer,
    values: Mapping[str, Any],
    more: Mapping[str, Tensor] | None = None,
) -> Snapshot:
    """``kept``: the weights that the model would have if training ended now: the best, or the average."""
    parts = {"model": weights, "kept": kept, "optimiser": moments(optimiser)}
    tensors = {f"{part}/{name}": tensor for part, named in parts.items() for name, tensor in named.items()}
    return Snapshot({**tensors, **(more or {})}, values)


def restore(
    snapshot: Snapshot, model: nn.Module, names: Collection[str], optimiser: torch.optim.Optimizer
) -> dict[str, Tensor]:
    """Put weights of these names and the optimiser's state back; returns ``kept`` of ``snapshot_of``.

    Raises ValueError or RuntimeError for those of another model.
    """
    weights, kept = snapshot.under("model"), snapshot.under("kept")
    state = model.state_dict()
    for part in (kept, weights):
        if part.keys() != set(names):
            raise ValueError("weights of another model")
        # The last one stays; loading both finds shapes that do not fit.
        model.load_state_dict(state | part)
    set_moments(optimiser, snapshot.under("optimiser"))
    return kept


def moments(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """An optimiser's state, by the parameter's number and the moment's name."""
    state: dict[int, dict[str, Tensor]] = optimiser.state_dict()["state"]
    return {f"{number}/{name}": value for number, of_one in state.items() for name, value in of_one.items()}


def set_moments(optimiser: torch.optim.Optimizer, values: Mapping[str, Tensor]) -> None:
    """Restore ``moments``. Raises ValueError for other names."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in values.items():
        number, moment = name.split("/")
        state.setdefault(int(number), {})[moment] = value
    optimiser.load_state_dict(optimiser.state_dict() | {"state": state})
