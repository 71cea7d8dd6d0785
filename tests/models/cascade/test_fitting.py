from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from bioqa.bioasq.errors import BioqaError
from bioqa.models.cascade.encoder import CrossEncoder
from bioqa.models.cascade.fitting import (
    CrossSettings,
    FittingProgress,
    GoldDocument,
    Text,
    auc_of,
    fit,
    gold_documents,
    loss_of,
    rival_loss,
)
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.training.data import Prepared
from bioqa.models.training.state import Snapshot, StateFile
from tests.models.encoders.tiny import tiny_encoder

QUICK = CrossSettings(
    frozen_layers=1, learning_rate=1e-3, head_learning_rate=1e-2, documents_per_step=2, passes=1
)


def toy_model(folder: Path) -> CrossEncoder:
    torch.manual_seed(2)
    return CrossEncoder(tiny_encoder(folder / "tiny", ["cures", "drug"]), 10)


@pytest.fixture
def model(tmp_path: Path) -> CrossEncoder:
    return toy_model(tmp_path)


@pytest.fixture
def documents(prepared: list[Prepared], trained: Checkpoint) -> list[GoldDocument]:
    return gold_documents(prepared, trained.scaling, "paper")


def test_gold_documents_are_those_that_can_teach(
    documents: Sequence[GoldDocument], prepared: list[Prepared]
) -> None:
    assert len(documents) == 10
    for document in documents:
        sentences = document.text.sentences
        assert len(sentences) == len(document.text.features) == len(document.labels)
        answers = [s for s, label in zip(sentences, document.labels, strict=True) if label]
        assert len(answers) == 1
        assert answers[0].startswith("Treatment with ")


def test_rivals_are_the_best_irrelevant_candidates(prepared: list[Prepared], trained: Checkpoint) -> None:
    (question, *_) = prepared
    pool = question.retrieved
    (first, *_) = gold_documents([question], trained.scaling, "paper")
    wrong = [c.document for c, gold in zip(pool.candidates, pool.relevant, strict=True) if not gold]
    assert [text.sentences for text in first.rivals] == [
        tuple(document.sentence_text(s) for s in document.sentences) for document in wrong
    ]
    assert all(len(text.features) == len(text.sentences) for text in first.rivals)
    (fewer, *_) = gold_documents([question], trained.scaling, "paper", rivals=3)
    assert len(fewer.rivals) == 3 - sum(pool.relevant[:3])


def test_learns_toys_by_heart(model: CrossEncoder, documents: list[GoldDocument]) -> None:
    blind = [
        GoldDocument(d.question, Text(d.text.sentences, d.text.features * 0), d.labels) for d in documents
    ]
    losses: list[float] = []
    faster = replace(QUICK, learning_rate=3e-3)
    fit(model, blind * 20, faster, progress=lambda p: losses.append(p.loss))
    assert auc_of(model, blind) > 0.95
    assert losses[-1] < losses[0] / 2


def test_gradients_reach_what_learns_and_nothing_frozen(
    model: CrossEncoder, documents: list[GoldDocument]
) -> None:
    before = {name: value.clone() for name, value in model.named_parameters()}
    fit(model, documents, QUICK)
    changed = {name for name, value in model.named_parameters() if not torch.equal(value, before[name])}
    frozen = {name for name in before if "embeddings" in name or "layer.0." in name}
    # A key's bias shifts all of a softmax alike, so no gradient reaches it.
    assert {name for name in set(before) - frozen if "key.bias" not in name} <= changed
    assert not changed & frozen


def test_interrupted_it_goes_on_where_it_was(tmp_path: Path, documents: list[GoldDocument]) -> None:
    state = StateFile(tmp_path / "state", {"seed": 1})
    whole, halves = toy_model(tmp_path / "a"), toy_model(tmp_path / "b")
    reached = fit(whole, documents, QUICK)

    def interrupt(progress: FittingProgress) -> None:
        if progress.documents == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(halves, documents, QUICK, state, save_every_s=-1.0, progress=interrupt)
    seen: list[int] = []
    again = toy_model(tmp_path / "c")
    resumed = fit(again, documents, QUICK, state, progress=lambda p: seen.append(p.documents))
    assert (resumed.documents, resumed.of, seen[0]) == (reached.documents, 10, 6)
    for name, value in whole.state_dict().items():
        torch.testing.assert_close(again.state_dict()[name], value, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(
    "snapshot",
    [
        Snapshot({}, {"documents": 1, "seconds": 1.0}),
        Snapshot({"model/head.0.bias": torch.zeros(2)}, {"documents": 1, "seconds": 1.0}),
    ],
)
def test_a_state_that_does_not_fit_is_refused(
    snapshot: Snapshot, tmp_path: Path, model: CrossEncoder, documents: list[GoldDocument]
) -> None:
    state = StateFile(tmp_path / "state", {"seed": 1})
    state.save(snapshot)
    with pytest.raises(BioqaError, match="state: no usable state of a training; delete the file"):
        fit(model, documents, QUICK, state)


def test_a_pickled_state_is_refused_unread(
    tmp_path: Path, model: CrossEncoder, documents: list[GoldDocument]
) -> None:
    state = StateFile(tmp_path / "state", {"seed": 1})
    torch.save({"model": model.state_dict(), "optimiser": {}, "done": 1, "seconds": 1.0}, state.path)
    for size in (-1, 100, 0):
        state.path.write_bytes(state.path.read_bytes()[:size])
        with pytest.raises(BioqaError, match="state: no usable state of a training"):
            fit(model, documents, QUICK, state)


def test_training_ends_with_its_time(model: CrossEncoder, documents: list[GoldDocument]) -> None:
    reached = fit(model, documents, CrossSettings(frozen_layers=1, documents_per_step=1, minutes=1e-9))
    assert reached.documents < len(documents)


def test_nothing_to_learn_from(model: CrossEncoder) -> None:
    with pytest.raises(BioqaError, match="no gold document"):
        fit(model, [], QUICK)


def test_the_loss_by_hand() -> None:
    logits, labels = torch.tensor([1.0, -1.0, 0.5]), torch.tensor([True, False, True])
    shares = np.exp([1.0, -1.0, 0.5]) / np.exp([1.0, -1.0, 0.5]).sum()
    probabilities = 1 / (1 + np.exp([-1.0, 1.0, -0.5]))
    cross_entropy = -np.log([probabilities[0], 1 - probabilities[1], probabilities[2]]).mean()
    expected = -np.log(shares[[0, 2]]).mean() + cross_entropy
    assert loss_of(logits, labels).item() == pytest.approx(expected, rel=1e-5)


def test_the_rivals_loss_by_hand() -> None:
    gold, rival = torch.tensor([1.0, -1.0]), torch.tensor([0.5, -2.0, 0.0])
    none = np.log1p(np.exp([0.5, -2.0, 0.0])).mean()
    lower = np.log1p(np.exp(0.5 - 1.0))
    assert rival_loss(gold, rival, 0.25).item() == pytest.approx(none + 0.25 * lower, rel=1e-5)


def test_irrelevant_documents_fall_behind(model: CrossEncoder, documents: list[GoldDocument]) -> None:
    settings = CrossSettings(1, 1e-3, 1e-2, 2, passes=8, rival_share=1.0, document_weight=1.0)
    fit(model, documents, settings)
    for document in documents:
        best = [
            model.score(model.passages(document.question, text.sentences), text.features).max()
            for text in (document.text, *document.rivals)
        ]
        assert best[0] > max(best[1:])
