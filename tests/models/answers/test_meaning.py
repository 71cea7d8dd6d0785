"""What closeness in meaning adds to documents' scores, and for whom."""

from dataclasses import replace

import numpy as np
import pytest

from bioqa.bioasq.domain import Candidate
from bioqa.models.answers.meaning import USUAL, WEIGHT, add_meaning, added, without_cosines
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


def test_each_document_has_what_its_own_cosine_adds() -> None:
    candidates = [Candidate(DOCUMENTS[0], 1.0, cosine) for cosine in (USUAL, 0.9, None, -0.1)]
    scores = add_meaning(np.ones(4, dtype=np.float32), candidates, FITTED)
    assert scores == pytest.approx([1, 1 + WEIGHT * (0.9 - USUAL), 1, 1 + WEIGHT * (-0.1 - USUAL)])
    assert scores - 1 == pytest.approx([added(candidate, FITTED) for candidate in candidates])


def test_without_cosines_or_the_second_reading_scores_are_the_very_same() -> None:
    scores = np.ones(2, dtype=np.float32)
    candidates = [Candidate(DOCUMENTS[0], 1.0, 0.9), Candidate(DOCUMENTS[1], 1.0)]
    assert add_meaning(scores, candidates, Calibration()) is scores
    assert add_meaning(scores, without_cosines(candidates), FITTED) is scores
    assert added(candidates[0], Calibration()) == 0


def test_a_close_document_rises_and_its_sentences_keep_their_scores(
    ranker: Reranker, index: ToyIndex
) -> None:
    candidates = index.search(BODY)
    plain = ranker.rank(BODY, candidates)
    last = plain.documents[-1]
    closer = [replace(each, cosine=1e3 if each.document == last.document else USUAL) for each in candidates]
    first = ranker.rank(BODY, closer).documents[0]
    assert first.document == last.document
    assert first.score == pytest.approx(last.score + WEIGHT * (1e3 - USUAL))
    assert first.sentence_scores == last.sentence_scores


def test_an_explanation_has_it_as_a_part_of_the_score(ranker: Reranker, index: ToyIndex) -> None:
    candidates = [replace(each, cosine=0.7) for each in index.search(BODY)]
    explained, _ = explain_ranking(ranker, BODY, candidates, 1, 1)
    plain, _ = explain_ranking(ranker, BODY, without_cosines(candidates), 1, 1)
    words, meaning = explained.parts
    assert (words.name, meaning.name) == ("words and features", "closeness in meaning")
    assert meaning.effect == pytest.approx(WEIGHT * (0.7 - USUAL))
    assert words.effect == pytest.approx(plain.score, abs=1e-5)
    assert words.effect + meaning.effect == pytest.approx(explained.score)
    assert plain.parts == ()
    for one, other in zip(explained.features, plain.features, strict=True):
        assert one.effect == pytest.approx(other.effect, abs=1e-5)
    assert [(swap.name, swap.rank) for swap in explained.swaps] == [
        (swap.name, swap.rank) for swap in plain.swaps
    ]
