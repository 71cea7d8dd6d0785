"""Stored documents are like those that they were made of, whatever is looked at first."""

import pickle
import struct
from copy import copy, deepcopy
from dataclasses import replace

import pytest

from bioqa.bioasq.domain import Document, Part, Sentence
from bioqa.indexer.search.records import decode, encode
from bioqa.indexer.search.stored import IndexedDocument
from tests.indexer.documents import document
from tests.indexer.metadata import FULL

ORIGINALS = [
    document(7, "\u03b2. Title.", "AIMS: All. None.", parts=(Part("AIMS", 0, 10), Part("", 10, 16))),
    replace(document(8, "One.", "Two. Three."), metadata=FULL),
    document(10, "", "Only an abstract."),
    Document("1", 1, "", ""),
]


@pytest.fixture(params=ORIGINALS, ids=lambda original: original.pmid)
def original(request: pytest.FixtureRequest) -> Document:
    made: Document = request.param
    return made


def test_what_is_computed_without_objects(original: Document) -> None:
    stored = decode(encode(original))
    assert stored.sentence_count == len(original.sentences)
    assert stored.title_sentences == sum(s.section == "title" for s in original.sentences)
    assert stored.sentence_texts() == [original.sentence_text(s) for s in original.sentences]
    assert (original.sentence_count, original.title_sentences, original.sentence_texts()) == (
        stored.sentence_count,
        stored.title_sentences,
        stored.sentence_texts(),
    )


def test_it_equals_the_original(original: Document) -> None:
    assert decode(encode(original)) == original
    assert original == decode(encode(original))
    assert decode(encode(original)) == decode(encode(original))
    assert hash(decode(encode(original))) == hash(original)
    assert decode(encode(original)).sentences == original.sentences
    assert decode(encode(original)).parts == original.parts
    assert decode(encode(original)) != replace(original, title="Another.")
    assert decode(encode(original)) != object()


def test_copies_are_equal(original: Document) -> None:
    stored = decode(encode(original))
    for made in (copy(stored), deepcopy(stored), pickle.loads(pickle.dumps(stored))):
        assert isinstance(made, IndexedDocument)
        assert made == original


def test_a_changed_copy_has_what_it_was_given() -> None:
    stored = decode(encode(ORIGINALS[0]))
    sentences = (Sentence("title", 0, 2), Sentence("abstract", 0, 4), Sentence("abstract", 5, 6))
    changed = replace(stored, sentences=sentences, parts=())
    assert (changed.sentence_count, changed.title_sentences) == (3, 1)
    assert changed.sentence_texts() == [changed.sentence_text(each) for each in sentences]
    assert decode(encode(changed)) == changed


def test_there_is_nothing_else_in_it() -> None:
    with pytest.raises(AttributeError, match="doi"):
        _ = decode(encode(ORIGINALS[0])).doi  # type: ignore[attr-defined]


@pytest.mark.parametrize("numbers", [(1, 0, 0), (0, 0, 0, 4), (2**31, 0, 0)])
def test_a_damaged_layout_is_refused(numbers: tuple[int, ...]) -> None:
    record = encode(ORIGINALS[0])._replace(layout=struct.pack(f"<{len(numbers)}I", *numbers))
    with pytest.raises(ValueError, match="layout"):
        decode(record)
