import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bioqa.models import bundled
from bioqa.models.answers import baseline
from bioqa.models.answers.baseline import BaselineError, Bm25Ranker, Constants, TunedBm25
from bioqa.models.answers.first_stage import document_bm25
from bioqa.models.answers.ranking import Ranking
from bioqa.models.answers.scale import Curve, Scale
from bioqa.models.answers.selection import Calibration
from bioqa.models.features.extractor import stemmed_bm25
from bioqa.models.text.vocabulary import Vocabulary, VocabularyError
from bioqa.models.training.data import Prepared
from tests.models.toys import ToyIndex

TUNED = TunedBm25(
    Constants(0.6, 0.5),
    Calibration(2.0, -1.0, 0.25),
    Scale(Curve((0.0, 1.0), (-1.0, 0.0)), Curve((-2.0, 0.0), (-1.0, 1.0))),
    {"training": {"dev": "toys"}, "scores": {"document_map": 0.5}},
)


@pytest.fixture
def ranker(vocabulary: Vocabulary) -> Bm25Ranker:
    return Bm25Ranker(vocabulary, TUNED)


@pytest.fixture
def saved(ranker: Bm25Ranker, tmp_path: Path) -> Path:
    baseline.save(ranker, tmp_path / "mine")
    return tmp_path / "mine"


def test_documents_by_their_bm25_and_sentences_as_the_feature(
    ranker: Bm25Ranker, prepared: list[Prepared], vocabulary: Vocabulary
) -> None:
    for question in prepared:
        pool = question.retrieved
        found = ranker.rank(question.response.question.body, pool.candidates)
        scores = document_bm25(question.question, pool.tokens, vocabulary, 0.6, 0.5)
        order = np.argsort(-scores, kind="stable")
        assert [d.document for d in found.documents] == [pool.candidates[i].document for i in order]
        assert [d.score for d in found.documents] == scores[order].tolist()
        of_sentences = dict(
            zip(
                [(c.document.url, s) for c in pool.candidates for s in c.document.sentences],
                stemmed_bm25(pool.features).tolist(),
                strict=True,
            )
        )
        for ranked in found.documents:
            expected = [of_sentences[ranked.document.url, s] for s in ranked.document.sentences]
            assert ranked.sentence_scores == pytest.approx(expected, abs=1e-5)


def test_several_at_once_nothing_and_texts_from_outside(ranker: Bm25Ranker, index: ToyIndex) -> None:
    body = "Which drug cures zelosis?"
    candidates = index.search(body)
    assert ranker.rank_many([(body, candidates), ("x", [])]) == [ranker.rank(body, candidates), Ranking(())]
    documents = [candidate.document for candidate in candidates]
    assert [c.document for c in ranker.candidates(body, documents)] == documents


def test_it_is_saved_and_loaded(ranker: Bm25Ranker, saved: Path, index: ToyIndex) -> None:
    assert baseline.folder_of(saved) == saved
    loaded = baseline.load(saved)
    assert loaded.name == "mine"
    assert loaded.config == ranker.config
    assert loaded.scale == TUNED.scale
    candidates = index.search("Which drug cures zelosis?")
    assert loaded.rank("Which drug cures zelosis?", candidates) == ranker.rank(
        "Which drug cures zelosis?", candidates
    )
    assert len(loaded.hash) == 64
    config = json.loads((saved / "config.json").read_text())
    del config["scale"]
    (saved / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    older = baseline.load(saved)
    assert older.scale is None
    assert older.hash == loaded.hash  # it ranks in the same way


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda config: config.update(format=9), "this version reads"),
        (lambda config: config.update(scale={"documents": 1}), "scale"),
        (lambda config: config["settings"].update(k1=-1), "k1 -1"),
        (lambda config: config["settings"].pop("b"), "'b'"),
        (lambda config: config.pop("calibration"), "calibration"),
        (lambda config: config.update(training=3), "TypeError"),
    ],
)
def test_a_damaged_config_is_named(
    saved: Path, change: Callable[[dict[str, object]], None], said: str
) -> None:
    config = json.loads((saved / "config.json").read_text())
    change(config)
    (saved / "config.json").write_text(json.dumps(config))
    with pytest.raises(BaselineError, match=r"config\.json") as raised:
        baseline.load(saved)
    assert said in str(raised.value)


def test_missing_words_are_named(saved: Path) -> None:
    (saved / "terms.txt").unlink()
    with pytest.raises(VocabularyError, match="mine"):
        baseline.load(saved)


def test_a_bundled_one_is_found_by_name(saved: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bundled, "WEIGHTS", tmp_path)
    assert baseline.folder_of("mine") == saved
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.json").write_text("{}")
    assert baseline.folder_of("other") is None
    assert baseline.folder_of(tmp_path / "nowhere") is None
