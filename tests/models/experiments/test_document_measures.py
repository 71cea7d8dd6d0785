import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.bioasq.measures import document_measures
from bioqa.models.answers.evaluation import mean_average_precision
from bioqa.models.arrays import Floats
from bioqa.models.experiments.document_measures import (
    BY_LIBRARY,
    MEASURES,
    means,
    measure_documents,
    pair_shares,
)
from bioqa.models.experiments.shares import take
from bioqa.models.training.data import Prepared
from bioqa.system.errors import BioqaError
from tests.models.experiments.perl import needs_perl

ir_measures: Any = pytest.importorskip("ir_measures", reason="needs the extra train")


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.integers(0, 15))
def test_our_document_map_is_trec_evals(ranked: list[bool], missed: int) -> None:
    """Over the ten best documents trec_eval divides by all gold documents, BioASQ by at most ten of them."""
    gold = sum(ranked) + missed
    if not gold:
        return
    names = [str(place) for place in range(len(ranked))]
    relevant = [name for name, each in zip(names, ranked, strict=True) if each]
    golden = [*relevant, *(f"missed {number}" for number in range(missed))]
    run = {name: -float(place) for place, name in enumerate(names)}
    measure = ir_measures.parse_measure("AP@10")
    qrels = {"1": dict.fromkeys(golden, 1)}
    (found,) = ir_measures.iter_calc([measure], qrels, {"1": run})
    assert document_measures(golden, names[:10], 2).average_precision == pytest.approx(found.value)
    of_edition_8 = found.value * gold / min(gold, 10)
    assert document_measures(golden, names[:10], 8).average_precision == pytest.approx(of_edition_8)
    assert mean_average_precision([np.array(ranked)], [gold]) == pytest.approx(of_edition_8)


def _ranked(question: Prepared, relevant: list[bool]) -> tuple[Prepared, Floats]:
    """The question with as many candidates, and scores that rank them as they stand."""
    pool = take(question.retrieved, np.arange(len(relevant)))
    golden = [c.document.url for c, each in zip(pool.candidates, relevant, strict=True) if each]
    response = replace(question.response, documents=tuple(golden))
    changed = replace(
        question, response=response, retrieved=replace(pool, relevant=np.array(relevant, dtype=np.bool_))
    )
    return changed, -np.arange(len(relevant), dtype=np.float64)


@needs_perl
def test_measures_by_hand(prepared: list[Prepared]) -> None:
    question, scores = _ranked(prepared[0], [False, True, True, False])
    other, of_other = _ranked(prepared[1], [True, False, False])
    found = measure_documents([question, other], [scores, of_other], MEASURES)
    first, second = question.response.question.id, other.response.question.id
    assert set(found) == set(MEASURES)
    assert found["AP"] == {first: pytest.approx((1 / 2 + 2 / 3) / 2), second: 1.0}
    assert found["document_map_8"] == pytest.approx(found["AP"])
    assert found["P@5"] == {first: pytest.approx(2 / 5), second: pytest.approx(1 / 5)}
    assert found["P@20"] == {first: pytest.approx(2 / 20), second: pytest.approx(1 / 20)}
    ideal = 1 + 1 / math.log2(3)
    assert found["nDCG@20"][first] == pytest.approx((1 / math.log2(3) + 1 / 2) / ideal)
    # A reader stops at a relevant document with 1/16; gdeval prints five decimals.
    assert found["ERR@20"][first] == pytest.approx(1 / 16 / 2 + 15 / 16 / 16 / 3, abs=1e-5)
    assert found["ERR@20"][second] == pytest.approx(1 / 16, abs=1e-5)
    # Of six pairs the two with the first irrelevant candidate and one more are wrong: 2 + 2 right.
    assert means(found)["pair_accuracy"] == pytest.approx((2 + 2) / 6)


def test_equal_scores_leave_the_order_and_are_no_right_pairs(prepared: list[Prepared]) -> None:
    question, scores = _ranked(prepared[0], [True, False])
    same = np.zeros_like(scores)
    found = measure_documents([question], [same], ["AP", "pair_accuracy"])
    assert means(found) == {"AP": 1.0, "pair_accuracy": 0.0}


@needs_perl
def test_a_question_without_candidates_counts(prepared: list[Prepared]) -> None:
    question, scores = _ranked(prepared[0], [True, False])
    empty, none = _ranked(prepared[1], [])
    empty = replace(empty, response=replace(empty.response, documents=("http://nowhere/1",)))
    found = measure_documents([question, empty], [scores, none], ["AP", "ERR@20", "document_map_8"])
    assert list(found["AP"].values()) == [1.0, 0.0]
    assert means(found)["document_map_8"] == 0.5
    assert [*found["ERR@20"].values()][1] == 0.0


def test_pairs_count_the_same_whatever_question_they_are_of() -> None:
    relevant = [np.array([True, False]), np.array([True, False, False, False])]
    scores = [np.array([1.0, 0.0]), np.array([0.0, 1.0, 2.0, -1.0])]
    assert float(np.mean(pair_shares(relevant, scores))) == pytest.approx(2 / 4)
    assert pair_shares([np.array([True])], [np.array([1.0])]) == [0.0]


def test_without_perl_there_is_no_err(prepared: list[Prepared], monkeypatch: pytest.MonkeyPatch) -> None:
    question, scores = _ranked(prepared[0], [True, False])
    provider = ir_measures.DefaultPipeline.providers
    gdeval = next(each for each in provider if each.NAME == "gdeval")
    monkeypatch.setattr(gdeval, "is_available", lambda: False)
    with pytest.raises(BioqaError, match="perl"):
        measure_documents([question], [scores], [BY_LIBRARY[-1]])
