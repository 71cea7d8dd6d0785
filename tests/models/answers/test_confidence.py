"""What is said of an answer's reliability, in words."""

from bioqa.models.answers.confidence import Confidence
from bioqa.system.language import Language

FRENCH = Language("fr", "French")


def test_a_good_answer_needs_no_words() -> None:
    assert Confidence(0.93, "likely").caution == ""


def test_a_weak_answer_is_called_one() -> None:
    assert Confidence(0.3, "doubtful").caution == (
        "It is doubtful whether what was found answers the question (estimated probability 0.30)."
    )
    assert Confidence(0.014, "unlikely").caution == (
        "Probably nothing that was found answers the question (estimated probability 0.01)."
    )


def test_the_language_is_named_whatever_was_found() -> None:
    asked = "The question seems to be in French: ask in English."
    assert Confidence(0.93, "likely", FRENCH).caution == asked
    assert Confidence(0.0, "unlikely", FRENCH).caution == (
        f"Probably nothing that was found answers the question (estimated probability 0.00). {asked}"
    )
