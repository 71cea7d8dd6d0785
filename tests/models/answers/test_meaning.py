"""What closeness in meaning adds to documents' scores, and for whom."""

from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest

from bioqa.bioasq.domain import Candidate
from bioqa.models.answers.meaning import WEIGHT, add_meaning, without_cosines
from bioqa.models.answers.selection import Calibration
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.explaining import explain_ranking
from bioqa.models.reranker import Reranker
from tests.models.toys import DOCUMENTS, ToyIndex

BODY = "Which drug cures zelosis?"
FITTED = Calibration(aptness=1.0)


@pytest.fixture
def ranker(trained: Checkpoint) -> Reranker:
    return Reranker(replace(trained, calibration=replace(trained.calibration, aptness=1.0)), name="fitted")


def test_cosines_count_from_the_mean_of_the_ten_best_without_them() -> None:
    candidates = [Candidate(DOCUMENTS[0], 1.0, cosine) for cosine in (*(0.4, 0.6) * 5, 0.9, None)]
    scores = np.array([*range(30, 20, -1), 1, 2], dtype=np.float32)
    added = add_meaning(scores, candidates, FITTED) - scores
    assert added == pytest.approx([*(-0.1 * WEIGHT, 0.1 * WEIGHT) * 5, 0.4 * WEIGHT, 0], abs=1e-5)


def test_without_cosines_or_the_second_reading_scores_are_the_very_same() -> None:
    scores = np.ones(2, dtype=np.float32)
    candidates = [Candidate(DOCUMENTS[0], 1.0, 0.9), Candidate(DOCUMENTS[1], 1.0)]
    assert add_meaning(scores, candidates, FITTED) is not scores
    assert add_meaning(scores, candidates, Calibration()) is scores
    assert add_meaning(scores, without_cosines(candidates), FITTED) is scores


def test_a_close_document_rises_and_its_sentences_keep_their_scores(
    ranker: Reranker, index: ToyIndex
) -> None:
    candidates = index.search(BODY)
    last = ranker.rank(BODY, candidates).documents[-1]
    closer = [replace(each, cosine=1e3 if each.document == last.document else 0.5) for each in candidates]
    first = ranker.rank(BODY, closer).documents[0]
    assert first.document == last.document
    assert first.sentence_scores == last.sentence_scores


def test_an_explanation_has_it_as_a_part_of_the_score(ranker: Reranker, index: ToyIndex) -> None:
    candidates = [replace(each, cosine=0.1 * number) for number, each in enumerate(index.search(BODY))]
    explained, _ = explain_ranking(ranker, BODY, candidates, 1, 1)
    plain, ranking = explain_ranking(ranker, BODY, without_cosines(candidates), 1, 1)
    cosines = {each.document.pmid: 0.1 * number for number, each in enumerate(candidates)}
    usual = fmean(cosines[each.document.pmid] for each in ranking.documents[:10])
    words, by_meaning = explained.parts
    assert (words.name, by_meaning.name) == ("words and features", "closeness in meaning")
    assert by_meaning.effect == pytest.approx(WEIGHT * (0.1 - usual), abs=1e-5)
    assert words.effect == pytest.approx(plain.score, abs=1e-5)
    assert words.effect + by_meaning.effect == pytest.approx(explained.score)
    assert plain.parts == ()
    assert [each.effect for each in explained.features] == pytest.approx(
        [each.effect for each in plain.features], abs=1e-5
    )
    assert [each.effect for each in explained.words] == pytest.approx(
        [each.effect for each in plain.words], abs=1e-5
    )
