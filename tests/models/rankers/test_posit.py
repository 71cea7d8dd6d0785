import numpy as np
import pytest
import torch

from bioqa.models.rankers.batch import Packing
from bioqa.models.rankers.context import Context
from bioqa.models.text.vocabulary import Vocabulary
from tests.models.rankers.building import assert_sums_over_terms, contexts, views_of, weights_of
from tests.models.reference import Vector, Weights, cosine, pooled
from tests.models.toys import toy_settings


@pytest.mark.parametrize("lengths", [[3], [2, 0, 4], [1, 5, 1]])
def test_contexts_end_with_their_unit(lengths: list[int]) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model = Context(4)
    vectors = torch.randn(sum(lengths), 4, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        found = model(vectors, Packing.of(np.array(lengths)))
    expected = [
        row for part in torch.split(vectors, lengths) for row in contexts(weights_of(model), part.tolist())
    ]
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float32), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("ranker", ["posit", "posit-mv"])
@pytest.mark.parametrize("seed", range(2))
def test_scores_are_those_of_the_paper(vocabulary: Vocabulary, seed: int, ranker: str) -> None:
    def rows(weights: Weights, question: list[int], unit: list[int]) -> list[Vector]:
        asked, asked_in_context = views_of(weights, question, vocabulary)
        static, context = views_of(weights, unit, vocabulary)
        found = []
        for i, term in enumerate(question):
            row = pooled([cosine(asked_in_context[i], each) for each in context])[:2]
            if ranker == "posit-mv":
                row += pooled([cosine(asked[i], each) for each in static])[:2]
                row += pooled([float(term == word) for word in unit])[:2]
            found.append(row)
        return found

    assert_sums_over_terms(toy_settings(ranker), vocabulary, seed, rows)
