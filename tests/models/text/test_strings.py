"""Strings' ids are the same whether they were seen before or not."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace

import numpy as np
import pytest

from bioqa.models.text import strings
from bioqa.models.text.splitting import split
from bioqa.models.text.strings import KnownStrings
from bioqa.models.text.tokens import TokenisedDocument, tokenise_documents
from tests.models.toys import DOCUMENTS, document, pieces_of, vocabulary_of

VOCABULARY = replace(
    vocabulary_of(("zelosis", "velorin", "il-2tnf-", "the", "a")),
    pieces=pieces_of(("zel", "##osis", "velorin", "il", "2", "the", "a", "##b", "\u03b1", "\u03c3")),
)

OTHERS = [
    document(3, "Zelosis (IL-2/TNF-\u03b1)\u2028in \u039f\u0394\u039f\u03a3."),
    document(4, "\u00e9t\u00e9 \u00e9t\u00e9 of the IL-2/TNF-\u03b1 ... ."),
]


def _values(tokenised: list[TokenisedDocument]) -> Iterator[list[object]]:
    for each in tokenised:
        yield [getattr(each, field.name).tolist() for field in fields(TokenisedDocument)]


@pytest.mark.parametrize("pieces", [True, False])
@pytest.mark.parametrize("most", [0, 5, strings.MOST_STRINGS])
def test_what_is_known_changes_nothing(most: int, pieces: bool) -> None:
    vocabulary = replace(VOCABULARY, pieces=VOCABULARY.pieces if pieces else None)
    known = KnownStrings(vocabulary, most)
    for documents in (DOCUMENTS[:2], OTHERS, DOCUMENTS, [*OTHERS, *DOCUMENTS], []):
        alone = tokenise_documents(documents, vocabulary)
        assert [*_values(tokenise_documents(documents, vocabulary, known))] == [*_values(alone)]


def test_runs_are_joined_in_the_order_of_the_strings() -> None:
    known = KnownStrings(VOCABULARY)
    text = ["in", "\u03b1-cells", "in", "--", "of", "cells"]
    places, words, stems, _ = known(split([" ".join(text)]))
    ids, ends = words.of(places)
    expected = [VOCABULARY.word_ids[word] for word in text]
    assert (ids.tolist(), ends.tolist()) == (expected, [1, 2, 3, 4, 5, 6])
    assert stems.of(places)[1].tolist() == [0, 2, 2, 2, 2, 3]


def test_runs_stay_as_they_are_when_strings_are_added() -> None:
    known = KnownStrings(VOCABULARY)
    places, words, *_ = known(split(["one two"]))
    before = [found.tolist() for found in words.of(places)]
    known(split([f"string{number}" for number in range(5000)]))
    assert [found.tolist() for found in words.of(places)] == before


def test_long_strings_are_known_too() -> None:
    known = KnownStrings(VOCABULARY)
    long = ["x" * 16, "x" * 17, "x" * 18, "x" * 17, "\u03b1" * 8, "\u03b1" * 9]
    for _ in range(2):
        places, words, *_ = known(split(long))
        assert places.tolist() == [0, 1, 2, 1, 3, 4]
        assert words.of(places)[0].tolist() == [VOCABULARY.word_ids[word] for word in long]


def test_too_many_characters_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strings, "MOST_CHARACTERS", 100)
    known = KnownStrings(VOCABULARY)
    known(split(["one", "x" * 200]))
    places, *_ = known(split(["two"]))
    assert places.tolist() == [0]


def test_after_a_failure_it_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: str) -> list[str]:
        raise MemoryError

    known = KnownStrings(VOCABULARY)
    known(split(["one"]))
    with monkeypatch.context() as patched:
        patched.setattr(strings, "terms", fail)
        with pytest.raises(MemoryError):
            known(split(["two", "three"]))
    places, words, *_ = known(split(["two", "one"]))
    expected = [VOCABULARY.word_ids[word] for word in ("two", "one")]
    assert words.of(places)[0].tolist() == expected


def test_threads_share_it() -> None:
    known = KnownStrings(VOCABULARY, most=50)
    batches = [[f"word{(start * 7 + n) % 90}" for n in range(40)] for start in range(200)]

    def ids(batch: list[str]) -> list[int]:
        places, words, *_ = known(split(batch))
        found: list[int] = words.of(places)[0].tolist()
        return found

    with ThreadPoolExecutor(8) as threads:
        found = [*threads.map(ids, batches)]
    assert found == [[VOCABULARY.word_ids[word] for word in batch] for batch in batches]
    assert np.unique([len(each) for each in found]).tolist() == [40]
