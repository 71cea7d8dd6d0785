"""Strings' ids are the same whether they were seen before or not."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace

import numpy as np
import pytest

from bioqa.models.text import strings
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
    places, words, *_ = known(["in", "\u03b1-cells", "in", "--", "cells"])
    ids, counts = words.of(places)
    expected = [VOCABULARY.word_ids[word] for word in ("in", "\u03b1-cells", "in", "--", "cells")]
    assert (ids.tolist(), counts.tolist()) == (expected, [1, 1, 1, 1, 1])
    _, stems = known(["of"])[2].of(known(["of"])[0])
    assert stems.tolist() == [0]


def test_runs_stay_as_they_are_when_strings_are_added() -> None:
    known = KnownStrings(VOCABULARY)
    places, words, *_ = known(["one", "two"])
    before = [found.tolist() for found in words.of(places)]
    known([f"string{number}" for number in range(5000)])
    assert [found.tolist() for found in words.of(places)] == before


def test_too_many_characters_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strings, "MOST_CHARACTERS", 100)
    known = KnownStrings(VOCABULARY)
    known(["one", "x" * 200])
    places, *_ = known(["two"])
    assert places.tolist() == [0]


def test_after_a_failure_it_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: str) -> list[str]:
        raise MemoryError

    known = KnownStrings(VOCABULARY)
    known(["one"])
    with monkeypatch.context() as patched:
        patched.setattr(strings, "terms", fail)
        with pytest.raises(MemoryError):
            known(["two", "three"])
    places, words, *_ = known(["two", "one"])
    expected = [VOCABULARY.word_ids[word] for word in ("two", "one")]
    assert words.of(places)[0].tolist() == expected


def test_threads_share_it() -> None:
    known = KnownStrings(VOCABULARY, most=50)
    batches = [[f"word{(start * 7 + n) % 90}" for n in range(40)] for start in range(200)]

    def ids(batch: list[str]) -> list[int]:
        places, words, *_ = known(batch)
        found: list[int] = words.of(places)[0].tolist()
        return found

    with ThreadPoolExecutor(8) as threads:
        found = [*threads.map(ids, batches)]
    assert found == [[VOCABULARY.word_ids[word] for word in batch] for batch in batches]
    assert np.unique([len(each) for each in found]).tolist() == [40]
