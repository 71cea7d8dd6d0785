"""Schema, analyser and stored form of documents in tantivy."""

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import tantivy

from bioqa.bioasq.domain import Document
from bioqa.indexer.medline.packed import unpack
from bioqa.indexer.search.records import Described, Record, day_of, decode
from bioqa.indexer.search.stopwords import STOP_WORDS
from bioqa.system.characters import strings_otherwise

TEXT = "text"
"""The searched field: title, abstract, and the words of them that the analyser would otherwise not find."""

TITLE = "title"
"""The title's words alone, for filters."""

KEYS = "keys"
"""What filters look documents up by: see ``bioqa.indexer.search.filtering.keys``."""

DEFINED = "defined"
"""Abbreviations and their long forms: see ``bioqa.indexer.search.defined``."""

ANALYZER, LINES, PIECES = "bioqa", "lines", "pieces"


def analyzer() -> Any:
    """Split into runs of letters and digits; lower case, without accents and stop words, Snowball stems.

    Hyphens and slashes separate words, as in the papers' retrieval; Greek letters are letters. Chosen by
    recall@100 and MAP on development questions: see bench/retrieval.py.
    """
    filters = tantivy.Filter
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(filters.lowercase())
        .filter(filters.ascii_fold())
        .filter(filters.custom_stopword(list(STOP_WORDS)))
        .filter(filters.stemmer("english"))
        .build()
    )


def lines() -> Any:
    """Each line of a text is one term, as it is."""
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(r"[^\n]+")).build()


def pieces() -> Any:
    """Each piece between blanks is one term, as it is: a fifth of the cost of lines."""
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()


def register(index: Any) -> None:
    """Give an index the analysers that its schema names."""
    index.register_tokenizer(ANALYZER, analyzer())
    index.register_tokenizer(LINES, lines())
    index.register_tokenizer(PIECES, pieces())


def schema() -> Any:
    builder = tantivy.SchemaBuilder()
    # Signed, because tantivy's deletion by term treats numbers as signed, and finds none in unsigned fields.
    builder.add_integer_field("pmid", stored=True, indexed=True, fast=True)
    builder.add_unsigned_field("version", stored=True, fast=True)
    builder.add_unsigned_field("published", stored=True, fast=True)
    builder.add_unsigned_field("has_title", indexed=True)
    builder.add_unsigned_field("has_abstract", indexed=True)
    # Positions are for phrases, and are read for nothing else.
    builder.add_text_field(TEXT, stored=True, tokenizer_name=ANALYZER, index_option="position")
    builder.add_text_field(TITLE, tokenizer_name=ANALYZER, index_option="position")
    builder.add_text_field(KEYS, tokenizer_name=PIECES, index_option="basic")
    builder.add_text_field(DEFINED, tokenizer_name=LINES, index_option="basic")
    builder.add_bytes_field("layout", stored=True)
    builder.add_bytes_field("metadata", stored=True)
    return builder.build()


def to_stored(record: Record) -> Any:
    document = tantivy.Document()
    document.add_integer("pmid", record.pmid)
    document.add_unsigned("version", record.version)
    document.add_unsigned("published", record.published)
    document.add_unsigned("has_title", int(bool(record.title)))
    document.add_unsigned("has_abstract", int(bool(record.abstract)))
    document.add_text(TEXT, record.title)
    document.add_text(TEXT, record.abstract)
    for text in filter(None, map(strings_otherwise, (record.title, record.abstract))):
        document.add_text(TEXT, text)
    document.add_text(TITLE, record.title)
    document.add_text(KEYS, record.keys)
    if record.defined:
        document.add_text(DEFINED, record.defined)
    document.add_bytes("layout", record.layout)
    document.add_bytes("metadata", record.metadata)
    return document


class Undecodable(Exception):
    """A stored document is not what ``to_stored`` made: its bytes were damaged."""


@contextmanager
def _decoding() -> Iterator[None]:
    try:
        yield
    except (LookupError, TypeError, ArithmeticError, AttributeError, ValueError, struct.error) as error:
        raise Undecodable(str(error)) from error


def numbers(searcher: Any, field: str, addresses: Sequence[Any]) -> list[int]:
    """A number of each document, which is kept outside its record. Raises Undecodable if one has none."""
    values: list[int | None] = searcher.fast_field_values(field, addresses)
    present = [value for value in values if value is not None]
    if len(present) < len(addresses):
        raise Undecodable(f"a document has no {field}")
    return present


def from_stored(stored: Any) -> Document:
    """Decode a document. Raises Undecodable."""
    with _decoding():
        title, abstract = stored.get_all(TEXT)[:2]
        pmid, version, published, layout, metadata = map(stored.get_first, _STORED)
        return decode(Record(pmid, version, published, title, abstract, layout, metadata=metadata))


def describe(stored: Any) -> Described:
    """Decode what a document's record says beside its text. Raises Undecodable."""
    with _decoding():
        published, metadata = stored.get_first("published"), stored.get_first("metadata")
        return Described(day_of(published), unpack(metadata))


_STORED = ("pmid", "version", "published", "layout", "metadata")
