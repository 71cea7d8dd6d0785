"""The stop words, and which words are none."""

import pytest

from bioqa.indexer.search.stopwords import STOP_WORDS
from bioqa.indexer.search.tantivy.schema import analyzer


def test_the_words_are_as_the_analysers_compare_them() -> None:
    assert len(STOP_WORDS) == len(set(STOP_WORDS)) > 150
    assert all(word.isascii() and word.isalpha() and word.islower() for word in STOP_WORDS)


@pytest.mark.parametrize("question", ["What is the", "Which of these does between", "How are they WHO"])
def test_words_of_asking_leave_nothing_to_search_for(question: str) -> None:
    assert analyzer().analyze(question) == []


@pytest.mark.parametrize("word", ["t", "d", "b", "k", "disease", "gene", "role", "il"])
def test_words_of_content_and_single_letters_are_kept(word: str) -> None:
    assert word not in STOP_WORDS
