"""Articles that are like another one."""

from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.similar import MOST_WORDS, best_words, similar
from bioqa.bioasq.domain import Document


def test_the_words_are_the_title_s_and_those_that_the_abstract_repeats() -> None:
    abstract = "Rats slept. The rats ate, and the mice ate and ate. 12 of 12 rats woke once."
    assert best_words("Sleep in rats", abstract) == "sleep in rats ate"
    long = " ".join(f"word{number} word{number}" for number in range(500))
    assert len(best_words(long, long).split()) <= 2 * MOST_WORDS
    assert best_words("", "") == ""


def test_similar_articles_are_of_the_same_drug_and_not_the_article_itself(answerer: Answerer) -> None:
    documents = answerer.index.get(["90000003", "90000040"])
    found = similar(answerer.index, documents["90000003"], 4)
    assert len(found) == 4
    assert all("warfarin" in candidate.document.title for candidate in found)
    assert "90000003" not in {candidate.document.pmid for candidate in found}
    assert similar(answerer.index, Document("1", 1, "", ""), 4) == []
