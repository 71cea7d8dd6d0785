import numpy as np

from bioqa.models.rankers.registry import settings_of
from bioqa.models.rankers.settings import RankerSettings
from bioqa.models.training.pairs import Pair, TrainingQuestion, draw_pairs, pair_labels
from tests.models.toys import random_example

JPDRMM = settings_of("jpdrmm", dimensions=6, epochs=3, pairs_per_step=2)


def question(
    seed: int, relevant: list[bool], labels: list[list[bool]], settings: RankerSettings = JPDRMM
) -> TrainingQuestion:
    counts = [len(of_document) for of_document in labels]
    generator = np.random.default_rng(seed)
    return TrainingQuestion(
        random_example(generator, settings, 20, terms=3, sentence_counts=counts),
        np.array(relevant),
        np.array([label for of_document in labels for label in of_document], dtype=np.bool_),
        tuple(counts),
    )


def questions(settings: RankerSettings = JPDRMM) -> list[TrainingQuestion]:
    """The second's relevant document has no positive sentence, the third has nothing irrelevant."""
    return [
        question(0, [True, False, True, False], [[True, False], [False], [False, True], [False]], settings),
        question(1, [True, False], [[False], [False]], settings),
        question(2, [True], [[True]], settings),
        question(3, [False, True, False], [[False], [True], []], settings),
    ]


def test_pairs_are_a_relevant_and_an_irrelevant_candidate_of_one_question() -> None:
    asked = questions()
    drawn = [draw_pairs(asked, np.random.default_rng(seed)) for seed in range(20)]
    for pairs in drawn:
        assert sorted((p.question, p.relevant) for p in pairs) == [(0, 0), (0, 2), (3, 1)]
        assert not any(asked[p.question].relevant[p.irrelevant[0]] for p in pairs)
    assert {p.irrelevant for pairs in drawn for p in pairs if p.question == 0} == {(1,), (3,)}
    assert len({tuple(p.question for p in pairs) for pairs in drawn}) > 1
    assert draw_pairs(asked, np.random.default_rng(5)) == drawn[5]


def test_a_ranker_of_documents_learns_from_those_without_a_positive_sentence_too() -> None:
    pairs = draw_pairs(questions(), np.random.default_rng(0), documents_only=True)
    assert sorted((p.question, p.relevant) for p in pairs) == [(0, 0), (0, 2), (1, 0), (3, 1)]


def test_a_relevant_candidate_beside_several_irrelevant_ones() -> None:
    asked = questions()
    pairs = draw_pairs(asked, np.random.default_rng(0), 5)
    assert all(len(p.irrelevant) == 5 for p in pairs)
    assert not any(asked[p.question].relevant[[*p.irrelevant]].any() for p in pairs)
    assert {d for p in pairs if p.question == 0 for d in p.irrelevant} == {1, 3}


def test_labels_of_a_pair_are_those_of_its_documents_sentences() -> None:
    labels, weights = pair_labels(questions(), [Pair(0, 2, (1, 3)), Pair(3, 1, (0,))])
    assert labels.tolist() == [0, 1, 0, 0, 1, 0]
    assert weights.tolist() == [1, 1, 0.5, 0.5, 1, 1]
