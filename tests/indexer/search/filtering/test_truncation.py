"""Truncated words, and how they go on."""

import pytest

from bioqa.indexer.search.filtering.truncation import completions, is_truncated, is_unmistakable, pieces
from bioqa.indexer.search.tantivy.schema import analyzer


@pytest.mark.parametrize("word", ["cardi*", "p53*", "anti-inflamm*", "Ménièr*", "ab*"])
def test_an_asterisk_at_the_end_truncates(word: str) -> None:
    assert is_truncated(word)


@pytest.mark.parametrize("word", ["HLA-B*27", "*", "**", "*2", "cardi**", "cardi*,", "a*b*", "cardi"])
def test_any_other_asterisk_does_not(word: str) -> None:
    assert not is_truncated(word)
    assert not is_unmistakable(word)


def test_only_letters_are_taken_for_a_query_without_other_signs() -> None:
    assert is_unmistakable("cardi*")
    assert not any(map(is_unmistakable, ("p53*", "ACE*", "CYP2C9*", "anti-inflamm*")))


def test_the_pieces_are_words_of_an_index() -> None:
    assert pieces("Anti-Inflamm*") == ["anti", "inflamm"]
    assert pieces("MÉNIÈR*") == ["menier"]


@pytest.mark.parametrize(
    ("beginning", "word"),
    [
        ("vaccinat", "vaccination"), ("vaccina", "vaccinated"), ("educatio", "educational"),
        ("studie", "studied"), ("adolescen", "adolescents"), ("capabili", "capabilities"),
        ("simula", "simulator"),
        ("mechanis", "mechanisms"), ("ratin", "ratings"), ("therapie", "therapies"), ("fitne", "fitness"),
        ("immunohistochemica", "immunohistochemically"), ("attainm", "attainment"),
    ],
)  # fmt: skip
def test_a_beginning_longer_than_the_stem_finds_the_word(beginning: str, word: str) -> None:
    (stem,) = analyzer().analyze(word)
    assert not stem.startswith(beginning)
    assert word.startswith(beginning)
    assert stem in analyzer().analyze(" ".join(completions(beginning)))


@pytest.mark.parametrize(("beginning", "other"), [("cardi", "card"), ("neuro", "neural"), ("gene", "gen")])
def test_a_shorter_word_is_not_found(beginning: str, other: str) -> None:
    stems = analyzer().analyze(" ".join(completions(beginning)))
    assert {*analyzer().analyze(other)}.isdisjoint(stems)
