"""Reading a question in a simulated index of any size."""

import pytest

from bench.simulated_index import SimulatedEvidence, fit_exponent
from bioqa.bioasq.domain import Document
from bioqa.indexer.search.evidence import MOST_FORMS
from bioqa.indexer.search.questions.reading import read
from tests.indexer.search.evidence import TextEvidence

SCLEROSIS = "relapses of multiple sclerosis (MS) under ocrelizumab"
SPECTRA = "spectra of peptides by mass spectrometry (MS)"
EVIDENCE = TextEvidence(SCLEROSIS, SPECTRA, times={SCLEROSIS: 9, SPECTRA: 4})


def test_forms_grow_by_a_power_law_and_no_more_are_given_than_an_index_gives() -> None:
    for times in (1, 10, 100):
        evidence = SimulatedEvidence(EVIDENCE, times, exponent=0.7)
        definitions = evidence.definitions({"ms"}, ())
        assert len(definitions) == round(2 * times**0.7)
        assert definitions[0].documents == 9 * times
    assert len(SimulatedEvidence(EVIDENCE, 10_000).definitions({"ms"}, ())) == MOST_FORMS


def test_the_searches_of_a_question_are_bounded_whatever_the_size() -> None:
    searches = []
    for times in (1, 20, 100, 1000, 100_000):
        evidence = SimulatedEvidence(EVIDENCE, times)
        reading = read("Does ocrelizumab prevent relapses of MS?", evidence)
        assert not reading.cut_short
        searches.append(evidence.searches)
    assert searches == sorted(searches)
    assert searches[-1] == searches[-2] < 100


def test_the_exponent_is_that_of_the_documents() -> None:
    def documents(power: float) -> list[Document]:
        """In the first n documents, n to the power different long forms."""
        texts = []
        for number in range(1, 513):
            form = chr(97 + round(number**power) % 26) * (1 + round(number**power) // 26)
            texts.append(Document(str(number), 1, "", f"a m{form} sclerosis (MS) was there."))
        return texts

    found = [fit_exponent(documents(power)) for power in (0.0, 0.9)]
    assert found[0] == pytest.approx(0.0, abs=0.05)
    assert 0.1 < found[1] < 1.0
