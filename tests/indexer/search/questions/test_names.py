"""Names in questions."""

import pytest

from bioqa.bioasq.domain import Document, Sentence
from bioqa.indexer.search.questions.names import LAY_WEIGHT
from bioqa.indexer.search.questions.pieces import Ways
from bioqa.indexer.search.questions.reading import Expansion, read
from bioqa.indexer.search.questions.rewriting import rewritten
from bioqa.indexer.search.wording import Best, Every, Words, texts
from tests.indexer.search.evidence import TextEvidence


def test_a_brand_is_searched_for_as_its_drug_and_counts_no_more() -> None:
    evidence = TextEvidence(
        "quetiapine and prolactin", "seroquel", "knee", times={"quetiapine and prolactin": 9, "knee": 90}
    )
    reading = read("does Seroquel raise prolactin", evidence)
    assert reading.expansions == (Expansion("Seroquel", ("quetiapine",), "name"),)
    brand, _ = reading.wording.parts
    assert isinstance(brand, Best)
    weights = {way.text: way.weight for way in brand.ways if isinstance(way, Words)}
    assert weights["quetiapine"] == 1.0
    assert 0 < weights["Seroquel"] < 0.6
    assert Ways(("Seroquel", "quetiapine")) in reading.pieces


def test_a_brand_that_no_citation_has_is_not_corrected() -> None:
    reading = read("Does Zyprexa help?", TextEvidence("olanzapine does help", "zyprexas help"))
    assert reading.corrections == ()
    assert reading.wording == Every((Words("olanzapine"), Words("help")))


def test_what_a_lay_word_stands_for_is_searched_for_beside_it() -> None:
    reading = read("aspirin after a heart attack", TextEvidence("aspirin in myocardial infarction", "heart"))
    assert reading.expansions == (Expansion("heart attack", ("myocardial infarction",), "name"),)
    assert Best((Words("myocardial infarction", LAY_WEIGHT),)) in reading.wording.parts
    assert Words("heart") in reading.wording.parts


@pytest.mark.parametrize(("many", "written"), [(30, True), (2, False)])
def test_a_lay_word_is_rewritten_for_rankers_where_it_is_rare(many: int, written: bool) -> None:
    evidence = TextEvidence("urticaria", "hives", times={"urticaria": many})
    reading = read("pills for hives", evidence)
    assert (Ways(("hives", "urticaria")) in reading.pieces) is written


def test_a_ranker_reads_the_name_that_most_candidates_use() -> None:
    text = "Quetiapine did not raise it."
    document = Document("1", 1, "", text, sentences=(Sentence("abstract", 0, len(text)),))
    reading = read("does Seroquel raise it", TextEvidence(text))
    assert rewritten(reading, [document]).question == "does quetiapine raise it"


@pytest.mark.parametrize("question", ["the impact of diet", "boxers who jab", "advance care", "ease of use"])
def test_a_common_word_is_taken_as_it_is(question: str) -> None:
    evidence = TextEvidence("the impact of diet", "boxers who jab", "advance care", "ease of use")
    assert "name" not in {each.why for each in read(question, evidence).expansions}


def test_an_ambiguous_word_is_a_name_beside_its_context_only() -> None:
    evidence = TextEvidence("thyroid tap", "hypoglycemia by insulin", "hypo")
    assert read("a hypo on insulin", evidence).expansions
    assert not read("a hypo", evidence).expansions


def test_names_that_the_index_has_not_are_left_alone() -> None:
    reading = read("heart attack", TextEvidence("heart attack"))
    assert not reading.expansions
    assert reading.wording == Every((Words("heart"), Words("attack")))


def test_the_longest_name_is_taken() -> None:
    evidence = TextEvidence("influenza vaccine", "influenza", "vaccination")
    (expansion,) = read("the flu jab", evidence).expansions
    assert expansion.words == "flu jab"


def test_words_are_not_joined_into_a_name() -> None:
    """ "The in vivo" has no thein, which is caffeine."""
    assert not read("the in vivo level", TextEvidence("caffeine in vivo level")).expansions


def test_a_question_of_thirty_names_is_read() -> None:
    names = "Seroquel Norvasc Zomig Prozac Lipitor Zocor Plavix Coumadin Keytruda Gleevec " * 3
    reading = read(names, TextEvidence("quetiapine amlodipine zolmitriptan fluoxetine imatinib"))
    assert {"quetiapine", "amlodipine", "imatinib"} <= {*texts(reading.wording)}
    assert reading.text == names.strip()
