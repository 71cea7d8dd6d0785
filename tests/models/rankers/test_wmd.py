import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from bioqa.models.features.extractor import FeatureExtractor
from bioqa.models.rankers.batch import make_example
from bioqa.models.rankers.registry import settings_of
from bioqa.models.text.tokens import tokenise_documents, tokenise_question
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.system.errors import BioqaError
from tests.models.rankers.building import example_for, scores_of, text_ranker, units_of, vectors_of
from tests.models.reference import Vector
from tests.models.toys import document, toy_settings


def _least_work(one: list[int], other: list[int], vocabulary: Vocabulary) -> float:
    """The linear programme of Kusner et al. 2015 over distinct words, solved by another library."""
    shares = [{word: text.count(word) / len(text) for word in text} for text in (one, other)]
    here, there = (vectors_of([*of_text], vocabulary) for of_text in shares)
    costs = [float(np.linalg.norm(np.subtract(x, y))) for x in here for y in there]
    leaving = np.kron(np.eye(len(here)), np.ones(len(there)))
    arriving = np.kron(np.ones(len(here)), np.eye(len(there)))
    amounts = [share for of_text in shares for share in of_text.values()]
    least = linprog(costs, A_eq=np.vstack([leaving, arriving]), b_eq=amounts).fun
    assert least is not None
    return float(least)


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_the_paper(vocabulary: Vocabulary, seed: int) -> None:
    settings = toy_settings("wmd")
    model, example = text_ranker(settings, vocabulary), example_for(settings, vocabulary, seed)
    question = example.question.tolist()
    found = scores_of(model, example, vocabulary)
    for score, unit in zip(found, units_of(example), strict=True):
        if unit:
            assert score == pytest.approx(-_least_work(question, unit, vocabulary), rel=1e-5)


def test_a_text_is_at_no_distance_from_itself_in_another_order(vocabulary: Vocabulary) -> None:
    settings = toy_settings("wmd")
    example = example_for(settings, vocabulary, 1)
    question, first = example.question[: example.word_counts[0]], int(example.word_counts[0])
    example.words[:first] = np.resize(question[::-1], first)
    same = replace(example, question=example.words[:first][::-1].copy())
    found = scores_of(text_ranker(settings, vocabulary), same, vocabulary)
    assert found[0] == pytest.approx(0, abs=1e-6)
    assert max(found[1:]) < -0.1


def test_a_text_without_words_is_farther_than_any_other(vocabulary: Vocabulary) -> None:
    settings = toy_settings("wmd")
    model, example = text_ranker(settings, vocabulary), example_for(settings, vocabulary, 1)
    found = scores_of(model, example, vocabulary)
    (without,) = {score for score, unit in zip(found, units_of(example), strict=True) if not unit}
    lengths: Vector = np.linalg.norm(vocabulary.vectors, axis=1).tolist()
    mean = float(np.mean([lengths[word] for word in example.question]))
    assert without == pytest.approx(-(mean + max(lengths)), rel=1e-5)
    assert without == min(found)


def test_stop_words_and_unknown_words_are_not_read_and_titles_alone_are(vocabulary: Vocabulary) -> None:
    asked = tokenise_question("Which of the xyzzy drug cures ferroplegia?", vocabulary)
    documents = tokenise_documents([document(1, "Care of the xyzzy mice.", "The drug is cheap.")], vocabulary)
    features = FeatureExtractor(vocabulary)(asked, documents, np.array([1.0]))
    reading = settings_of("wmd").reading
    example = make_example("titles", reading, asked, documents, features, stop_ids=vocabulary.stop_ids)
    known = vocabulary.word_ids
    assert example.question.tolist() == [known["drug"], known["cures"]]
    assert example.words.tolist() == [known["care"], known["mice"]]


def test_without_pot_it_says_what_is_missing(vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ot.lp", None)
    with pytest.raises(BioqaError, match=r"wmd needs POT: pip install pot"):
        text_ranker(toy_settings("wmd"), vocabulary)
