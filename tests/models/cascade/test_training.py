import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from bioqa.bioasq.files import write_submission
from bioqa.models import checkpoint
from bioqa.models.cascade import files as cascade_files
from bioqa.models.cascade.fitting import CrossSettings, FittingProgress
from bioqa.models.cascade.training import CascadePlan, Tuning, train_cascade
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.training.state import state_path
from bioqa.system.errors import BioqaError
from tests.models.encoders.tiny import write_tiny
from tests.models.toys import GOLDEN, ToyIndex

QUICK = CrossSettings(frozen_layers=1, passes=1, questions_per_step=1)


class _Stop(Exception):
    pass


@pytest.fixture
def plan(trained: Checkpoint, tmp_path: Path) -> CascadePlan:
    checkpoint.save(trained, tmp_path / "first")
    write_tiny(tmp_path / "encoder", ["drug", "cures"])
    write_submission(tmp_path / "train.json", GOLDEN)
    write_submission(tmp_path / "dev.json", GOLDEN[:2])
    return CascadePlan(
        str(tmp_path / "first"),
        str(tmp_path / "encoder"),
        tmp_path / "train.json",
        tmp_path / "dev.json",
        tmp_path / "out" / "both",
        CrossSettings(frozen_layers=1, passes=2),
        device="cpu",
    )


def test_from_files_to_a_cascade_that_answers(plan: CascadePlan, index: ToyIndex) -> None:
    output = plan.output
    made = train_cascade(plan, index)
    assert [path.name for path in output.parent.iterdir()] == ["both"]
    loaded = cascade_files.load(output, device="cpu")
    body = GOLDEN[0].question.body
    assert loaded.rank(body, index.search(body)) == made.rank(body, index.search(body))
    record = json.loads((output / "config.json").read_text())
    training = record["training"]
    assert training["questions"] == len(GOLDEN)
    assert training["questions_seen"] == training["questions_to_see"] == 2 * len(GOLDEN)
    assert record["curve"] == []
    assert record["training"]["encoder"] == "encoder"
    assert record["scores"]["dev_questions"] == 2
    assert record["speed"]["pieces_per_ms"] > 0
    assert "curve" not in loaded.config
    assert loaded.scale is None


def test_a_cascade_that_reads_in_bfloat16_is_written_in_single_precision(
    plan: CascadePlan, index: ToyIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bioqa.models.cascade.ranker.processor_has_bfloat16", lambda: True)
    made = train_cascade(replace(plan, settings=QUICK, tuning=Tuning(half_precision=True)), index)
    (reading,) = {p.dtype for p in made.reader.encoder.transformer.parameters()}
    assert reading == torch.bfloat16
    weights = load_file(plan.output / "encoder" / "model.safetensors")
    assert {value.dtype for value in weights.values()} == {torch.float32}
    assert any(not torch.equal(value, value.bfloat16().float()) for value in weights.values())
    loaded = cascade_files.load(plan.output, device="cpu")
    body = GOLDEN[0].question.body
    assert loaded.rank(body, index.search(body)) == made.rank(body, index.search(body))


def _interrupt(plan: CascadePlan, index: ToyIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves the state of a whole training whose cascade was not finished."""

    def stop(*_: object, **__: object) -> None:
        raise _Stop

    with monkeypatch.context() as patched:
        patched.setattr("bioqa.models.cascade.training.finish", stop)
        with pytest.raises(_Stop):
            train_cascade(plan, index)
    assert state_path(plan.output).is_file()


def test_an_interrupted_training_is_resumed(
    plan: CascadePlan, index: ToyIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = replace(plan, settings=QUICK)
    _interrupt(quick, index, monkeypatch)
    steps: list[FittingProgress] = []
    train_cascade(quick, index, progress=steps.append)
    assert steps == []
    assert not state_path(plan.output).exists()


def _other_questions(plan: CascadePlan) -> CascadePlan:
    write_submission(plan.train, GOLDEN[1:])
    return plan


def _other_snippets(plan: CascadePlan) -> CascadePlan:
    write_submission(plan.train, [replace(GOLDEN[0], snippets=()), *GOLDEN[1:]])
    return plan


def _other_encoder(plan: CascadePlan) -> CascadePlan:
    write_tiny(Path(plan.encoder), ["drug", "cures"], seed=7)
    return plan


def _other_first(plan: CascadePlan) -> CascadePlan:
    first = checkpoint.load(Path(plan.first))
    checkpoint.save(replace(first, scores={}), Path(plan.first))
    return plan


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (_other_questions, "training questions"),
        (_other_snippets, "training questions"),
        (_other_encoder, "encoder"),
        (_other_first, "first ranker"),
        (lambda plan: replace(plan, settings=replace(QUICK, seed=2)), "seed"),
        (lambda plan: replace(plan, settings=replace(QUICK, learning_rate=1e-4)), "learning_rate"),
        (lambda plan: replace(plan, settings=replace(QUICK, minutes=5.0)), "minutes"),
    ],
)
def test_the_state_of_another_training_is_refused_and_what_differs_is_named(
    change: Callable[[CascadePlan], CascadePlan],
    named: str,
    plan: CascadePlan,
    index: ToyIndex,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    quick = replace(plan, settings=QUICK)
    _interrupt(quick, index, monkeypatch)
    with pytest.raises(BioqaError, match=rf"both\.training\.safetensors: .* other {named}; delete the file"):
        train_cascade(change(quick), index)
    state_path(plan.output).unlink()
    train_cascade(change(quick), index)
