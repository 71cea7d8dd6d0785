from dataclasses import replace

import numpy as np
import pytest
import torch

from bioqa.models.answers.selection import Calibration
from bioqa.models.cascade.encoder import CrossEncoder
from bioqa.models.cascade.ranker import Cascade, Combination, Speed, TunedCascade
from bioqa.models.cascade.tuning import (
    ReadQuestion,
    document_map,
    ranking_of,
    read_questions,
    sentence_weight_auc,
    straight_line,
    tune,
)
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.reranker import Reranker
from bioqa.models.training.data import Prepared
from tests.models.encoders.tiny import tiny_encoder


@pytest.fixture(scope="module")
def cascade(trained: Checkpoint, tmp_path_factory: pytest.TempPathFactory) -> Cascade:
    torch.manual_seed(5)
    reader = CrossEncoder(tiny_encoder(tmp_path_factory.mktemp("tuned") / "tiny"), 10)
    speed = Speed(0.0, 1.0, 1)
    tuned = TunedCascade(Combination(), speed, Calibration())
    return Cascade(Reranker(trained, name="toy"), reader, tuned, name="both")


@pytest.fixture(scope="module")
def read(cascade: Cascade, prepared: list[Prepared]) -> list[ReadQuestion]:
    return read_questions(cascade, prepared, documents=12)


@pytest.mark.parametrize("sentences", [0, 1])
@pytest.mark.parametrize("pieces", [0, 150, 400, 100_000])
def test_tuning_sees_the_rankings_that_are_served(
    cascade: Cascade, prepared: list[Prepared], pieces: int, sentences: int
) -> None:
    read = read_questions(cascade, prepared, documents=12, sentences=sentences)
    combination = Combination(0.5, 0.25, 0.75, -1.0, 0.5, 0.3, -0.2, most_sentences=sentences)
    serving = Cascade(
        cascade.first,
        cascade.reader,
        TunedCascade(combination, cascade.speed, cascade.calibration),
        name="both",
        budget_ms=pieces,
    )
    for question in read:
        asked = question.prepared
        served = serving.rank(asked.response.question.body, asked.retrieved.candidates)
        tuned = ranking_of(question, combination, pieces)
        assert [d.document for d in tuned.documents] == [d.document for d in served.documents]
        for a, b in zip(tuned.documents, served.documents, strict=True):
            assert (a.score, *a.sentence_scores) == pytest.approx((b.score, *b.sentence_scores), abs=1e-4)


def _perfect(read: list[ReadQuestion]) -> list[ReadQuestion]:
    """The encoder's scores replaced by the labels."""
    return [
        ReadQuestion(
            q.prepared,
            q.first,
            replace(q.reading, scores=[np.where(labels, 9.0, -9.0) for labels in q.labels()]),
        )
        for q in read
    ]


def test_an_encoder_that_knows_is_trusted(read: list[ReadQuestion]) -> None:
    combination, _, scores = tune(_perfect(read), pieces=100_000)
    assert combination.document_weight > 0
    assert scores["sentence_auc"] == 1.0
    # The gold of every toy question names one document that the index lacks.
    assert scores["document_map"] == pytest.approx(2 / 3, abs=1e-6)


def test_labels_are_those_of_the_documents(read: list[ReadQuestion]) -> None:
    for question in read:
        for ranked, labels in zip(question.first, question.labels(), strict=True):
            texts = [ranked.document.sentence_text(s) for s in ranked.document.sentences]
            gold = ranked.document.url in question.prepared.response.documents
            assert labels.tolist() == [gold and text.startswith("Treatment with") for text in texts]


def test_the_straight_line_is_that_of_least_squares() -> None:
    generator = np.random.default_rng(1)
    cheap, read = generator.normal(size=20), generator.normal(size=20)
    assert straight_line(cheap, read) == pytest.approx(tuple(np.polyfit(cheap, read, 1)), abs=1e-9)
    assert straight_line(np.zeros(0), np.zeros(0)) == (1.0, 0.0)
    assert straight_line(np.ones(5), read[:5]) == (1.0, 0.0)


def test_the_lines_map_the_first_rankers_scores_onto_what_was_read(read: list[ReadQuestion]) -> None:
    combination, _, _ = tune(read, pieces=100_000)
    weight = combination.sentence_weight
    cheap = np.concatenate([d.sentence_scores for q in read for d in q.first])
    logits = np.concatenate([s for q in read for s in q.reading.scores])
    line = combination.unread_scale, combination.unread_offset
    assert line == pytest.approx(tuple(np.polyfit(cheap, logits + weight * cheap, 1)), abs=1e-4)
    scores = [d.score for q in read for d in q.first]
    relevance = [x for q in read for x in q.reading.relevance]
    line = combination.unread_relevance_scale, combination.unread_relevance_offset
    assert line == pytest.approx(tuple(np.polyfit(scores, relevance, 1)), abs=1e-4)


def test_a_document_head_that_knows_is_trusted(read: list[ReadQuestion]) -> None:
    knowing = []
    for q in read:
        gold = set(q.prepared.response.documents)
        logits = [9.0 if d.document.url in gold else -9.0 for d in q.first]
        scores = [0 * s for s in q.reading.scores]
        knowing.append(replace(q, reading=replace(q.reading, scores=scores, relevance=logits)))
    combination, _, scores_of = tune(knowing, pieces=100_000)
    assert combination.relevance_weight > 0
    assert scores_of["document_map"] == pytest.approx(2 / 3, abs=1e-6)


def test_the_first_rankers_sentence_scores_can_outweigh(read: list[ReadQuestion]) -> None:
    blank = [
        ReadQuestion(q.prepared, q.first, replace(q.reading, scores=[0 * s for s in q.reading.scores]))
        for q in read
    ]
    assert sentence_weight_auc(blank, 0.0) == 0.5
    assert sentence_weight_auc(blank, 0.5) != 0.5


def test_document_map_by_hand(read: list[ReadQuestion]) -> None:
    oracle = [ranking_of(q, Combination(document_weight=100.0), 1e9) for q in _perfect(read)]
    assert document_map(read, oracle) == pytest.approx(2 / 3)
