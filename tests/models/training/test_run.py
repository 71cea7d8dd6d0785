import numpy as np
import pytest
import torch

from bioqa.bioasq.measures import document_measures
from bioqa.models.answers.evaluation import measure
from bioqa.models.answers.selection import Calibration
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.features.extractor import Features
from bioqa.models.rankers.registry import RANKERS, RankerSettings, encoder_of, reader_for, settings_of
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training import run
from bioqa.models.training.data import Pool, Prepared, scaling_of
from bioqa.models.training.loop import Epoch
from bioqa.models.training.run import (
    Development,
    PoolScores,
    Trained,
    document_map,
    gold_auc,
    make_checkpoint,
    rankings_of,
    train_model,
)
from tests.models.encoders.tiny import encoder_for
from tests.models.toys import ABSENT

BEST_MAP = 2 / 3
"""Of the three gold documents of each toy question the index lacks one."""


def _train(
    settings: RankerSettings, vocabulary: Vocabulary, prepared: list[Prepared], seed: int = 1
) -> Trained:
    scaling = scaling_of(prepared)
    reader = reader_for(settings, encoder_for(settings))
    development = Development(prepared, settings, scaling, vocabulary, reader)
    return train_model(settings, vocabulary, prepared, scaling, development, seed=seed, reader=reader)


@pytest.mark.parametrize("ranker", list(RANKERS))
def test_learns_the_toy_questions_by_heart(
    ranker: str, vocabulary: Vocabulary, prepared: list[Prepared]
) -> None:
    settings = settings_of(ranker, dimensions=6, epochs=25, patience=25, pairs_per_step=4)
    trained = _train(settings, vocabulary, prepared)
    losses = [epoch.loss for epoch in trained.epochs]
    assert min(losses[-5:]) < 0.3 * losses[0]
    reader = reader_for(settings, encoder_of(trained.model))
    development = Development(prepared, settings, scaling_of(prepared), vocabulary, reader)
    scored = development.scores(trained.model)
    assert document_map(prepared, [s.documents for s in scored]) == pytest.approx(BEST_MAP)
    assert trained.best.scores["document_map"] == pytest.approx(BEST_MAP)
    if RANKERS[ranker].units == "sentences":
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
        _train(settings, vocabulary, prepared, seed).model.state_dict() for seed in (1, 1, 2)
    )
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_the_seed_decides_the_first_weights(
    vocabulary: Vocabulary, prepared: list[Prepared], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "fit", lambda *_, **__: [])
    settings = settings_of("jpdrmm", dimensions=6)
    first, again, other = (
        _train(settings, vocabulary, prepared, seed).model.state_dict() for seed in (1, 1, 2)
    )
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not any(torch.equal(first[name], other[name]) for name in first)


@pytest.mark.parametrize("ranker", list(RANKERS))
def test_a_ranker_is_measured_by_what_it_scores(
    ranker: str, vocabulary: Vocabulary, prepared: list[Prepared]
) -> None:
    settings = settings_of(ranker, dimensions=6, epochs=1)
    model = _train(settings, vocabulary, prepared).model
    reader = reader_for(settings, encoder_of(model))
    development = Development(prepared, settings, scaling_of(prepared), vocabulary, reader)
    scores, score = development.measure(model)
    if RANKERS[ranker].units == "documents":
        assert list(scores) == ["document_map"]
    else:
        assert list(scores) == ["document_map", "snippet_f1", "sentence_auc"]
    assert score == pytest.approx(np.mean(list(scores.values())))
    for question, scored in zip(prepared, development.scores(model), strict=True):
        assert len(scored.documents) == len(question.retrieved.candidates)
        if RANKERS[ranker].units == "sentences":
            assert len(scored.sentences) == len(question.retrieved.labels)
            assert len(scored.gold_sentences) == len(question.gold.labels)


def test_questions_without_candidates_are_scored_and_measured(
    vocabulary: Vocabulary, prepared: list[Prepared]
) -> None:
    of_any = prepared[0].retrieved
    features = Features(of_any.features.documents[:0], of_any.features.sentences[:0])
    empty = Pool((), (), features, of_any.relevant[:0], of_any.labels[:0])
    bare = Prepared(prepared[0].response, prepared[0].question, empty, empty)
    settings = settings_of("jpdrmm", dimensions=6, epochs=1)
    model = _train(settings, vocabulary, prepared).model
    development = Development([bare, prepared[1]], settings, scaling_of(prepared), vocabulary)
    assert [len(s.documents) for s in development.scores(model)] == [0, 12]
    alone = Development([prepared[1]], settings, scaling_of(prepared), vocabulary).measure(model)[0]
    both = development.measure(model)[0]
    assert both["document_map"] == pytest.approx(alone["document_map"] / 2)
    assert both["sentence_auc"] == pytest.approx(alone["sentence_auc"])


def test_document_map_is_that_of_the_official_measure(prepared: list[Prepared]) -> None:
    generator = np.random.default_rng(0)
    scores = [generator.normal(size=len(q.retrieved.candidates)) for q in prepared]
    rankings = rankings_of(
        prepared,
        [
            PoolScores(s, np.zeros(len(q.retrieved.labels)), np.zeros(0))
            for q, s in zip(prepared, scores, strict=True)
        ],
    )
    expected = [
        document_measures(
            q.response.documents, [d.document.url for d in r.documents[:10]], 8
        ).average_precision
        for q, r in zip(prepared, rankings, strict=True)
    ]
    assert document_map(prepared, scores) == pytest.approx(np.mean(expected))
    assert all(any(ABSENT in url for url in q.response.documents) for q in prepared)


def test_auc_is_within_each_gold_document(prepared: list[Prepared]) -> None:
    right = [q.gold.labels.astype(np.float64) for q in prepared]
    assert gold_auc(prepared, right) == 1.0
    assert gold_auc(prepared, [-s for s in right]) == 0.0
    assert gold_auc(prepared, [np.zeros(len(s)) for s in right]) == 0.5
    shifted = []
    for question, scores in zip(prepared, right, strict=True):
        first = len(question.gold.tokens[0].word_counts)
        shifted.append(scores + 100.0 * (np.arange(len(scores)) < first))
    assert gold_auc(prepared, shifted) == 1.0


def test_a_checkpoint_is_calibrated_and_measured_on_dev(
    trained: Checkpoint, prepared: list[Prepared]
) -> None:
    dev = prepared[:3]
    development = Development(dev, trained.settings, trained.scaling, trained.vocabulary)
    scored = development.scores(trained.model)
    golden = [q.response for q in dev]
    official = measure(rankings_of(dev, scored), golden, trained.calibration)
    assert trained.scores["snippet_f1"] == pytest.approx(np.mean([q.snippets.f1 for q in official]))
    assert trained.scores["document_map"] == pytest.approx(document_map(dev, [s.documents for s in scored]))
    assert trained.calibration != Calibration()
    assert trained.training["train"] == "toys"
    assert trained.training["epochs"] == 2
    assert trained.training["best_epoch"] in (1, 2)


def test_a_ranker_of_documents_is_not_calibrated(vocabulary: Vocabulary, prepared: list[Prepared]) -> None:
    settings = settings_of("pdrmm", dimensions=6, epochs=1)
    made = make_checkpoint(settings, vocabulary, prepared, prepared, seed=1, training={})
    assert made.calibration == Calibration()
    assert list(made.scores) == ["document_map"]
