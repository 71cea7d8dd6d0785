import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.stem.snowball import EnglishStemmer

from bioqa.models.text.words import END, STOP_WORDS, stem, terms, unknown_id, words
from bioqa.system.characters import fold

_SUFFIXES = """
    sses ied ies us ss s eedly ingly edly eed ing ed y ly ization ational fulness ousness iveness tional
    biliti lessli entli ation alism aliti ousli iviti fulli enci anci abli izer ator alli bli ogi li alize
    icate iciti ative ical ness ful ement ance ence able ible ment ant ent ism ate iti ous ive ize sion tion
    al er ic e l at bl iz dd gener commun arsen
""".split()  # noqa: SIM905
_ANY_TERM = st.lists(
    st.sampled_from([*_SUFFIXES, *"abcdefghijklmnopqrstuvwxyz19\u03b1\u00e9"]), min_size=1, max_size=6
).map("".join)


@settings(max_examples=1000)
@given(_ANY_TERM)
def test_a_stem_is_snowballs(term: str) -> None:
    assert stem(term) == ("" if term in STOP_WORDS else EnglishStemmer().stem(term))


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("IL-2/TNF-α", ["il-2tnf-α"]),
        ('The "p53" gene\'s role.', ["the", "p53", "genes", "role"]),
        ("(a); [b]: {c}, d? e! f* g% h^ i& j_ k+ l< m> n= o@", [*"abcdefghijklmno"]),
        ("a\\b", ["ab"]),
        ("#1 costs $5 - `x` | y~z", ["#1", "costs", "$5", "-", "`x`", "|", "y~z"]),
        ("  two\n\twords\u00a0here ", ["two", "words", "here"]),
        ("β-catenin “naïve” 5–10 µm", ["β-catenin", "“naive”", "5–10", "µm"]),
        ("... (?)", []),
        ("", []),
    ],
)
def test_cleaning(text: str, cleaned: list[str]) -> None:
    assert words(text) == cleaned


@given(st.text())
def test_cleaning_is_idempotent_and_leaves_no_upper_case_or_punctuation(text: str) -> None:
    cleaned = words(text)
    assert words(" ".join(cleaned)) == cleaned
    assert not set("".join(cleaned)) & set("\"/\\'.,?;*!%^&_+():<=>@[]{}ABCXYZ ")


def test_every_character_outside_ascii_and_white_space_is_kept_but_accents() -> None:
    text = "".join(map(chr, range(0xA1, 0x2000)))
    kept = "".join(words(text))
    assert kept == "".join(fold(text.lower()).split())
    assert len(kept) > 7000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("IL-2/TNF-α", ["il", "2", "tnf", "α"]),
        ("The p53's role (in vivo).", ["the", "p53", "s", "role", "in", "vivo"]),
        ("naïve–Müller_cells", ["naive", "muller", "cells"]),
        ("0\u03000 na\u00efve nai\u0308ve", ["00", "naive", "naive"]),
        ("... – ?", []),
        ("", []),
    ],
)
def test_terms_are_runs_of_letters_and_digits(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@given(st.text(st.characters(exclude_characters=END)))
def test_terms_leave_out_nothing_but_separators(text: str) -> None:
    expected, previous = "", ""
    # Accents first: a mark of its own, as in a decomposed letter, separates nothing.
    for character in fold(text.lower()):
        expected += character if character.isalnum() else " " * (previous != " ")
        previous = expected[-1:]
    assert terms(text) == expected.split()


@pytest.mark.parametrize(
    ("term", "expected"), [("genes", "gene"), ("inhibited", "inhibit"), ("the", ""), ("α", "α"), ("2", "2")]
)
def test_stems(term: str, expected: str) -> None:
    assert stem(term) == expected


def test_stop_words_are_clean_and_hold_the_question_words() -> None:
    assert all(words(word) == [word] for word in STOP_WORDS)
    assert {"which", "what", "is", "the", "how"} <= STOP_WORDS
    assert not {"disease", "not-a-stop-word", "gene"} & STOP_WORDS


def test_unknown_words_have_negative_ids_that_do_not_change() -> None:
    assert unknown_id("xyzzy") == -1 - zlib.crc32(b"xyzzy")
    assert unknown_id("") == -1
    assert unknown_id("\ud800") < 0
