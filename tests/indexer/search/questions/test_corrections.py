"""Words for misspelt ones."""

import pytest

from bioqa.indexer.search.questions.corrections import correct, correctable
from tests.indexer.search.evidence import TextEvidence


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("asprin", "aspirin"),
        ("aspirinn", "aspirin"),
        ("apsirin", "aspirin"),
        ("Asprin", "Aspirin"),
        ("ASPIRINN", "Aspirin"),
        ("mutatoins", "mutations"),
        ("phosphorlyatoin", "phosphorylation"),
    ],
)
def test_the_nearest_word_is_meant(word: str, meant: str) -> None:
    assert correct(word, "", TextEvidence("aspirin, mutations and phosphorylation")) == meant


def test_of_equally_near_words_the_more_frequent_one_is_meant() -> None:
    evidence = TextEvidence("carts", "parts", times={"parts": 5})
    assert correct("farts", "", evidence) == "parts"


def test_the_nearer_word_is_meant_however_rare() -> None:
    evidence = TextEvidence("phosphatase", "phosphatides", times={"phosphatides": 50})
    assert correct("phosphatasee", "", evidence) == "phosphatase"


@pytest.mark.parametrize("word", ["xyzzyqux", "spirins", "ztransplant"])
def test_what_is_like_no_word_is_left_alone(word: str) -> None:
    assert correct(word, "", TextEvidence("aspirin", "insulin")) is None


@pytest.mark.parametrize("word", ["aspirin", "Aspirin", "ASPIRIN"])
def test_words_can_be_corrected(word: str) -> None:
    assert correctable(word)


@pytest.mark.parametrize("word", ["", "drug", "BRCA", "PCSK9", "hERGx", "müller", "12345", "α"])
def test_names_and_short_words_cannot(word: str) -> None:
    assert not correctable(word)
