import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from bioqa.models.training.state import Identity, Snapshot, StateFile, moments, set_moments, state_path
from bioqa.system.errors import BioqaError

IDENTITY: Identity = {"seed": 1, "learning_rate": 0.01, "train": "ab12", "encoder": None}
SNAPSHOT = Snapshot(
    {"model/a": torch.arange(3.0), "model/b": torch.eye(2), "best/a": torch.zeros(1)}, {"n": [1]}
)


@pytest.fixture
def state(tmp_path: Path) -> StateFile:
    made = StateFile(state_path(tmp_path / "made" / "mine"), IDENTITY)
    made.save(SNAPSHOT)
    return made


def test_what_was_saved_is_loaded(state: StateFile) -> None:
    found = state.load()
    assert found is not None
    assert found.values == {"n": [1]}
    assert {name: value.tolist() for name, value in found.under("model").items()} == {
        "a": [0, 1, 2],
        "b": [[1, 0], [0, 1]],
    }
    assert [path.name for path in state.path.parent.iterdir()] == ["mine.training.safetensors"]
    state.delete()
    assert state.load() is None
    state.delete()


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"seed": 2}, "seed"),
        ({"train": "cd34", "learning_rate": 0.02}, "learning_rate, train"),
        ({"encoder": "ef"}, "encoder"),
        ({"new": 1}, "new"),
    ],
)
def test_of_another_training_it_is_refused(state: StateFile, changes: dict[str, Any], named: str) -> None:
    other = StateFile(state.path, {**IDENTITY, **changes})
    with pytest.raises(BioqaError, match=f"mine.* with other {named}; delete the file to begin anew"):
        other.load()
    assert state.load() is not None


def test_cut_off_anywhere_it_is_refused(state: StateFile) -> None:
    whole = state.path.read_bytes()
    for size in range(0, len(whole), 7):
        state.path.write_bytes(whole[:size])
        with pytest.raises(BioqaError, match=r"mine\.training\.safetensors: no usable state"):
            state.load()


@pytest.mark.parametrize(
    "header",
    [
        None,
        {"identity": json.dumps(IDENTITY)},
        {"identity": "[", "values": "{}"},
        {"identity": "[]", "values": "{}"},
    ],
)
def test_another_safetensors_file_in_its_place_is_refused(
    state: StateFile, header: dict[str, str] | None
) -> None:
    save_file({"a": torch.zeros(1)}, state.path, header)
    with pytest.raises(BioqaError, match="no usable state"):
        state.load()


def test_where_it_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BioqaError, match="state: the state of training cannot be written"):
        StateFile(tmp_path / "file" / "state", IDENTITY).save(SNAPSHOT)


def _steps(count: int, optimiser: torch.optim.Optimizer, weights: torch.Tensor) -> None:
    for _ in range(count):
        optimiser.zero_grad()
        torch.autograd.backward((weights**2).sum())
        optimiser.step()


def test_moments_go_from_one_optimiser_to_another() -> None:
    first, second = (torch.nn.Parameter(torch.tensor([1.0, -2.0])) for _ in range(2))
    one = torch.optim.Adam([first], lr=0.1)
    _steps(3, one, first)
    other = torch.optim.Adam([second], lr=0.1)
    second.data.copy_(first.data)
    set_moments(other, {name: value.clone() for name, value in moments(one).items()})
    for optimiser, weights in ((one, first), (other, second)):
        _steps(2, optimiser, weights)
    assert torch.equal(first, second)
