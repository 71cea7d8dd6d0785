import numpy as np
import pytest
import torch

from bioqa.models.answers.selection import Calibration
from bioqa.models.cascade.encoder import CrossEncoder
from bioqa.models.cascade.ranker import Cascade, Combination, Speed, Tuned
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
    tuned = Tuned(Combination(), speed, Calibration())
    return Cascade(Reranker(trained, name="toy"), reader, tuned, name="both")


@pytest.fixture(scope="module")
def read(cascade: Cascade, prepared: list[Prepared]) -> list[ReadQuestion]:
    return read_questions(cascade, prepared, documents=12)


@pytest.mark.parametrize("pieces", [0, 150, 400, 100_000])
def test_tuning_sees_the_rankings_that_are_served(
    cascade: Cascade, read: list[ReadQuestion], pieces: int
) -> None:
    combination = Combination(0.5, 0.25, 0.75, -1.0)
    serving = Cascade(
        cascade.first,
        cascade.reader,
        Tuned(combination, cascade.speed, cascade.calibration),
        name="both",
        budget_ms=pieces,
    )
    for question in read:
        prepared = question.prepared
        served = serving.rank(prepared.response.question.body, prepared.retrieved.candidates)
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
            type(q.reading)([np.where(labels, 9.0, -9.0) for labels in q.labels()], q.reading.costs, 0),
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


def test_the_straight_line_is_that_of_least_squares(read: list[ReadQuestion]) -> None:
    cheap = np.concatenate([d.sentence_scores for q in read for d in q.first])
    logits = np.concatenate([s for q in read for s in q.reading.scores])
    expected = np.polyfit(cheap, logits + 0.5 * cheap, 1)
    assert straight_line(read, 0.5) == pytest.approx(tuple(expected), abs=1e-4)
    assert straight_line([], 0.5) == (1.0, 0.0)


def test_the_first_rankers_sentence_scores_can_outweigh(read: list[ReadQuestion]) -> None:
    blank = [
        ReadQuestion(
            q.prepared, q.first, type(q.reading)([0 * s for s in q.reading.scores], q.reading.costs, 0)
        )
        for q in read
    ]
    assert sentence_weight_auc(blank, 0.0) == 0.5
    assert sentence_weight_auc(blank, 0.5) != 0.5


def test_document_map_by_hand(read: list[ReadQuestion]) -> None:
    oracle = [ranking_of(q, Combination(document_weight=100.0), 1e9) for q in _perfect(read)]
    assert document_map(read, oracle) == pytest.approx(2 / 3)
