"""Publication types beside a title."""

import pytest

from bioqa.app.web.kinds import kinds
from bioqa.bioasq.metadata import Correction, Metadata


@pytest.mark.parametrize(
    ("types", "shown"),
    [
        ((), []),
        (("Journal Article", "Research Support, Non-U.S. Gov't"), []),
        (("Journal Article", "Multicenter Study", "Review"), ["Review", "Multicenter Study"]),
        (("Letter", "Comment", "Review", "Meta-Analysis"), ["Meta-Analysis", "Review", "Letter"]),
        (("Retracted Publication", "Journal Article"), []),
        (("Expression of Concern",), ["Expression of Concern"]),
        (("Review", "Review"), ["Review"]),
    ],
)
def test_what_says_something_is_shown(types: tuple[str, ...], shown: list[str]) -> None:
    assert kinds(Metadata(types=types)) == shown


def test_the_standing_is_not_said_twice() -> None:
    doubted = Metadata(types=("Erratum", "Review"), corrections=(Correction("ErratumFor"),))
    assert kinds(doubted) == ["Review"]
