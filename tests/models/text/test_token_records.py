"""Records give back what tokenising makes, whatever the text."""

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.bioasq.domain import Document, Sentence
from bioqa.models.text import token_records
from bioqa.models.text.token_records import MOST_OWN, OFTEN, StringIds, Writer, read, runs_of, strings_of
from bioqa.models.text.tokens import TokenisedDocument, tokenise_documents
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.system.errors import BioqaError
from tests.models.text.test_tokens import TEXT, VOCABULARY
from tests.models.toys import DOCUMENTS, document, pieces_of

WITHOUT_PIECES = replace(VOCABULARY, pieces=None)


def assert_same(found: Sequence[TokenisedDocument], expected: Sequence[TokenisedDocument]) -> None:
    """Also in the kinds of numbers."""
    for one, other in zip(found, expected, strict=True):
        for name in (field.name for field in fields(TokenisedDocument)):
            assert getattr(one, name).dtype == getattr(other, name).dtype
            assert getattr(one, name).tolist() == getattr(other, name).tolist()


def again(writer: Writer, documents: Sequence[Document], *, pieces: bool = True) -> list[TokenisedDocument]:
    """The tokens of those documents that fit."""
    records = [record for record in writer(documents) if record is not None]
    return read(records, runs_of(writer.dictionary), pieces=pieces)


def test_documents_together_are_what_each_was() -> None:
    greek = document(3, "Zelosis (IL-2/TNF-α)\u2028\x1cin ΟΔΟΣ.")
    many = [document(1), TEXT, *DOCUMENTS, greek, document(4), document(5, "...")]
    for vocabulary in (VOCABULARY, WITHOUT_PIECES):
        found = again(Writer(vocabulary), many, pieces=vocabulary.pieces is not None)
        assert_same(found, tokenise_documents(many, vocabulary))


def test_those_without_pieces_can_be_read_of_records_that_have_them() -> None:
    found = again(Writer(VOCABULARY), DOCUMENTS, pieces=False)
    assert_same(found, tokenise_documents(DOCUMENTS, WITHOUT_PIECES))


@given(st.lists(st.text(), max_size=4), st.text())
def test_any_text(sentences: list[str], title: str) -> None:
    sources = [document(1, title, *sentences), document(2, title), document(3)]
    found = again(Writer(VOCABULARY), sources)
    assert_same(found, tokenise_documents(sources, VOCABULARY))


def test_spans_that_lie_outside_the_text_or_twice_in_it() -> None:
    spans = (Sentence("title", 0, 3), Sentence("abstract", 2, 90), Sentence("abstract", 0, 9))
    source = Document("7", 1, "Zelosis", "Velorin cures it.", None, spans)
    assert_same(again(Writer(VOCABULARY), [source]), tokenise_documents([source], VOCABULARY))


def test_what_recurs_is_learned_and_takes_less() -> None:
    writer = Writer(VOCABULARY)
    unknown = document(1, "Xyzzymab.")
    first = writer([unknown])[0]
    for _ in range(OFTEN):
        writer([unknown])
    later = writer([unknown])[0]
    assert first
    assert later
    assert len(later) < len(first)
    assert_same(
        read([first, later], runs_of(writer.dictionary), pieces=True),
        tokenise_documents([unknown] * 2, VOCABULARY),
    )


def test_a_later_writer_goes_on_with_the_dictionary() -> None:
    before = Writer(VOCABULARY)
    old = before(DOCUMENTS)
    after = Writer(VOCABULARY, before.dictionary)
    new = after([TEXT] * (OFTEN + 1))
    assert after.dictionary[: len(before.dictionary)] == before.dictionary
    records = [record for record in (*old, *new) if record]
    found = read(records, runs_of(after.dictionary), pieces=True)
    assert_same(found, tokenise_documents([*DOCUMENTS, *[TEXT] * (OFTEN + 1)], VOCABULARY))


def test_a_full_dictionary_learns_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    known = len(Writer(VOCABULARY).dictionary)
    monkeypatch.setattr(token_records, "MOST_KNOWN", known + 1)
    writer = Writer(VOCABULARY)
    many = [document(1, "Xyzzymab plughase frobnitol.")] * (2 * OFTEN)
    assert_same(again(writer, many), tokenise_documents(many, VOCABULARY))
    assert len(writer.dictionary) == known + 1


def test_it_goes_on_when_what_is_known_of_strings_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Writer(VOCABULARY)
    monkeypatch.setattr(writer._known, "_most", 3)
    for _ in range(3):
        for source in DOCUMENTS:
            assert_same(again(writer, [source]), tokenise_documents([source], VOCABULARY))


@pytest.mark.parametrize(
    "source",
    [
        document(1, " ".join(f"w{number}x" for number in range(MOST_OWN + 1))),
        document(1, "a " * 70_000),
        document(1, "-".join("abcdefgh" * 10)),
        document(1, *["x"] * 70_000),
    ],
    ids=["strings", "characters", "terms", "sentences"],
)
def test_a_document_that_does_not_fit_has_no_record(source: Document) -> None:
    assert Writer(VOCABULARY)([source, TEXT])[0] is None
    assert_same(again(Writer(VOCABULARY), [source, TEXT]), tokenise_documents([TEXT], VOCABULARY))


def test_too_many_pieces() -> None:
    names = (f"p{number}" for number in range(70_000))
    with pytest.raises(BioqaError, match="70,000 word pieces cannot be stored"):
        Writer(replace(VOCABULARY, pieces=pieces_of(names, dimensions=1)))


@given(
    st.lists(
        st.builds(
            StringIds,
            *(st.lists(st.integers(-(2**33), 2**31), max_size=3).map(tuple) for _ in range(3)),
        )
    )
)
def test_dictionaries_come_back(strings: list[StringIds]) -> None:
    assert strings_of(runs_of(strings)) == strings


def test_ids_of_the_least_and_the_highest_number() -> None:
    ids = StringIds((-(1 << 32),), (0, -1, (1 << 31) - 1), (0, 65_535))
    own = token_records._Own.of(ids)
    assert own
    units = [np.frombuffer(each, "<u2").astype(np.int64) for each in (own.words, own.stems)]
    assert [token_records._narrow(each).tolist() for each in units] == [[*ids.words], [*ids.stems]]


def test_any_vocabulary(vocabulary: Vocabulary) -> None:
    found = again(Writer(vocabulary), DOCUMENTS, pieces=vocabulary.pieces is not None)
    assert_same(found, tokenise_documents(DOCUMENTS, vocabulary))
