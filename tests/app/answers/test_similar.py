"""Articles that are like another one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bioqa.app.answers import vectors as module
from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.similar import MOST_WORDS, SimilarArticles, best_words, similar
from bioqa.app.http.schemas import similar_documents
from bioqa.bioasq.domain import Document
from bioqa.indexer.medline.events import Delete, Upsert
from bioqa.indexer.search.tantivy.index import TantivyIndex
from tests.app.answers.meaning import indexed, with_vectors


def test_the_words_are_the_title_s_and_those_that_the_abstract_repeats() -> None:
    abstract = "Rats slept. The rats ate, and the mice ate and ate. 12 of 12 rats woke once."
    assert best_words("Sleep in rats", abstract) == "sleep in rats ate"
    long = " ".join(f"word{number} word{number}" for number in range(500))
    assert len(best_words(long, long).split()) <= 2 * MOST_WORDS
    assert best_words("", "") == ""


def pmids(found: SimilarArticles) -> list[str]:
    return [article.document.pmid for article in found.articles]


def test_similar_articles_are_of_the_same_drug_and_not_the_article_itself(answerer: Answerer) -> None:
    documents = answerer.index.get(["90000003", "90000040"])
    found = similar(answerer.index, documents["90000003"], 4)
    assert len(found.articles) == 4
    assert all("warfarin" in article.document.title for article in found.articles)
    assert {article.found_by for article in found.articles} == {None}
    assert "90000003" not in pmids(found)
    assert similar(answerer.index, Document("1", 1, "", ""), 4) == SimilarArticles(())


ARTICLES = [
    Document("1", 1, "Cardiac infarction", "Cardiac infarction hurts."),
    Document("2", 1, "Heart attack", ""),
    Document("3", 1, "Cardiac rehabilitation", ""),
    Document("4", 1, "Gardens", ""),
]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[TantivyIndex]:
    with indexed(tmp_path / "index", ARTICLES) as opened:
        yield opened


@pytest.fixture
def with_meaning(index: TantivyIndex, monkeypatch: pytest.MonkeyPatch) -> TantivyIndex:
    vectors = with_vectors(index)
    monkeypatch.setattr(module, "vectors_in", lambda folder: vectors)
    return index


def test_an_article_that_shares_no_word_is_found_by_its_vector(with_meaning: TantivyIndex) -> None:
    found = similar(with_meaning, ARTICLES[0], 2)
    assert pmids(found) == ["3", "2"]  # both lists; meaning alone
    by_both, by_meaning = (article.found_by for article in found.articles)
    assert by_both is not None
    assert by_meaning is not None
    assert (by_both.words, by_both.vectors) == (1, 2)
    assert (by_meaning.words, by_meaning.vectors) == (None, 1)
    assert by_meaning.cosine is not None
    assert by_meaning.cosine > 0.8
    assert "1" not in pmids(similar(with_meaning, ARTICLES[0], 10))


def test_withdrawn_articles_are_no_similar_ones(with_meaning: TantivyIndex) -> None:
    with_meaning.apply([Delete("2")])
    with_meaning.commit()
    assert "2" not in pmids(similar(with_meaning, ARTICLES[0], 10))


def test_an_article_without_a_vector_has_similar_ones_by_words(with_meaning: TantivyIndex) -> None:
    new = Document("5", 1, "Cardiac arrest", "")
    found = similar(with_meaning, new, 10)
    assert sorted(pmids(found)) == ["1", "3"]
    assert (found.articles[0].found_by, found.problem) == (None, None)


def test_an_article_without_words_has_similar_ones_by_meaning(
    index: TantivyIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = Document("6", 1, "", "")
    index.apply([Upsert(empty)])
    index.commit()
    vectors = with_vectors(index)
    monkeypatch.setattr(module, "vectors_in", lambda folder: vectors)
    assert len(similar(index, empty, 3).articles) == 3


def test_if_vectors_are_damaged_words_find_them_and_it_is_said(index: TantivyIndex) -> None:
    with_vectors(index)
    (path,) = index.beside.glob("vectors-*.bin")
    path.write_bytes(b"something else")
    found = similar(index, ARTICLES[0], 10)
    assert pmids(found) == ["3"]
    assert "no vectors that this bioqa can read" in (found.problem or "")
    (remark,) = similar_documents("1", found).remarks
    assert remark.kind == "by_words"
