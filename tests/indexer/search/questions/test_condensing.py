"""Which words carry a long question."""

from hypothesis import given
from hypothesis import strategies as st

from bioqa.indexer.search.questions.condensing import (
    LONG_CHARACTERS,
    LONG_TERMS,
    LONGEST_WORD,
    MOST_TERMS,
    condense,
    is_long,
    words_of,
)

TOTAL = 1000


def test_what_is_long() -> None:
    assert not is_long("Is metformin better than placebo?")
    assert not is_long(" ".join(["a"] * LONG_TERMS))
    assert is_long(" ".join(["a"] * (LONG_TERMS + 1)))
    assert is_long("a-" * (LONG_TERMS + 1))  # one word with many terms
    assert not is_long("x" * LONG_CHARACTERS)
    assert is_long("x" * (LONG_CHARACTERS + 1))


def test_words_keep_their_punctuation_and_are_cut_where_they_do_not_end() -> None:
    assert words_of(" IL-6,\u2003(p53)\n") == ["IL-6,", "(p53)"]
    assert [len(word) for word in words_of("x" * 100)] == [LONGEST_WORD, 100 - LONGEST_WORD]


def test_rare_words_stay_before_frequent_ones_in_the_questions_order() -> None:
    words = [f"common{n}" for n in range(MOST_TERMS)] + ["Rare,"]
    terms = [[word.strip(",").lower()] for word in words]
    having = {term: 500 for (term,) in terms} | {"rare": 1}
    kept = condense(words, terms, having, TOTAL).split(" ")
    assert kept == [*words[: MOST_TERMS - 1], "Rare,"]


def test_what_is_said_often_weighs_more_and_stays_once() -> None:
    words = [f"w{n}" for n in range(MOST_TERMS)] + ["Often", "often", "OFTEN."]
    terms = [[word.strip(".").lower()] for word in words]
    having = {term: 10 for (term,) in terms}
    kept = condense(words, terms, having, TOTAL).split(" ")
    assert kept == [*words[: MOST_TERMS - 1], "Often"]


def test_words_that_no_document_has_go_first_and_stop_words_always() -> None:
    words = ["the", "unknown", *(f"w{n}" for n in range(MOST_TERMS))]
    terms = [[], ["unknown"], *([f"w{n}"] for n in range(MOST_TERMS))]
    having = {f"w{n}": 900 for n in range(MOST_TERMS)}
    assert condense(words, terms, having, TOTAL).split(" ") == words[2:]


def test_of_stop_words_alone_something_remains() -> None:
    assert condense(["the"] * 99, [[]] * 99, {}, TOTAL) == " ".join(["the"] * MOST_TERMS)


def test_a_word_weighs_as_its_best_term_and_costs_all_of_them() -> None:
    words = ["p53-" + "-".join(map(str, range(MOST_TERMS))), "p53-dependent", "cells"]
    terms = [["p53", *map(str, range(MOST_TERMS))], ["p53", "depend"], ["cell"]]
    having = {"p53": 2, "depend": 300, "cell": 700}
    assert condense(words, terms, having, TOTAL) == "p53-dependent cells"


WORDS = st.lists(st.text(alphabet="abc-", min_size=1, max_size=5), max_size=120)


@given(WORDS, st.dictionaries(st.sampled_from("abc"), st.integers(0, 2000)))
def test_it_is_never_longer_than_allowed_and_nothing_is_made_up(
    words: list[str], having: dict[str, int]
) -> None:
    terms = [[part for part in word.split("-") if part] for word in words]
    kept = condense(words, terms, having, TOTAL)
    assert kept == condense(words, terms, having, TOTAL)
    if any(terms):
        assert sum(len([p for p in word.split("-") if p]) for word in kept.split()) <= MOST_TERMS
    remaining = iter(words)
    assert all(word in remaining for word in kept.split())  # in order
