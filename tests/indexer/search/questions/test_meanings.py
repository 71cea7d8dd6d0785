"""What abbreviations mean."""

import pytest

from bioqa.indexer.search.defined import long_key, short_key
from bioqa.indexer.search.evidence import Definition
from bioqa.indexer.search.questions.meanings import (
    Meaning,
    by_short,
    is_usual,
    of_abbreviation,
    of_long_form,
    together,
)
from tests.indexer.search.evidence import TextEvidence

RED = "red blood cell (RBC) membranes"
SALT = "ranitidine bismuth citrate (RBC) for ulcers"
PUMP = "sodium pump of a red blood cell"


def meant(short: str, context: str, evidence: TextEvidence) -> str | None:
    found = evidence.definitions({short_key(short)}, ())
    meaning = of_abbreviation(short, found, context, evidence)
    return None if meaning is None else meaning.long


def test_of_several_meanings_the_context_decides() -> None:
    evidence = TextEvidence(RED, SALT, times={RED: 9, SALT: 9})
    assert meant("RBC", "membranes", evidence) == "red blood cell"
    assert meant("RBC", "ulcers", evidence) == "ranitidine bismuth citrate"


def test_documents_that_do_not_abbreviate_the_long_form_count_for_the_context() -> None:
    evidence = TextEvidence(RED, SALT, PUMP, times={RED: 9, SALT: 9, PUMP: 3})
    assert meant("RBC", "sodium pump", evidence) == "red blood cell"


def test_where_the_context_says_nothing_the_more_frequent_meaning_is_taken() -> None:
    assert meant("RBC", "knees", TextEvidence(RED, SALT, times={RED: 9, SALT: 3})) == "red blood cell"
    assert meant("RBC", "knees", TextEvidence(RED, SALT, times={RED: 9, SALT: 9})) is None


def test_a_phrase_of_many_documents_needs_to_fit_better() -> None:
    evidence = TextEvidence(RED, SALT, times={RED: 5, SALT: 4})
    assert meant("RBC", "knees", evidence) == "red blood cell"
    evidence = TextEvidence(RED, SALT, PUMP, times={RED: 5, SALT: 4, PUMP: 200})
    assert meant("RBC", "knees", evidence) == "ranitidine bismuth citrate"


def test_three_documents_must_define_it() -> None:
    assert meant("RBC", "membranes", TextEvidence(RED, times={RED: 2})) is None
    assert meant("RBC", "membranes", TextEvidence(RED, times={RED: 3})) == "red blood cell"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cognitive behavioural therapy", "cognitive-behavioral therapy"),
        ("cognitive behavioural therapy", "cognitive behavior therapy"),
        ("randomized controlled trial", "randomised control trials"),
        ("charcot-marie-tooth", "charcot-marie-tooth disease"),
    ],
)
def test_long_forms_that_say_the_same_are_one_meaning(one: str, other: str) -> None:
    assert together([Definition("X", one, 5), Definition("X", other, 4)]) == [Definition("X", one, 9)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("multiple sclerosis", "mass spectrometry"),
        ("urinary incontinence", "urge incontinence"),
        ("williams syndrome", "werner syndrome"),
    ],
)
def test_others_are_several(one: str, other: str) -> None:
    assert len(together([Definition("X", one, 5), Definition("X", other, 4)])) == 2


def test_an_abbreviation_must_be_the_usual_one_of_its_long_form() -> None:
    found = [Definition("BC", "breast cancer", 9), Definition("BRCA", "breast cancer", 3)]
    assert is_usual(Meaning("BC", "breast cancer", True), found)
    assert not is_usual(Meaning("BRCA", "breast cancer", True), found)


def test_a_long_form_has_the_abbreviation_that_is_nearly_always_its_own() -> None:
    evidence = TextEvidence(RED, SALT, times={RED: 9, SALT: 4})
    of_long = evidence.definitions((), {long_key("red blood cells")})
    of_shorts = by_short(evidence.definitions({"rbc"}, ()))
    assert of_long_form(of_long, of_shorts) == Meaning("RBC", "red blood cell", False)
    assert of_long_form((), of_shorts) is None
