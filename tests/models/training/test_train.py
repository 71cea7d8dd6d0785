from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bioqa.models.answers.calibration import calibrate
from bioqa.models.answers.evaluation import measure
from bioqa.models.answers.selection import Calibration
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.rankers.registry import ARCHITECTURES, encoder_of, reader_for, settings_of
from bioqa.models.rankers.settings import RankerSettings
from bioqa.models.reranker import Reranker
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training import train as training
from bioqa.models.training.data import Prepared, RankerInputs, prepare, scaling_of
from bioqa.models.training.development import Development, document_map, gold_auc, rankings_of
from bioqa.models.training.loop import Epoch
from bioqa.models.training.train import Trained, TrainingData, make_checkpoint, train_model
from bioqa.system.errors import BioqaError
from tests.models.encoders.tiny import encoder_for
from tests.models.toys import GOLDEN, ToyIndex, toy_settings, vocabulary_of

BEST_MAP = 2 / 3
"""Of the three gold documents of each toy question the index lacks one."""


def train(
    settings: RankerSettings,
    vocabulary: Vocabulary,
    prepared: list[Prepared],
    seed: int = 1,
    state: Path | None = None,
) -> Trained:
    reader = reader_for(settings, encoder_for(settings))
    inputs = RankerInputs(settings, vocabulary, scaling_of(prepared), reader)
    return train_model(inputs, prepared, Development(prepared, inputs), seed=seed, state=state)


FASTER: dict[str, dict[str, Any]] = {
    name: {"learning_rate": 0.02}
    for name, kind in ARCHITECTURES.items()
    if kind.training is not None and kind.training.learning_rate < 0.01
} | {
    # Eleven numbers of random vectors tell too little of a document.
    "knrm": {"learning_rate": 0.02, "features": "extra"},
    # Few places that a term can be shuffled to.
    "co-pacrr": {"learning_rate": 0.01, "question_words": 4},
}
"""So that the toy questions, which make three steps an epoch, are learnt soon."""


@pytest.mark.parametrize("ranker", [name for name, kind in ARCHITECTURES.items() if kind.training])
def test_learns_the_toy_questions_by_heart(
    ranker: str, vocabulary: Vocabulary, prepared: list[Prepared]
) -> None:
    settings = toy_settings(ranker, epochs=25, patience=25, pairs_per_step=4, **FASTER.get(ranker, {}))
    trained = train(settings, vocabulary, prepared)
    losses = [epoch.loss for epoch in trained.epochs]
    assert min(losses[-5:]) <= 0.3 * losses[0]
    reader = reader_for(settings, encoder_of(trained.model))
    inputs = RankerInputs(settings, vocabulary, scaling_of(prepared), reader)
    development = Development(prepared, inputs)
    scored = development.scores(trained.model)
    assert document_map(prepared, [s.documents for s in scored]) == pytest.approx(BEST_MAP)
    assert trained.best.scores["document_map"] == pytest.approx(BEST_MAP)
    if ARCHITECTURES[ranker].units == "sentences":
        assert gold_auc(prepared, [s.gold_sentences for s in scored]) == 1.0
        assert trained.best.scores["sentence_auc"] == 1.0


def test_the_best_epoch_is_the_first_of_the_highest_score() -> None:
    epochs = [Epoch(number, 0.0, {}, score, 0.0) for number, score in enumerate((0.1, 0.4, 0.4, 0.2), 1)]
    assert Trained(torch.nn.Identity(), epochs).best is epochs[1]


def test_the_same_seed_gives_the_same_weights_and_leaves_torchs_generator_alone(
    vocabulary: Vocabulary, prepared: list[Prepared]
) -> None:
    settings = settings_of("jpdrmm", dimensions=6, epochs=2)
    state = torch.random.get_rng_state()
    first, second, other = (
        train(settings, vocabulary, prepared, seed).model.state_dict() for seed in (1, 1, 2)
    )
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_the_seed_decides_the_first_weights(
    vocabulary: Vocabulary, prepared: list[Prepared], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "fit", lambda *_, **__: [])
    settings = settings_of("jpdrmm", dimensions=6)
    first, again, other = (
        train(settings, vocabulary, prepared, seed).model.state_dict() for seed in (1, 1, 2)
    )
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not any(torch.equal(first[name], other[name]) for name in first)


@pytest.mark.parametrize("ranker", ["delta", "sevmos-c1", "sevmos-c3"])
def test_weighted_by_grades_a_ranker_learns_the_same_from_binary_gold(
    ranker: str, vocabulary: Vocabulary, prepared: list[Prepared]
) -> None:
    plain, weighted = (
        train(toy_settings(ranker, epochs=2, document_loss=loss), vocabulary, prepared)
        for loss in ("pointwise", "graded")
    )
    states = plain.model.state_dict(), weighted.model.state_dict()
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    assert [epoch.loss for epoch in plain.epochs] == [epoch.loss for epoch in weighted.epochs]
    assert plain.epochs[0].loss != plain.epochs[1].loss


def test_a_checkpoint_is_calibrated_and_measured_on_dev(
    trained: Checkpoint, prepared: list[Prepared]
) -> None:
    dev = prepared[:3]
    inputs = RankerInputs(trained.settings, trained.vocabulary, trained.scaling)
    development = Development(dev, inputs)
    scored = development.scores(trained.model)
    golden = [q.response for q in dev]
    official = measure(rankings_of(dev, scored), golden, trained.calibration)
    assert trained.scores["snippet_f1"] == pytest.approx(np.mean([q.snippets.f1 for q in official]))
    assert trained.scores["document_map"] == pytest.approx(document_map(dev, [s.documents for s in scored]))
    assert trained.calibration != Calibration()
    assert trained.training["train"] == "toys"
    assert trained.training["epochs"] == 2
    assert trained.training["best_epoch"] in (1, 2)


def test_a_ranker_that_has_nothing_to_learn_is_measured_and_calibrated(
    vocabulary: Vocabulary, prepared: list[Prepared]
) -> None:
    data = TrainingData(vocabulary, prepared, prepared)
    made = make_checkpoint(toy_settings("ql"), data, seed=1, record={})
    scored = Development(prepared, RankerInputs(made.settings, vocabulary, made.scaling)).scores(made.model)
    assert made.scores["document_map"] == document_map(prepared, [s.documents for s in scored])
    assert made.calibration != Calibration()
    assert made.training["epochs"] == made.training["best_epoch"] == 0
    assert not made.curve
    assert not made.model.state_dict()


def test_a_ranker_of_documents_is_calibrated_with_the_sentence_scores_it_is_served_with(
    vocabulary: Vocabulary, prepared: list[Prepared]
) -> None:
    settings = settings_of("pdrmm", dimensions=6, epochs=1)
    made = make_checkpoint(settings, TrainingData(vocabulary, prepared, prepared), seed=1, record={})
    served = Reranker(made, name="toy")
    golden = [q.response for q in prepared]
    rankings = [served.rank(q.response.question.body, q.retrieved.candidates) for q in prepared]
    expected, _ = calibrate(rankings, golden)
    assert made.calibration != Calibration()
    for name in ("sentence_scale", "sentence_offset", "document_scale"):
        assert getattr(made.calibration, name) == pytest.approx(getattr(expected, name), rel=1e-4)
    f1 = {
        which: np.mean([q.snippets.f1 for q in measure(rankings, golden, calibration)])
        for which, calibration in (("served", made.calibration), ("uncalibrated", Calibration()))
    }
    assert made.scores["snippet_f1"] == pytest.approx(f1["served"])
    assert f1["served"] >= f1["uncalibrated"]
    assert list(made.scores) == ["document_map", "snippet_f1"]


def _stop(epoch: Epoch) -> None:
    raise KeyboardInterrupt


def test_a_state_is_refused_where_gold_or_vectors_differ(
    vocabulary: Vocabulary, prepared: list[Prepared], index: ToyIndex, tmp_path: Path
) -> None:
    settings = settings_of("jpdrmm", dimensions=6, epochs=2)
    state = tmp_path / "state"
    inputs = RankerInputs(settings, vocabulary, scaling_of(prepared))
    with pytest.raises(KeyboardInterrupt):
        train_model(inputs, prepared, Development(prepared, inputs), seed=1, progress=_stop, state=state)

    def resume(inputs: RankerInputs, train: list[Prepared], dev: list[Prepared], seed: int = 1) -> Trained:
        return train_model(inputs, train, Development(dev, inputs), seed=seed, state=state)

    vectors = vocabulary_of(vocabulary.words, seed=3).vectors
    other = replace(inputs, vocabulary=replace(vocabulary, vectors=vectors))
    fewer = [replace(GOLDEN[0], snippets=()), *GOLDEN[1:]]
    relabelled = prepare(index, fewer, vocabulary, size=12)
    for named, arguments in (
        ("vocabulary", (other, prepared, prepared)),
        ("training questions", (inputs, relabelled, prepared)),
        ("development questions", (inputs, prepared, relabelled)),
        ("seed", (inputs, prepared, prepared, 2)),
        ("epochs", (replace(inputs, settings=settings.with_changes(epochs=3)), prepared, prepared)),
    ):
        with pytest.raises(BioqaError, match=f"with other {named}; delete"):
            resume(*arguments)
    assert len(resume(inputs, prepared, prepared).epochs) == 2
