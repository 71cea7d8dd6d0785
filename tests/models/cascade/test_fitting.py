from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from bioqa.models.cascade.encoder import CrossEncoder
from bioqa.models.cascade.fitting import (
    CrossSettings,
    FittingProgress,
    GoldDocument,
    QuestionGroup,
    ReadDocument,
    auc_of,
    document_loss,
    fit,
    group_loss,
    loss_of,
    question_groups,
)
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.reranker import Reranker
from bioqa.models.training.data import Prepared
from bioqa.models.training.state import Snapshot, StateFile
from bioqa.system.errors import BioqaError
from tests.models.encoders.tiny import tiny_encoder

QUICK = CrossSettings(
    frozen_layers=1, learning_rate=1e-3, head_learning_rate=1e-2, questions_per_step=1, passes=2
)


def toy_model(folder: Path) -> CrossEncoder:
    torch.manual_seed(2)
    return CrossEncoder(tiny_encoder(folder / "tiny", ["cures", "drug"]), 10)


@pytest.fixture
def model(tmp_path: Path) -> CrossEncoder:
    return toy_model(tmp_path)


@pytest.fixture
def groups(prepared: list[Prepared], trained: Checkpoint) -> list[QuestionGroup]:
    return question_groups(prepared, Reranker(trained, name="toy"))


def test_groups_hold_every_gold_document_of_the_index(
    groups: Sequence[QuestionGroup], prepared: list[Prepared]
) -> None:
    assert [len(g.gold) for g in groups] == [len(q.gold.candidates) for q in prepared]
    for document in (document for group in groups for document in group.gold):
        sentences = document.text.sentences
        assert len(sentences) == len(document.text.features) == len(document.labels)
        answers = [s for s, label in zip(sentences, document.labels, strict=True) if label]
        assert len(answers) == 1
        assert answers[0].startswith("Treatment with ")
        assert document.teaches_sentences


def test_rivals_are_the_first_rankers_best_irrelevant_candidates(
    prepared: list[Prepared], trained: Checkpoint
) -> None:
    (question, *_) = prepared
    first = Reranker(trained, name="toy")
    (group,) = question_groups([question], first)
    relevant = set(question.response.documents)
    body = question.response.question.body
    wrong = [
        d.document
        for d in first.rank(body, question.retrieved.candidates).documents
        if d.document.url not in relevant
    ]
    assert [text.sentences for text in group.rivals] == [
        tuple(document.sentence_text(s) for s in document.sentences) for document in wrong
    ]
    assert all(len(text.features) == len(text.sentences) for text in group.rivals)
    (fewer,) = question_groups([question], first, rivals=2)
    assert [t.sentences for t in fewer.rivals] == [t.sentences for t in group.rivals[:2]]


def _blind(text: ReadDocument) -> ReadDocument:
    return ReadDocument(text.sentences, text.features * 0)


def test_learns_toys_by_heart(model: CrossEncoder, groups: list[QuestionGroup]) -> None:
    blind = [
        QuestionGroup(
            g.question, [GoldDocument(_blind(d.text), d.labels) for d in g.gold], [*map(_blind, g.rivals)]
        )
        for g in groups
    ]
    losses: list[float] = []
    faster = replace(QUICK, learning_rate=3e-3, passes=40, average=0.9)
    reached = fit(model, blind, faster, progress=lambda p: losses.append(p.loss))
    assert (auc_of(model, blind) or 0) > 0.95
    assert losses[-1] < losses[0] / 2
    assert [seen for seen, _ in reached.curve] == list(range(25, reached.questions + 1, 25))
    assert reached.curve[-1][1] < reached.curve[0][1]
    for group in groups:
        scores = [
            model.score(model.passages(group.question, text.sentences), 0 * text.features)[1].max()
            for text in (*(d.text for d in group.gold), *group.rivals)
        ]
        # Not each by each: the toys' distractors repeat some gold texts.
        assert np.mean(scores[: len(group.gold)]) > np.mean(scores[len(group.gold) :]) + 1


def test_gradients_reach_what_learns_and_nothing_frozen(
    model: CrossEncoder, groups: list[QuestionGroup]
) -> None:
    before = {name: value.clone() for name, value in model.named_parameters()}
    fit(model, groups, QUICK)
    changed = {name for name, value in model.named_parameters() if not torch.equal(value, before[name])}
    frozen = {name for name in before if "embeddings" in name or "layer.0." in name}
    # A key's bias shifts all of a softmax alike, so no gradient reaches it.
    assert {name for name in set(before) - frozen if "key.bias" not in name} <= changed
    assert not changed & frozen


def test_interrupted_it_goes_on_where_it_was(tmp_path: Path, groups: list[QuestionGroup]) -> None:
    state = StateFile(tmp_path / "state", {"seed": 1})
    whole, halves = toy_model(tmp_path / "a"), toy_model(tmp_path / "b")
    reached = fit(whole, groups, QUICK)

    def interrupt(progress: FittingProgress) -> None:
        if progress.questions == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(halves, groups, QUICK, state, save_every_s=-1.0, progress=interrupt)
    seen: list[int] = []
    again = toy_model(tmp_path / "c")
    resumed = fit(again, groups, QUICK, state, progress=lambda p: seen.append(p.questions))
    of = 2 * len(groups)
    assert (resumed.questions, resumed.of, seen[0]) == (reached.questions, of, 3)
    for name, value in whole.state_dict().items():
        torch.testing.assert_close(again.state_dict()[name], value, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(
    "snapshot",
    [
        Snapshot({}, {"questions": 1, "seconds": 1.0}),
        Snapshot({"model/head.0.bias": torch.zeros(2)}, {"questions": 1, "seconds": 1.0}),
    ],
)
def test_a_state_that_does_not_fit_is_refused(
    snapshot: Snapshot, tmp_path: Path, model: CrossEncoder, groups: list[QuestionGroup]
) -> None:
    state = StateFile(tmp_path / "state", {"seed": 1})
    state.save(snapshot)
    with pytest.raises(BioqaError, match="state: no usable state of a training; delete the file"):
        fit(model, groups, QUICK, state)


def test_a_pickled_state_is_refused_unread(
    tmp_path: Path, model: CrossEncoder, groups: list[QuestionGroup]
) -> None:
    state = StateFile(tmp_path / "state", {"seed": 1})
    torch.save({"model": model.state_dict(), "optimiser": {}, "done": 1, "seconds": 1.0}, state.path)
    for size in (-1, 100, 0):
        state.path.write_bytes(state.path.read_bytes()[:size])
        with pytest.raises(BioqaError, match="state: no usable state of a training"):
            fit(model, groups, QUICK, state)


def test_training_ends_with_its_time(model: CrossEncoder, groups: list[QuestionGroup]) -> None:
    reached = fit(model, groups, replace(QUICK, minutes=1e-9))
    assert reached.questions < len(groups)


def test_nothing_to_learn_from(model: CrossEncoder, groups: list[QuestionGroup]) -> None:
    unlabelled = [replace(g, gold=[replace(d, labels=d.labels & False) for d in g.gold]) for g in groups]
    for nothing in ([], unlabelled):
        with pytest.raises(BioqaError, match="no gold document"):
            fit(model, nothing, QUICK)
    assert auc_of(model, unlabelled) is None


def test_the_loss_by_hand() -> None:
    logits, labels = torch.tensor([1.0, -1.0, 0.5]), torch.tensor([True, False, True])
    shares = np.exp([1.0, -1.0, 0.5]) / np.exp([1.0, -1.0, 0.5]).sum()
    probabilities = 1 / (1 + np.exp([-1.0, 1.0, -0.5]))
    cross_entropy = -np.log([probabilities[0], 1 - probabilities[1], probabilities[2]]).mean()
    expected = -np.log(shares[[0, 2]]).mean() + cross_entropy
    assert loss_of(logits, labels).item() == pytest.approx(expected, rel=1e-5)


def test_the_documents_loss_by_hand() -> None:
    gold, rivals = torch.tensor([1.0, -1.0]), torch.tensor([0.5, -2.0])
    against = [-np.log(np.exp(g) / (np.exp(g) + np.exp(0.5) + np.exp(-2.0))) for g in (1.0, -1.0)]
    cross = np.log1p(np.exp([-1.0, 1.0, 0.5, -2.0])).mean()
    assert document_loss(gold, rivals).item() == pytest.approx(np.mean(against) + cross, rel=1e-5)


def test_the_loss_of_groups_is_the_weighted_sum_of_its_parts() -> None:
    def text(sentences: int) -> ReadDocument:
        return ReadDocument(("x",) * sentences, np.zeros((sentences, 1)))

    labelled = GoldDocument(text(2), np.array([True, False]))
    unlabelled = GoldDocument(text(1), np.array([False]))
    groups = [QuestionGroup("a", [labelled, unlabelled], [text(2)]), QuestionGroup("b", [labelled])]
    sentences = [torch.tensor(x) for x in ([1.0, 0.0], [4.0], [0.5, -0.5], [-1.0, 2.0])]
    documents = torch.tensor([1.0, 2.0, -1.0, 9.0])
    settings = CrossSettings(rival_weight=0.25, document_weight=2.0)
    of_gold = [loss_of(sentences[i], torch.from_numpy(labelled.labels)).item() for i in (0, 3)]
    of_rival = np.log1p(np.exp([0.5, -0.5])).mean()
    of_documents = document_loss(documents[:2], documents[2:3]).item()
    expected = np.mean(of_gold) + 0.25 * of_rival + 2 * of_documents
    assert group_loss(groups, sentences, documents, settings).item() == pytest.approx(expected, rel=1e-5)
    nothing = [QuestionGroup("c", [unlabelled])]
    assert group_loss(nothing, sentences[1:2], documents[1:2], settings).item() == 0
