"""The processor time of reading one question."""

from itertools import count

import pytest

from bioqa.indexer.search.questions.budget import Budget, BudgetedEvidence, BudgetSpent
from bioqa.indexer.search.questions.reading import Reading, read
from bioqa.indexer.search.wording import Every, Words
from tests.indexer.search.evidence import TextEvidence

TEXT = "relapses of multiple sclerosis (MS) and a tumor or tumour of aspirin"
EVIDENCE = TextEvidence(TEXT, times={TEXT: 9})
QUESTION = "Does asprin prevent tumours and relapses of MS?"


def steps(number: int) -> Budget:
    """A budget that allows so many looks at the clock, each of which takes a second."""
    return Budget(number, clock=count().__next__)


def test_a_question_within_the_budget_is_read() -> None:
    reading = read(QUESTION, EVIDENCE, budget=steps(10_000))
    assert reading == read(QUESTION, EVIDENCE, budget=Budget(1.0, clock=lambda: 0.0))
    assert reading
    assert not reading.cut_short


def test_a_question_that_exceeds_it_is_taken_literally_and_says_so() -> None:
    reading = read(QUESTION, EVIDENCE, budget=steps(3))
    assert reading == Reading(QUESTION, Every((Words(QUESTION),)), (QUESTION,), cut_short=True)
    assert not reading


def test_wherever_it_ends_nothing_is_half_read() -> None:
    whole = read(QUESTION, EVIDENCE, budget=steps(10_000))
    literal = read(QUESTION, EVIDENCE, budget=steps(0))
    readings = [read(QUESTION, EVIDENCE, budget=steps(number)) for number in range(0, 200, 4)]
    assert {reading == whole for reading in readings} == {True, False}
    assert all(reading in (whole, literal) for reading in readings)


def test_it_ends_between_the_searches_of_one_call() -> None:
    counted: list[str] = []

    class Lazy(TextEvidence):
        def counts(self, texts):  # type: ignore[no-untyped-def]
            for text in texts:
                counted.append(text)
                yield 1

    with pytest.raises(BudgetSpent):
        BudgetedEvidence(Lazy(), steps(3)).counts([str(number) for number in range(100)])
    assert len(counted) <= 4


def test_by_default_it_is_the_processor_time_of_this_thread() -> None:
    Budget().check()
    with pytest.raises(BudgetSpent):
        Budget(-1.0).check()
