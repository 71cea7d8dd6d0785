import numpy as np
import pytest

from bioqa.models.experiments.baselines import (
    B_GRID,
    K1_GRID,
    first_stage,
    oracle,
    tune_bm25,
    tuned_bm25,
    with_sentence_bm25,
)
from bioqa.models.features.extractor import SENTENCE_FEATURES
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.text.words import stem, terms
from bioqa.models.training.data import Prepared
from bioqa.models.training.development import document_map, gold_auc


def _stems(text: str) -> list[str]:
    return [stem(term) for term in terms(text) if stem(term)]


def test_the_first_stage_is_the_indexs_own_order(prepared: list[Prepared]) -> None:
    for question, scores in zip(prepared, first_stage(prepared), strict=True):
        assert scores.tolist() == [c.score for c in question.retrieved.candidates]


@pytest.mark.parametrize(("k1", "b"), [(0.3, 0.9), (1.2, 0.75)])
def test_tuned_bm25_one_stem_at_a_time(
    prepared: list[Prepared], vocabulary: Vocabulary, k1: float, b: float
) -> None:
    idf = dict(zip(vocabulary.terms, vocabulary.stem_idf[vocabulary.term_stems], strict=True))
    idf = {stem(term): value for term, value in idf.items()}
    highest = float(vocabulary.stem_idf.max())
    for question, scores in zip(prepared, tuned_bm25(prepared, vocabulary, k1, b), strict=True):
        expected = []
        for candidate in question.retrieved.candidates:
            found = _stems(f"{candidate.document.title} {candidate.document.abstract}")
            norm = k1 * (1 - b + b * len(found) / vocabulary.means.document_stems)
            score = 0.0
            for name in set(_stems(question.response.question.body)):
                tf = found.count(name)
                score += float(idf.get(name, highest)) * tf * (k1 + 1) / (tf + norm)
            expected.append(score)
        np.testing.assert_allclose(scores, expected, rtol=1e-4)


def test_the_grid_holds_the_document_map_of_each_pair(
    prepared: list[Prepared], vocabulary: Vocabulary
) -> None:
    grid = tune_bm25(prepared, vocabulary)
    assert set(grid) == {(k1, b) for k1 in K1_GRID for b in B_GRID}
    assert grid[0.9, 0.5] == document_map(prepared, tuned_bm25(prepared, vocabulary, 0.9, 0.5))


@pytest.mark.parametrize(("stemmed", "name"), [(False, "bm25"), (True, "stemmed_bm25")])
def test_sentences_by_bm25(prepared: list[Prepared], stemmed: bool, name: str) -> None:
    column = SENTENCE_FEATURES.index(name)
    documents = first_stage(prepared)
    for question, order, scored in zip(
        prepared, documents, with_sentence_bm25(prepared, documents, stemmed=stemmed), strict=True
    ):
        assert scored.documents is order
        assert scored.sentences.tolist() == question.retrieved.features.sentences[:, column].tolist()
        assert scored.gold_sentences.tolist() == question.gold.features.sentences[:, column].tolist()


def test_no_ranking_of_the_candidates_beats_the_oracle(prepared: list[Prepared]) -> None:
    scored = oracle(prepared)
    # Two of the three gold documents are among the candidates.
    assert document_map(prepared, [s.documents for s in scored]) == pytest.approx(2 / 3)
    assert gold_auc(prepared, [s.gold_sentences for s in scored]) == 1.0
    for question, scores in zip(prepared, scored, strict=True):
        order = np.argsort(-scores.sentences, kind="stable")
        assert question.retrieved.labels[order[:2]].all()


def test_the_oracle_keeps_the_order_of_bm25_among_equals(prepared: list[Prepared]) -> None:
    for question, scores, bm25 in zip(prepared, oracle(prepared), first_stage(prepared), strict=True):
        for kind in (question.retrieved.relevant, ~question.retrieved.relevant):
            ours = np.argsort(-scores.documents[kind], kind="stable")
            assert ours.tolist() == np.argsort(-bm25[kind], kind="stable").tolist()
