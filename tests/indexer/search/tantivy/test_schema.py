"""tantivy's analyser, and documents as it stores them."""

from dataclasses import replace
from datetime import date

import pytest
import tantivy

from bioqa.bioasq.domain import Document, Part
from bioqa.indexer.search.records import encode
from bioqa.indexer.search.tantivy.schema import (
    Undecodable,
    analyzer,
    describe,
    from_stored,
    numbers,
    register,
    schema,
    to_stored,
)
from tests.indexer.documents import document
from tests.indexer.metadata import FULL

PARTS = (Part("AIMS", 0, 16),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "What is the role of thyroid hormones in cardiac regeneration?",
            "role thyroid hormon cardiac regener",
        ),
        ("IL-2/TNF-α (5 µg)", "il 2 tnf α 5 µg"),
        ("Sjögren's T cells and CO₂", "sjogren s t cell co2"),
        ("", ""),
    ],
)
def test_analyser(text: str, words: str) -> None:
    assert analyzer().analyze(text) == words.split()


@pytest.mark.parametrize(
    "original",
    [
        document(7, "β-Blockers.", "AIMS: All. None.", version=3, published=date(1999, 2, 28), parts=PARTS),
        document(1),
        Document("3", 1, "", ""),
        replace(document(4), metadata=FULL),
    ],
)
def test_a_document_comes_back_from_the_index(original: Document) -> None:
    index = tantivy.Index(schema())
    register(index)
    writer = index.writer()
    writer.add_document(to_stored(encode(original)))
    writer.commit()
    index.reload()
    searcher = index.searcher()
    (hit,) = searcher.search(tantivy.Query.all_query(), limit=2).hits
    assert from_stored(searcher.doc(hit[1])) == original
    writer.wait_merging_threads()


class Lacking:
    """A document of which a number is lost, as damage of a file can make it."""

    def fast_field_values(self, field: str, addresses: list[int]) -> list[int | None]:
        return [None for _ in addresses]

    def get_all(self, field: str) -> list[str]:
        return ["A title.", ""]

    def get_first(self, field: str) -> bytes | None:
        return b"?"


def test_what_cannot_be_decoded_is_damage() -> None:
    for decode in (
        lambda: numbers(Lacking(), "pmid", [1]),
        lambda: from_stored(Lacking()),
        lambda: describe(Lacking()),
    ):
        with pytest.raises(Undecodable):
            decode()
