from dataclasses import replace

import pytest

from bioqa.app.jobs.records import AnswerSource, QuestionCounts, State

SOURCE = AnswerSource("soft", "a1" * 32, "medline-2026", 41, "7:1")


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (SOURCE, ""),
        (
            AnswerSource("soft", "b2" * 32, "medline-2026", 41),
            "the ranker changed from soft (a1a1a1a1a1a1) to soft (b2b2b2b2b2b2)",
        ),
        (
            AnswerSource("soft", "a1" * 32, "medline-2027", 41),
            "the index changed from medline-2026 to medline-2027",
        ),
        (
            AnswerSource("soft", "a1" * 32, "medline-2026", 42),
            "the index changed from 41 to 42 documents",
        ),
        (
            AnswerSource("soft", "a1" * 32, "medline-2026", 41, "8:2"),
            "the index changed, with 41 documents before and after",
        ),
    ],
)
def test_a_change_of_source_is_named(other: AnswerSource, words: str) -> None:
    assert SOURCE.difference(other) == words


def test_a_batch_of_an_older_version_has_no_state_to_compare() -> None:
    assert replace(SOURCE, state="").difference(SOURCE) == ""


def test_unfinished_states_are_two() -> None:
    assert [state for state in State if not state.finished] == [State.QUEUED, State.RUNNING]


def test_what_is_neither_answered_nor_failed_remains() -> None:
    assert QuestionCounts(questions=10, answered=3, failed=2).remaining == 5
