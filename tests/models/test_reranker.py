from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from bioqa.bioasq.domain import Candidate
from bioqa.models import bundled, checkpoint
from bioqa.models.answers import baseline
from bioqa.models.answers.ranking import Ranking, ranking
from bioqa.models.bundled import WEIGHTS, available
from bioqa.models.checkpoint import Checkpoint, CheckpointError
from bioqa.models.features.extractor import SENTENCE_FEATURES
from bioqa.models.rankers.registry import build, settings_of
from bioqa.models.reranker import Reranker
from bioqa.system.characters import fold
from tests.models.conftest import VARIANTS
from tests.models.encoders.tiny import encoder_for
from tests.models.toys import GOLDEN, ToyIndex, document, toy_settings

BODIES = [gold.question.body for gold in GOLDEN]


@pytest.fixture
def toy(trained: Checkpoint) -> Reranker:
    return Reranker(trained, name="toy")


def _of_pdrmm(trained: Checkpoint) -> Checkpoint:
    settings = settings_of("pdrmm", dimensions=6)
    return replace(
        trained, settings=settings, model=build(settings, torch.from_numpy(trained.vocabulary.vectors)).eval()
    )


def _assert_same(left: Ranking, right: Ranking) -> None:
    assert [d.document for d in left.documents] == [d.document for d in right.documents]
    for one, other in zip(left.documents, right.documents, strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-5, rel=1e-6)
        assert one.sentence_scores == pytest.approx(other.sentence_scores, abs=1e-5, rel=1e-6)


def _by_pmid(ranking: Ranking) -> Ranking:
    return replace(ranking, documents=tuple(sorted(ranking.documents, key=lambda d: d.document.pmid)))


def test_all_candidates_come_back_best_first_with_their_sentences(toy: Reranker, index: ToyIndex) -> None:
    candidates = index.search(BODIES[0])
    found = toy.rank(BODIES[0], candidates)
    assert {d.document.pmid for d in found.documents} == {c.document.pmid for c in candidates}
    scores = [d.score for d in found.documents]
    assert scores == sorted(scores, reverse=True)
    assert all(len(d.sentence_scores) == len(d.document.sentences) for d in found.documents)
    assert np.isfinite(scores).all()
    assert np.isfinite([s for d in found.documents for s in d.sentence_scores]).all()
    assert len(set(scores)) > 1


def test_deterministic(toy: Reranker, index: ToyIndex) -> None:
    candidates = index.search(BODIES[1])
    assert toy.rank(BODIES[1], candidates) == toy.rank(BODIES[1], candidates)


def test_with_and_without_cached_documents(trained: Checkpoint, index: ToyIndex) -> None:
    candidates = index.search(BODIES[0])
    cached, small, uncached = (Reranker(trained, name="toy", cached_documents=n) for n in (100, 2, 0))
    for _ in range(2):
        found = cached.rank(BODIES[0], candidates)
        assert small.rank(BODIES[0], candidates) == found
        assert uncached.rank(BODIES[0], candidates) == found


def test_the_order_of_candidates_does_not_matter(toy: Reranker, index: ToyIndex) -> None:
    candidates = index.search(BODIES[2])
    forward, backward = (
        {d.document.pmid: d for d in toy.rank(BODIES[2], order).documents}
        for order in (candidates, candidates[::-1])
    )
    assert forward.keys() == backward.keys()
    for pmid, ranked in forward.items():
        _assert_same(Ranking((ranked,)), Ranking((backward[pmid],)))


def test_white_space_around_the_question_does_not_matter(toy: Reranker, index: ToyIndex) -> None:
    candidates = index.search(BODIES[0])
    assert toy.rank(f" \n{BODIES[0]}\t ", candidates) == toy.rank(BODIES[0], candidates)


def test_threads_get_what_one_gets(trained: Checkpoint, index: ToyIndex) -> None:
    toy = Reranker(trained, name="toy", cached_documents=3)
    candidates = {body: index.search(body) for body in BODIES}
    alone = {body: toy.rank(body, candidates[body]) for body in BODIES}
    with ThreadPoolExecutor(4) as threads:
        asked = BODIES * 8
        found = list(threads.map(lambda body: toy.rank(body, candidates[body]), asked))
    for body, ranked in zip(asked, found, strict=True):
        _assert_same(ranked, alone[body])


@pytest.mark.parametrize("body", ["Which drug?", "", "  ", "xyzzy plugh", "?!"])
def test_no_candidates(toy: Reranker, body: str) -> None:
    assert toy.rank(body, []) == Ranking(())


@pytest.mark.parametrize("body", ["", "xyzzy plugh", "?!", "the of", "Which drug cures zelosis? " * 200])
@pytest.mark.parametrize("documents_alone", [False, True])
def test_any_question_and_any_document(trained: Checkpoint, body: str, documents_alone: bool) -> None:
    toy = Reranker(_of_pdrmm(trained) if documents_alone else trained, name="toy")
    empty, odd = document(1), document(2, "...", "?", "ζ – ∞")
    for documents in ([empty], [odd], [empty, empty], [odd, empty, document(3, "Care of zelosis.")]):
        found = toy.rank(body, [Candidate(d, 1.0) for d in documents])
        assert len(found.documents) == len(documents)
        assert np.isfinite([d.score for d in found.documents]).all()
        assert all(len(d.sentence_scores) == len(d.document.sentences) for d in found.documents)


def test_a_ranker_of_documents_leaves_sentences_to_stemmed_bm25(trained: Checkpoint, index: ToyIndex) -> None:
    toy = Reranker(_of_pdrmm(trained), name="toy")
    candidates = index.search(BODIES[0])
    features = toy.example(BODIES[0], candidates)[1]
    column = features.sentences[:, SENTENCE_FEATURES.index("stemmed_bm25")].tolist()
    found = {d.document.pmid: list(d.sentence_scores) for d in toy.rank(BODIES[0], candidates).documents}
    assert sum((found[c.document.pmid] for c in candidates), start=[]) == column  # noqa: RUF017
    assert max(column) > 0


@pytest.mark.parametrize("name", list(VARIANTS))
def test_questions_ranked_together_get_what_each_gets_alone(
    name: str, trained: Checkpoint, index: ToyIndex
) -> None:
    settings = VARIANTS[name]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        vectors = torch.from_numpy(trained.vocabulary.vectors)
        model = build(settings, vectors, encoder_for(settings)).eval()
    toy = Reranker(replace(trained, settings=settings, model=model), name="toy")
    odd = [Candidate(d, 1.0) for d in (document(1), document(2, "...", "?"))]
    long = "Which drug cures zelosis? " * 60
    items = [
        (BODIES[0], index.search(BODIES[0])),
        ("xyzzy plugh", odd),
        (BODIES[1], []),
        (long, index.search(long)[:3]),
        (BODIES[1], index.search(BODIES[1])),
    ]
    alone = [toy.rank(*item) for item in items]
    for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0], [2]):
        together = toy.rank_many([items[i] for i in order])
        for found, i in zip(together, order, strict=True):
            # Documents that score the same but for rounding may change places.
            _assert_same(_by_pmid(found), _by_pmid(alone[i]))
            assert found.truncated_sentences == alone[i].truncated_sentences
    assert toy.rank_many([]) == []


def test_equal_scores_keep_the_candidates_order() -> None:
    candidates = [Candidate(document(i, "A title."), 0.0) for i in (5, 3, 9)]
    found = ranking(candidates, np.array([1.0, 2.0, 1.0]), np.array([0.1, 0.2, 0.3]))
    assert [(d.document.pmid, d.score, d.sentence_scores) for d in found.documents] == [
        ("3", 2.0, (0.2,)),
        ("5", 1.0, (0.1,)),
        ("9", 1.0, (0.3,)),
    ]


def test_loaded_from_a_folder(folder: Path, toy: Reranker, index: ToyIndex) -> None:
    loaded = Reranker.load(folder)
    assert loaded.name == "toy"
    assert loaded.hash == checkpoint.fingerprint(folder)
    assert loaded.calibration == toy.calibration
    assert {"settings", "training", "scores", "calibration", "scale", "format"} == set(loaded.config)
    assert loaded.scale == toy.scale is not None
    candidates = index.search(BODIES[0])
    assert loaded.rank(BODIES[0], candidates) == toy.rank(BODIES[0], candidates)


def test_loaded_by_a_bundled_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "WEIGHTS", folder.parent)
    assert available() == ["toy"]
    assert Reranker.load("toy").name == "toy"
    with pytest.raises(CheckpointError, match=r"no ranker 'bert': .*\(toy\)"):
        Reranker.load("bert")


def test_none_bundled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bundled, "WEIGHTS", tmp_path)
    assert available() == []
    with pytest.raises(CheckpointError, match=r"\(none\)"):
        Reranker.load()


def load_bundled(name: str) -> Reranker | baseline.Bm25Ranker:
    folder = baseline.folder_of(name)
    return Reranker.load(name) if folder is None else baseline.load(folder)


@pytest.mark.parametrize("name", ["bm25", "jpdrmm", "soft"])
def test_accents_decide_nothing(name: str) -> None:
    texts = [
        "Sjögren's syndrome attacks naïve glands.",
        "Glands and Guillain-Barré syndrome.",
        "Naïve, none.",
    ]
    plain = [fold(text) for text in texts]
    rankings = [
        load_bundled(name).rank(
            question,
            [Candidate(document(n, text, text), 9.0 - n) for n, text in enumerate(written, start=1)],
        )
        for question in ("What are the glands of naïve Sjögren's?", "What are the glands of naive Sjogren's?")
        for written in (texts, plain)
    ]
    scores = [
        [(ranked.document.pmid, ranked.score, ranked.sentence_scores) for ranked in found.documents]
        for found in rankings
    ]
    assert scores[0] == scores[1] == scores[2] == scores[3]


@pytest.mark.parametrize("name", ["bm25", "jpdrmm", "soft"])
def test_a_bundled_ranker_answers(name: str) -> None:
    loaded = load_bundled(name)
    relevant = document(1, "Metformin in type 2 diabetes.", "Metformin lowers glucose in type 2 diabetes.")
    other = document(2, "Birds of the coast.", "Gulls nest on cliffs in spring.")
    candidates = [Candidate(other, 1.0), Candidate(relevant, 9.0)]
    found = loaded.rank("Does metformin lower glucose in diabetes?", candidates)
    assert [d.document.pmid for d in found.documents] == ["1", "2"]
    assert sum(path.stat().st_size for path in (WEIGHTS / name).iterdir()) < 15e6


def test_documents_that_are_read_only_in_part_are_counted(trained: Checkpoint, index: ToyIndex) -> None:
    vectors = torch.from_numpy(trained.vocabulary.vectors)
    candidates = index.search(BODIES[0])
    cut = []
    for most in (4, 100):
        settings = toy_settings("pacrr", unit_words=most)
        loaded = replace(trained, settings=settings, model=build(settings, vectors).eval())
        cut.append(Reranker(loaded, name="toy").rank(BODIES[0], candidates).truncated_sentences)
    assert cut == [len(candidates), 0]


def test_a_ranker_of_titles_reads_no_abstract(trained: Checkpoint) -> None:
    settings = toy_settings("uqlm")
    model = build(settings, torch.from_numpy(trained.vocabulary.vectors))
    ranker = Reranker(replace(trained, settings=settings, model=model), name="toy")
    of_title, of_abstract = (
        document(1, "Care of zelosis.", "The drug is cheap."),
        document(2, "The drug is cheap.", "Care of zelosis."),
    )
    candidates = [Candidate(of_abstract, 2.0), Candidate(of_title, 1.0)]
    found = ranker.rank("Care of zelosis?", candidates)
    assert [d.document.pmid for d in found.documents] == ["1", "2"]
    assert all(len(d.sentence_scores) == 2 for d in found.documents)
