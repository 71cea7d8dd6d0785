from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from torch import nn

from bioqa.models.rankers.registry import build, learned_state, settings_of
from bioqa.models.rankers.settings import RankerSettings
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.loop import Epoch, fit
from bioqa.models.training.pairs import TrainingQuestion, TrainingSet
from bioqa.models.training.state import StateFile
from bioqa.system.errors import BioqaError
from tests.models.encoders.tiny import encoder_for
from tests.models.toys import toy_settings
from tests.models.training.test_pairs import questions as toy_questions

SCORES = (0.1, 0.3, 0.2, 0.25)


class _Stop(Exception):
    pass


def _train(
    settings: RankerSettings,
    questions: list[TrainingQuestion],
    vocabulary: Vocabulary,
    path: Path | None,
    stop_after: int = 9,
) -> tuple[nn.Module, list[Epoch]]:
    def stop(epoch: Epoch) -> None:
        done.append(epoch.number)
        if epoch.number == stop_after:
            raise _Stop

    done: list[int] = []

    def evaluate(_: nn.Module) -> tuple[Mapping[str, float], float]:
        return {}, SCORES[first + len(done)]

    first = 2 if path and path.exists() else 0
    state = None if path is None else StateFile(path, {"seed": 1})
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model = build(settings, torch.from_numpy(vocabulary.vectors), encoder_for(settings))
        return model, fit(model, settings, TrainingSet(questions, vocabulary), evaluate, 1, stop, state=state)


@pytest.mark.parametrize("ranker", ["jpdrmm", "jbert-nf", "jbert-adapt", "bjpdrmm"])
def test_an_interrupted_training_ends_as_an_uninterrupted_one(
    ranker: str, vocabulary: Vocabulary, tmp_path: Path
) -> None:
    settings = toy_settings(ranker, epochs=4, pairs_per_step=2, frozen_epochs=1)
    questions = toy_questions(settings)
    whole, epochs = _train(settings, questions, vocabulary, None)
    path = tmp_path / "state"
    with pytest.raises(_Stop):
        _train(settings, questions, vocabulary, path, stop_after=2)
    resumed, again = _train(settings, questions, vocabulary, path)
    assert [e.loss for e in again] == pytest.approx([e.loss for e in epochs])
    assert [e.score for e in again] == list(SCORES)
    expected = learned_state(whole)
    found = learned_state(resumed)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        torch.testing.assert_close(found[name], value, msg=name)


def test_a_state_of_another_model_is_refused(vocabulary: Vocabulary, tmp_path: Path) -> None:
    path = tmp_path / "state"
    settings = settings_of("jpdrmm", dimensions=6, epochs=4, pairs_per_step=2)
    with pytest.raises(_Stop):
        _train(settings, toy_questions(), vocabulary, path, stop_after=2)
    other = settings_of("features", dimensions=6, epochs=4, pairs_per_step=2)
    with pytest.raises(BioqaError, match="state: no usable state of a training"):
        _train(other, toy_questions(other), vocabulary, path)


def test_small_portions_give_the_step_of_one(vocabulary: Vocabulary) -> None:
    settings = settings_of("jbert-nf", epochs=3, pairs_per_step=3)
    questions = toy_questions(settings)
    made = [
        learned_state(_train(settings.with_changes(pairs_at_once=n), questions, vocabulary, None)[0])
        for n in (3, 1)
    ]
    for name, value in made[0].items():
        torch.testing.assert_close(made[1][name], value, atol=1e-4, rtol=1e-3)


def test_an_encoder_learns_after_its_frozen_epochs(vocabulary: Vocabulary) -> None:
    settings = settings_of("jbert", pairs_per_step=2, epochs=2, frozen_epochs=2, frozen_layers=1)
    questions = toy_questions(settings)
    original = encoder_for(settings)
    assert original is not None
    before = {f"sentence_ranker.text_ranker.encoder.{n}": v for n, v in original.state_dict().items()}
    for frozen_epochs in (2, 1):
        model, _ = _train(settings.with_changes(frozen_epochs=frozen_epochs), questions, vocabulary, None)
        state = model.state_dict()
        changed = {name for name, value in before.items() if not torch.equal(value, state[name])}
        assert bool(changed) == (frozen_epochs == 1)
        assert all("layer.1" in name for name in changed)
        assert any("layer.1" in name for name in learned_state(model))
        assert not any("layer.0" in name or "embeddings" in name for name in learned_state(model))
