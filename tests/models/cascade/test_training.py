import json
from pathlib import Path

import numpy as np
import pytest
import torch

from bioqa.bioasq.files import write_submission
from bioqa.models import checkpoint
from bioqa.models.answers.selection import Calibration
from bioqa.models.cascade import files as cascade_files
from bioqa.models.cascade.encoder import CrossEncoder
from bioqa.models.cascade.fitting import CrossSettings
from bioqa.models.cascade.ranker import Cascade, Combination, Speed
from bioqa.models.cascade.training import (
    Read,
    document_map,
    ranking_of,
    read_questions,
    sentence_weight_auc,
    share,
    straight_line,
    train_files,
    tune,
)
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.reranker import Reranker
from bioqa.models.training.data import Prepared
from tests.models.encoders.tiny import tiny_encoder, write_tiny
from tests.models.toys import GOLDEN, ToyIndex


@pytest.fixture(scope="module")
def cascade(trained: Checkpoint, tmp_path_factory: pytest.TempPathFactory) -> Cascade:
    torch.manual_seed(5)
    reader = CrossEncoder(tiny_encoder(tmp_path_factory.mktemp("tuned") / "tiny"), 10)
    speed = Speed(0.0, 1.0, 1)
    return Cascade(Reranker(trained, name="toy"), reader, Combination(), speed, Calibration(), name="both")


@pytest.fixture(scope="module")
def read(cascade: Cascade, prepared: list[Prepared]) -> list[Read]:
    return read_questions(cascade, prepared, documents=12)


@pytest.mark.parametrize("pieces", [0, 150, 400, 100_000])
def test_tuning_sees_the_rankings_that_are_served(cascade: Cascade, read: list[Read], pieces: int) -> None:
    combination = Combination(0.5, 0.25, 0.75, -1.0)
    serving = Cascade(
        cascade.first,
        cascade.reader,
        combination,
        cascade.speed,
        cascade.calibration,
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


def _perfect(read: list[Read]) -> list[Read]:
    """The encoder's scores replaced by the labels."""
    return [
        Read(
            q.prepared,
            q.first,
            type(q.reading)([np.where(labels, 9.0, -9.0) for labels in q.labels()], q.reading.costs, 0),
        )
        for q in read
    ]


def test_an_encoder_that_knows_is_trusted(read: list[Read]) -> None:
    combination, _, scores = tune(_perfect(read), pieces=100_000)
    assert combination.document_weight > 0
    assert scores["sentence_auc"] == 1.0
    # The gold of every toy question names one document that the index lacks.
    assert scores["document_map"] == pytest.approx(2 / 3, abs=1e-6)


def test_labels_are_those_of_the_documents(read: list[Read]) -> None:
    for question in read:
        for ranked, labels in zip(question.first, question.labels(), strict=True):
            texts = [ranked.document.sentence_text(s) for s in ranked.document.sentences]
            gold = ranked.document.url in question.prepared.response.documents
            assert labels.tolist() == [gold and text.startswith("Treatment with") for text in texts]


def test_the_straight_line_is_that_of_least_squares(read: list[Read]) -> None:
    cheap = np.concatenate([d.sentence_scores for q in read for d in q.first])
    logits = np.concatenate([s for q in read for s in q.reading.scores])
    expected = np.polyfit(cheap, logits + 0.5 * cheap, 1)
    assert straight_line(read, 0.5) == pytest.approx(tuple(expected), abs=1e-4)
    assert straight_line([], 0.5) == (1.0, 0.0)


def test_the_first_rankers_sentence_scores_can_outweigh(read: list[Read]) -> None:
    blank = [
        Read(q.prepared, q.first, type(q.reading)([0 * s for s in q.reading.scores], q.reading.costs, 0))
        for q in read
    ]
    assert sentence_weight_auc(blank, 0.0) == 0.5
    assert sentence_weight_auc(blank, 0.5) != 0.5


def test_document_map_by_hand(read: list[Read]) -> None:
    oracle = [ranking_of(q, Combination(document_weight=100.0), 1e9) for q in _perfect(read)]
    assert document_map(read, oracle) == pytest.approx(2 / 3)


def test_a_share_is_random_and_the_same_again(prepared: list[Prepared]) -> None:
    ids = [[q.response.question.id for q in share(prepared, 3, seed)] for seed in (1, 1, 2)]
    assert ids[0] == ids[1] != ids[2]
    assert len(share(prepared, 99)) == len(prepared)


def test_from_files_to_a_cascade_that_answers(trained: Checkpoint, index: ToyIndex, tmp_path: Path) -> None:
    checkpoint.save(trained, tmp_path / "first")
    write_tiny(tmp_path / "encoder", ["drug", "cures"])
    write_submission(tmp_path / "train.json", GOLDEN)
    write_submission(tmp_path / "dev.json", GOLDEN[:2])
    output = tmp_path / "out" / "both"
    made = train_files(
        str(tmp_path / "first"),
        str(tmp_path / "encoder"),
        index,
        tmp_path / "train.json",
        tmp_path / "dev.json",
        output,
        settings=CrossSettings(frozen_layers=1),
        device="cpu",
    )
    assert [path.name for path in output.parent.iterdir()] == ["both"]
    loaded = cascade_files.load(output, device="cpu")
    body = GOLDEN[0].question.body
    assert loaded.rank(body, index.search(body)) == made.rank(body, index.search(body))
    record = json.loads((output / "config.json").read_text())
    assert record["training"]["gold_documents"] == 10
    assert record["training"]["documents_seen"] == record["training"]["documents_to_see"] == 20
    assert record["training"]["encoder"] == "encoder"
    assert record["scores"]["dev_questions"] == 2
    assert record["speed"]["pieces_per_ms"] > 0
