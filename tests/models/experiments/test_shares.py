import numpy as np
import pytest

from bioqa.models.experiments.shares import Share, take
from bioqa.models.training.data import Prepared
from bioqa.models.training.sampling import sample
from bioqa.system.errors import BioqaError


def _urls(question: Prepared) -> list[str]:
    return [c.document.url for c in question.retrieved.candidates]


def test_without_a_share_everything_is_read(prepared: list[Prepared]) -> None:
    share = Share()
    assert share.train(prepared) == share.dev(prepared) == share.keep_measured(prepared) == prepared


def test_some_documents_keep_their_sentences_features_and_labels(prepared: list[Prepared]) -> None:
    pool = prepared[0].retrieved
    counts = [len(c.document.sentences) for c in pool.candidates]
    taken = take(pool, np.array([2, 0]))
    assert taken.candidates == (pool.candidates[2], pool.candidates[0])
    assert taken.relevant.tolist() == [pool.relevant[2], pool.relevant[0]]
    begin = counts[0] + counts[1]
    rows = [*range(begin, begin + counts[2]), *range(counts[0])]
    np.testing.assert_array_equal(taken.features.sentences, pool.features.sentences[rows])
    np.testing.assert_array_equal(taken.features.documents, pool.features.documents[[2, 0]])
    assert taken.labels.tolist() == pool.labels[rows].tolist()
    assert [len(t.word_counts) for t in taken.tokens] == [counts[2], counts[0]]


def test_of_a_measured_question_the_best_are_ranked(prepared: list[Prepared]) -> None:
    for whole, cut in zip(prepared, Share(candidates=2).keep_measured(prepared), strict=True):
        assert _urls(cut) == _urls(whole)[:2]
        assert cut.gold is whole.gold
    expected = [_urls(q)[:2] for q in sample(prepared, 1)]
    assert [_urls(q) for q in Share(candidates=2, dev_questions=1).dev(prepared)] == expected
    assert [_urls(q) for q in Share(candidates=2, test_questions=1).test(prepared)] == expected


def test_irrelevant_candidates_are_drawn_for_each_relevant_one(prepared: list[Prepared]) -> None:
    share = Share(irrelevant=1)
    cut = share.train(prepared)
    for whole, few in zip(prepared, cut, strict=True):
        relevant = [u for u, r in zip(_urls(whole), whole.retrieved.relevant, strict=True) if r]
        assert [u for u, r in zip(_urls(few), few.retrieved.relevant, strict=True) if r] == relevant
        assert len(_urls(few)) == min(2 * len(relevant), len(_urls(whole)))
        assert set(_urls(few)) <= set(_urls(whole))
    # The same ones of a question, whatever the others are.
    assert _urls(share.train(prepared[3:])[0]) == _urls(cut[3])


@pytest.mark.parametrize("value", [-1, 1.5, True])
def test_a_share_is_a_whole_number(value: int) -> None:
    with pytest.raises(BioqaError, match="candidates"):
        Share(candidates=value)
