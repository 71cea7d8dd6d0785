"""Rankers over an encoder, from files to answers."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from bioqa.bioasq.domain import Candidate
from bioqa.bioasq.files import write_submission
from bioqa.models import checkpoint
from bioqa.models.checkpoint import Checkpoint, CheckpointError
from bioqa.models.rankers.registry import encoder_of, settings_of
from bioqa.models.rankers.settings import RankerSettingsError
from bioqa.models.reranker import Reranker
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.files import TrainingPlan, train_ranker
from tests.models.encoders.tiny import write_tiny
from tests.models.toys import GOLDEN, ToyIndex, document

BODY = GOLDEN[0].question.body
SMALL: dict[str, Any] = {"dimensions": 6, "epochs": 2, "frozen_epochs": 1, "encoder_learning_rate": 1e-3}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny(tmp_path_factory.mktemp("encoder") / "tiny", positions=320)


@pytest.fixture(scope="module")
def made(
    index: ToyIndex, vocabulary: Vocabulary, encoder: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Path, Checkpoint]]:
    root = tmp_path_factory.mktemp("made")
    golden = root / "golden.json"
    write_submission(golden, GOLDEN)
    found = {}
    for ranker in ("jbert-nf", "jbert-adapt", "bjpdrmm-adapt-nf", "bert"):
        settings = settings_of(ranker, **SMALL, encoder=str(encoder))
        plan = TrainingPlan(settings, golden, golden, root / ranker, vocabulary=vocabulary)
        found[ranker] = plan.output, train_ranker(plan, index)
    return found


@pytest.fixture
def folder(made: dict[str, tuple[Path, Checkpoint]], tmp_path: Path) -> Path:
    """A fine-tuned checkpoint, to be damaged at will."""
    return Path(shutil.copytree(made["jbert-adapt"][0], tmp_path / "copy"))


OVER_ENCODER = pytest.mark.parametrize("ranker", ["jbert-nf", "jbert-adapt", "bjpdrmm-adapt-nf", "bert"])


@OVER_ENCODER
def test_loaded_it_answers_as_when_it_was_trained(
    ranker: str, made: dict[str, tuple[Path, Checkpoint]], index: ToyIndex
) -> None:
    path, trained = made[ranker]
    candidates = index.search(BODY)
    loaded = Reranker.load(path, device="cpu")
    first, second = (r.rank(BODY, candidates) for r in (Reranker(trained, name=ranker), loaded))
    assert len(first.documents) == len(candidates)
    assert first.truncated_sentences == second.truncated_sentences == 0
    for one, other in zip(first.documents, second.documents, strict=True):
        assert one.document == other.document
        assert one.score == pytest.approx(other.score, abs=1e-5)
        assert one.sentence_scores == pytest.approx(other.sentence_scores, abs=1e-5)
    assert len({d.score for d in first.documents}) > 1


@OVER_ENCODER
def test_the_config_names_the_encoder(
    ranker: str, made: dict[str, tuple[Path, Checkpoint]], encoder: Path
) -> None:
    path, trained = made[ranker]
    below = encoder_of(trained.model)
    assert below is not None
    assert trained.config["encoder"] == {"name": str(encoder), "fingerprint": below.fingerprint}
    assert checkpoint.load(path).config == trained.config


def test_only_what_was_learned_is_kept(made: dict[str, tuple[Path, Checkpoint]]) -> None:
    def of_encoder(ranker: str) -> list[str]:
        return [name for name in load_file(made[ranker][0] / "model.safetensors") if ".encoder." in name]

    assert of_encoder("jbert-nf") == []
    assert of_encoder("bjpdrmm-adapt-nf") == []
    tuned = of_encoder("jbert-adapt")
    assert tuned
    assert not [name for name in tuned if "embeddings" in name]
    assert [name for name in of_encoder("bert") if "embeddings" in name]


def test_nothing_of_training_is_left_but_cached_states(made: dict[str, tuple[Path, Checkpoint]]) -> None:
    root = made["bert"][0].parent
    assert not list(root.glob("*.training.*"))
    assert list((root / "jbert-nf.states").glob("*.states"))


def _refused(folder: Path, message: str) -> None:
    with pytest.raises(CheckpointError, match=message):
        checkpoint.load(folder, device="cpu")


def test_another_encoder_under_the_same_name(
    made: dict[str, tuple[Path, Checkpoint]], encoder: Path, tmp_path: Path
) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(encoder, moved)
    path = Path(shutil.copytree(made["jbert-nf"][0], tmp_path / "checkpoint"))
    config = path / "config.json"
    config.write_text(config.read_text().replace(str(encoder), str(moved)))
    checkpoint.load(path)
    write_tiny(moved, positions=320, seed=5)
    _refused(path, "trained over an encoder of fingerprint .* but .*moved has")
    shutil.rmtree(moved)
    _refused(path, "checkpoint: encoder .*moved': neither a folder nor")


def test_frozen_weights_in_the_checkpoint(folder: Path) -> None:
    path = folder / "model.safetensors"
    name = "sentence_ranker.text_ranker.encoder.transformer.embeddings.word_embeddings.weight"
    save_file({**load_file(path), name: torch.zeros(3)}, path)
    _refused(folder, f"holds weights that are frozen: {name}")


def test_a_tuned_weight_that_is_missing(folder: Path) -> None:
    path = folder / "model.safetensors"
    weights = load_file(path)
    name = next(name for name in weights if "layer.1" in name)
    del weights[name]
    save_file(weights, path)
    _refused(folder, f"Missing key.*{name}|{name}")


def test_a_gpu_that_is_missing(folder: Path) -> None:
    with pytest.raises(CheckpointError, match="'cuda:99' was asked for"):
        checkpoint.load(folder, device="cuda:99")


@OVER_ENCODER
def test_texts_longer_than_the_encoder_reads_are_counted(
    ranker: str, made: dict[str, tuple[Path, Checkpoint]]
) -> None:
    toy = Reranker(made[ranker][1], name=ranker)
    long, short = "zelosis " * 60, "Age was recorded."
    found = toy.rank(BODY, [Candidate(document(1, short, long, short), 1.0), Candidate(document(2), 0.5)])
    assert found.truncated_sentences == 1
    assert np.isfinite([d.score for d in found.documents]).all()
    assert toy.rank(BODY, [Candidate(document(1, short, short), 1.0)]).truncated_sentences == 0


@OVER_ENCODER
@pytest.mark.parametrize("body", ["", "?!", "\u200b", "Which drug cures zelosis? " * 200, "\ud800"])
def test_any_question_and_any_document(
    ranker: str, body: str, made: dict[str, tuple[Path, Checkpoint]]
) -> None:
    toy = Reranker(made[ranker][1], name=ranker)
    documents = [document(1), document(2, "...", "?", "ζ – ∞", "\u200b"), document(3, "Care \0 of zelosis.")]
    found = toy.rank(body, [Candidate(d, 1.0) for d in documents])
    assert np.isfinite([d.score for d in found.documents]).all()
    assert all(len(d.sentence_scores) == len(d.document.sentences) for d in found.documents)


@OVER_ENCODER
def test_a_documents_score_does_not_depend_on_the_order(
    ranker: str, made: dict[str, tuple[Path, Checkpoint]], index: ToyIndex
) -> None:
    toy = Reranker(made[ranker][1], name=ranker)
    candidates = index.search(BODY)
    forward, backward = (
        {d.document.pmid: d for d in toy.rank(BODY, order).documents}
        for order in (candidates, candidates[::-1])
    )
    for pmid, ranked in forward.items():
        assert backward[pmid].score == pytest.approx(ranked.score, abs=1e-5)
        assert backward[pmid].sentence_scores == pytest.approx(ranked.sentence_scores, abs=1e-5)


def test_no_encoder_is_named(index: ToyIndex, vocabulary: Vocabulary, tmp_path: Path) -> None:
    missing = tmp_path / "missing.json"
    settings = settings_of("jbert-nf", dimensions=6)
    with pytest.raises(RankerSettingsError, match="jbert-nf reads through an encoder: name one"):
        train_ranker(TrainingPlan(settings, missing, missing, tmp_path, vocabulary=vocabulary), index)
    with pytest.raises(RankerSettingsError, match="unknown settings: encoder; jpdrmm has dimensions, "):
        settings_of("jpdrmm", encoder="x")
    with pytest.raises(RankerSettingsError, match="frozen_layers -2 is not -1 or above"):
        settings_of("jbert", frozen_layers=-2)
