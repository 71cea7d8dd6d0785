from collections.abc import Mapping

import pytest
import torch
from torch import nn

from bioqa.models.rankers.registry import ARCHITECTURES, build, settings_of
from bioqa.models.rankers.settings import DocumentLoss, RankerSettings
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.loop import Epoch, fit
from bioqa.models.training.pairs import TrainingSet
from bioqa.system.errors import BioqaError
from tests.models.encoders.tiny import encoder_for
from tests.models.toys import toy_settings
from tests.models.training.test_pairs import JPDRMM, question, questions


def _model(vocabulary: Vocabulary, settings: RankerSettings = JPDRMM) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return build(settings, torch.from_numpy(vocabulary.vectors), encoder_for(settings))


@pytest.mark.parametrize("loss", ["hinge", "softmax"])
def test_training_with_several_irrelevant_documents_and_a_falling_rate(
    vocabulary: Vocabulary, loss: DocumentLoss
) -> None:
    settings = JPDRMM.with_changes(
        irrelevant_documents=3, document_loss=loss, falling_rate=True, listwise_weight=0.3, epochs=6
    )
    model = _model(vocabulary, settings)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    learned = TrainingSet(questions(settings), vocabulary)
    epochs = fit(model, settings, learned, lambda _: ({}, 0.0), seed=1)
    assert settings.training is not None
    assert len(epochs) < settings.training.epochs  # out of patience: nothing got better
    grown = settings.with_changes(patience=9)
    epochs = fit(_model(vocabulary, grown), grown, learned, lambda _: ({}, 0.0), seed=1)
    assert epochs[-1].loss < epochs[0].loss
    assert any(not torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_a_falling_rate_is_what_is_left_of_training(
    vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = []
    step = torch.optim.Adam.step

    def noting(self: torch.optim.Adam, *args: object) -> object:
        rates.append(self.param_groups[0]["lr"])
        return step(self, *args)

    monkeypatch.setattr(torch.optim.Adam, "step", noting)
    settings = JPDRMM.with_changes(falling_rate=True, epochs=2, learning_rate=0.3)
    fit(_model(vocabulary), settings, TrainingSet(questions(), vocabulary), lambda _: ({}, 0.0), seed=1)
    # Three pairs an epoch, two a step.
    assert rates == pytest.approx([0.3, 0.3 * (1 - 1 / 3), 0.3 * 0.5, 0.3 * (0.5 - 1 / 3)])


class _Script:
    """Scores told in advance; remembers the weights that they were given for."""

    def __init__(self, *scores: float) -> None:
        self.scores = scores
        self.weights: list[dict[str, torch.Tensor]] = []

    def __call__(self, model: nn.Module) -> tuple[Mapping[str, float], float]:
        assert not model.training
        self.weights.append({name: value.clone() for name, value in model.state_dict().items()})
        score = self.scores[len(self.weights) - 1]
        return {"scripted": score}, score


def _equal(left: Mapping[str, torch.Tensor], right: Mapping[str, torch.Tensor]) -> bool:
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


@pytest.mark.parametrize(
    ("scores", "patience", "run", "best"),
    [
        ((0.1, 0.5, 0.4, 0.3, 0.9), 2, 4, 2),
        ((0.1, 0.5, 0.4, 0.5, 0.5), 4, 5, 2),
        ((0.5, 0.4), 1, 2, 1),
        ((0.1, 0.2, 0.3, 0.4, 0.5), 1, 5, 5),
        ((0.0, 0.0, 0.0, 0.0, 0.0), 3, 4, 1),
    ],
)
def test_stops_early_and_keeps_the_best_epoch(
    vocabulary: Vocabulary, scores: tuple[float, ...], patience: int, run: int, best: int
) -> None:
    settings = settings_of("jpdrmm", dimensions=6, epochs=5, patience=patience, pairs_per_step=2)
    model, script, told = _model(vocabulary), _Script(*scores), list[Epoch]()
    epochs = fit(model, settings, TrainingSet(questions(), vocabulary), script, 1, told.append)
    assert [e.number for e in epochs] == list(range(1, run + 1))
    assert [e.score for e in epochs] == list(scores[:run])
    assert told == epochs
    assert _equal(model.state_dict(), script.weights[best - 1])
    assert not any(_equal(model.state_dict(), w) for i, w in enumerate(script.weights, 1) if i != best)
    assert not model.training


@pytest.mark.parametrize("ranker", [name for name, kind in ARCHITECTURES.items() if kind.training])
def test_the_same_seed_gives_the_same_weights(ranker: str, vocabulary: Vocabulary) -> None:
    settings = toy_settings(ranker, epochs=2, pairs_per_step=2, frozen_epochs=1)
    made = []
    for seed in (1, 1, 2):
        model = _model(vocabulary, settings)
        with torch.random.fork_rng(devices=[]):
            # A fine-tuned encoder's dropout draws from it.
            torch.manual_seed(seed)
            fit(model, settings, TrainingSet(questions(settings), vocabulary), _Script(0.1, 0.2), seed)
        made.append(model.state_dict())
    assert _equal(made[0], made[1])
    assert not _equal(made[0], made[2])


def test_training_draws_nothing_from_torchs_own_generator(vocabulary: Vocabulary) -> None:
    before = torch.random.get_rng_state()
    fit(_model(vocabulary), JPDRMM, TrainingSet(questions(), vocabulary), _Script(0.1, 0.2, 0.3), 1)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_the_loss_is_the_weighted_sum_of_its_parts(vocabulary: Vocabulary) -> None:
    """In the first step nothing has been learnt yet, so that losses of one model can be added."""

    def first_loss(**weights: float) -> float:
        settings = settings_of(
            "jpdrmm",
            dimensions=6,
            epochs=1,
            **{"document_weight": 0.0, "sentence_weight": 0.0, "listwise_weight": 0.0, **weights},
        )
        return fit(_model(vocabulary), settings, TrainingSet(questions(), vocabulary), _Script(0.0), 1)[
            0
        ].loss

    document, sentence, listwise = (
        first_loss(**{f"{name}_weight": 1.0}) for name in ("document", "sentence", "listwise")
    )
    assert min(document, sentence, listwise) > 0
    mixed = first_loss(document_weight=2.0, sentence_weight=0.1, listwise_weight=0.5)
    assert mixed == pytest.approx(2 * document + 0.1 * sentence + 0.5 * listwise, rel=1e-5)


def test_nothing_to_train_on_is_said(vocabulary: Vocabulary) -> None:
    with pytest.raises(BioqaError, match=r"no training pair.*with a golden sentence and"):
        fit(_model(vocabulary), JPDRMM, TrainingSet(questions()[1:3], vocabulary), _Script(0.0), 1)


def test_without_a_golden_sentence_only_rankers_of_documents_learn(vocabulary: Vocabulary) -> None:
    settings = settings_of("pdrmm", dimensions=6, epochs=1)
    learned = TrainingSet([question(1, [True, False], [[False], [False]], settings)], vocabulary)
    assert len(fit(_model(vocabulary, settings), settings, learned, _Script(0.0), 1)) == 1
    irrelevant = TrainingSet([question(1, [False], [[False]], settings)], vocabulary)
    with pytest.raises(BioqaError, match="both a relevant candidate and an irrelevant one"):
        fit(_model(vocabulary, settings), settings, irrelevant, _Script(0.0), 1)
