"""Texts of one's own, ranked."""

import pytest

import bioqa

TEXTS = (
    "Aspirin thins the blood.",
    ("Metformin", "Metformin lowers glucose. It is cheap."),
    "Aspirin thins the blood.",
    "",
)


def test_every_text_is_ranked_once_and_scored() -> None:
    ranked = bioqa.rank("Does metformin lower glucose?", TEXTS)
    assert sorted(each.place for each in ranked) == [0, 1, 2, 3]
    assert ranked[0].place == 1
    assert (ranked[0].title, ranked[0].text) == TEXTS[1]
    assert {each.text for each in ranked[0].sentences} == {
        "Metformin",
        "Metformin lowers glucose.",
        "It is cheap.",
    }
    scores = [each.score for each in ranked]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    equal = {each.score for each in ranked if each.place in (0, 2)}
    assert len(equal) == 1


def test_no_texts_no_ranking() -> None:
    assert bioqa.rank("anything", []) == []


def test_an_empty_question_is_an_error() -> None:
    with pytest.raises(bioqa.BioqaError, match="the question is empty"):
        bioqa.rank(" ", ["text"])
