import numpy as np
import pytest

from bioqa.models.experiments.baselines import (
    first_stage,
    oracle,
    with_sentence_bm25,
)
from bioqa.models.features.extractor import SENTENCE_FEATURES
from bioqa.models.text.words import stem, terms
from bioqa.models.training.data import Prepared
from bioqa.models.training.development import document_map, gold_auc


def _stems(text: str) -> list[str]:
    return [stem(term) for term in terms(text) if stem(term)]


def test_the_first_stage_is_the_indexs_own_order(prepared: list[Prepared]) -> None:
    for question, scores in zip(prepared, first_stage(prepared), strict=True):
        assert scores.tolist() == [c.score for c in question.retrieved.candidates]


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
