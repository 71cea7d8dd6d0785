import numpy as np
import pytest

from bioqa.models.answers.baseline import Bm25Ranker
from bioqa.models.answers.selection import select
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.text.words import stem, terms
from bioqa.models.training.baseline import B_GRID, K1_GRID, make_baseline, tune_bm25, tuned_bm25
from bioqa.models.training.data import Prepared
from bioqa.models.training.development import document_map


def _stems(text: str) -> list[str]:
    return [stem(term) for term in terms(text) if stem(term)]


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


@pytest.fixture(scope="module")
def made(prepared: list[Prepared], vocabulary: Vocabulary) -> Bm25Ranker:
    return make_baseline(prepared, vocabulary, {"dev": "toys"})


def test_the_best_constants_of_the_grid_are_chosen(
    made: Bm25Ranker, prepared: list[Prepared], vocabulary: Vocabulary
) -> None:
    grid = tune_bm25(prepared, vocabulary)
    assert grid[made.constants.k1, made.constants.b] == max(grid.values())
    assert made.config["scores"]["document_map"] == max(grid.values())
    assert made.config["training"]["dev"] == "toys"


def test_it_ranks_as_it_was_measured(made: Bm25Ranker, prepared: list[Prepared]) -> None:
    """Its own features, of tokens alone, are those of the questions that it was tuned on."""
    for question in prepared:
        found = made.rank(question.response.question.body, question.retrieved.candidates)
        constants = made.constants.k1, made.constants.b
        (scores,) = tuned_bm25([question], made.vocabulary, *constants)
        assert [d.score for d in found.documents] == sorted(scores.tolist(), reverse=True)
        assert select(found, made.calibration, scale=made.scale).sentences[0].document.url in (
            question.response.documents
        )
    assert made.scale is not None
