"""Compact encoding of documents: numbers, two texts, the spans packed into a few bytes, and the metadata.

Indexes store records, and loading passes them between processes: packing and pickling a record costs a tenth
of pickling the document with its many small objects.
"""

import re
import struct
from datetime import date
from typing import NamedTuple

from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import Metadata
from bioqa.indexer.medline.packed import pack, unpack
from bioqa.indexer.search.defined import terms
from bioqa.indexer.search.filtering.keys import keys
from bioqa.indexer.search.stored import IndexedDocument, layout_of
from bioqa.system.errors import BioqaError

PMID = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)

NO_DATE = 0
"""``published`` of a document without a date: before all days, so that no cut-off date excludes it."""


class Record(NamedTuple):
    """An encoded document."""

    pmid: int
    version: int
    published: int
    """The proleptic Gregorian ordinal of the day, or ``NO_DATE``."""
    title: str
    abstract: str
    layout: bytes
    """Little-endian 32-bit numbers: the counts of title sentences, abstract sentences and parts; begin and
    end of each sentence; begin, end and label length of each part."""
    metadata: bytes = b""
    """JSON; see ``bioqa.indexer.medline.packed``. Empty if there is none."""
    keys: str = ""
    """Between blanks; see ``bioqa.indexer.search.filtering.keys``. Indexed, but not stored."""
    defined: str = ""
    """One a line; see ``bioqa.indexer.search.defined``. Indexed, but not stored."""


class Described(NamedTuple):
    """What a record says beside its text."""

    published: date | None
    metadata: Metadata


EncodedEvent = Record | int
"""A record to upsert, or the PMID of a document to delete."""


def pmid_number(pmid: str) -> int:
    """Convert a PMID into a number. Raises ``BioqaError`` if it is malformed."""
    if not PMID.fullmatch(pmid):
        raise BioqaError(f"not a PMID: {pmid!r} (it must be digits without a leading zero)")
    return int(pmid)


def encode(document: Document) -> Record:
    """Encode a document. Raises ``BioqaError`` for a malformed PMID, ``ValueError`` for an invalid part."""
    numbers = layout_of(document)
    return Record(
        pmid_number(document.pmid),
        document.version,
        document.published.toordinal() if document.published else NO_DATE,
        document.title,
        document.abstract,
        struct.pack(f"<{len(numbers)}I", *numbers),
        pack(document.metadata),
        " ".join(keys(document)),
        "\n".join(sorted({*terms(document.title, document.abstract)})),
    )


def decode(record: Record, metadata: Metadata | None = None) -> Document:
    """The inverse of ``encode``. Sentences, parts and the record's metadata are unpacked when they are looked
    at; ``metadata`` takes its place if an index stores it otherwise.

    Raises LookupError, ValueError or struct.error for a damaged layout."""
    values = {
        "pmid": str(record.pmid),
        "version": record.version,
        "title": record.title,
        "abstract": record.abstract,
        "published": day_of(record.published),
        "metadata": unpack(record.metadata) if metadata is None else metadata,
    }
    return IndexedDocument.of(values, struct.unpack(f"<{len(record.layout) // 4}I", record.layout))


def day_of(published: int) -> date | None:
    """The day of a record's number."""
    return None if published == NO_DATE else date.fromordinal(published)
