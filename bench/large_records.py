"""Any number of records for an index, faster than files can be parsed, by recombining given ones.

A record has the abstract of one given record, the title of another and the metadata of a third. Rare words
are replaced by new ones as ``bench.synthetic`` does, so that the vocabulary keeps growing, and each author
gets another family name. What this saves is parsing, cutting sentences and looking for abbreviations: three
quarters of what a citation costs.
"""

import random
import re
import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bench.synthetic_records import KINDS, draw_rank, name
from bench.vocabulary import GrowingVocabulary
from bioqa.bioasq.domain import Document
from bioqa.indexer.search.records import Record, encode

Rare = tuple[tuple[int, int, float], ...]
"""Begin and end of a word, and the probability that a new word replaces it."""


class Text(NamedTuple):
    text: str
    places: tuple[int, ...]
    """Begin and end of each sentence."""
    rare: Rare


class Given(NamedTuple):
    """A given record in parts."""

    title: Text
    abstract: Text
    parts: tuple[int, ...]
    """Begin, end and label length of each part of the abstract."""
    defined: str
    published: int
    metadata: str
    keys: str
    families: tuple[str, ...]


class Recombining:
    """``records`` yields new ones without end. Equal seeds give equal records."""

    def __init__(self, documents: Sequence[Document], seed: int = 0) -> None:
        self._random = random.Random(seed)
        self.vocabulary = GrowingVocabulary.of(documents, seed)
        self._given = [self._taken_apart(document) for document in documents]

    def records(self, first: int) -> Iterator[Record]:
        """Records with PMIDs from ``first`` on."""
        pmid = first
        while True:
            yield self._record(pmid)
            pmid += 1

    def _record(self, pmid: int) -> Record:
        of_abstract, of_title, said = self._random.choices(self._given, k=3)
        title, title_places = self._varied(of_title.title)
        places = (*of_abstract.abstract.places, *of_abstract.parts)
        abstract, places = self._varied(Text(of_abstract.abstract.text, places, of_abstract.abstract.rare))
        sentences = len(of_abstract.abstract.places)
        parts = [
            value
            for i, label in enumerate(of_abstract.parts[2::3])
            for value in (*places[sentences + 3 * i : sentences + 3 * i + 2], label)
        ]
        numbers = [len(title_places) // 2, sentences // 2, len(parts) // 3]
        numbers += [*title_places, *places[:sentences], *parts]
        metadata, keys = self._renamed(said, pmid, bool(abstract))
        return Record(
            pmid,
            1,
            said.published,
            title,
            abstract,
            struct.pack(f"<{len(numbers)}I", *numbers),
            metadata.encode(),
            keys,
            of_abstract.defined,
        )

    def _varied(self, given: Text) -> tuple[str, tuple[int, ...]]:
        """The text with some words replaced, and its places where they are then."""
        text, places = given.text, given.places
        for begin, end, probability in reversed(given.rare):
            if self._random.random() < probability:
                word = self.vocabulary.draw()
                text = text[:begin] + word + text[end:]
                longer = len(word) - (end - begin)
                places = tuple(place + longer if place >= end else place for place in places)
        return text, places

    def _renamed(self, said: Given, pmid: int, has_abstract: bool) -> tuple[str, str]:
        """Metadata and keys with other family names and this record's DOI."""
        metadata, keys = said.metadata.replace("@DOI@", f"s{pmid}"), said.keys.replace("@DOI@", f"s{pmid}")
        for family in said.families:
            other = name(draw_rank(self._random, KINDS.families))
            metadata = metadata.replace(f'["{family}",', f'["{other}",')
            old, new = family.lower(), other.lower()
            keys = keys.replace(f"author:{old}", f"author:{new}").replace(f"first:{old}", f"first:{new}")
        return metadata, f"filter:has_abstract {keys}" if has_abstract else keys

    def _taken_apart(self, document: Document) -> Given:
        record = encode(document)
        layout = struct.unpack(f"<{len(record.layout) // 4}I", record.layout)
        in_abstract = 3 + 2 * layout[0]
        parts_at = in_abstract + 2 * layout[1]
        doi = re.compile(rf"s{document.pmid}\b")
        keys = [key for key in record.keys.split() if key != "filter:has_abstract"]
        return Given(
            Text(record.title, layout[3:in_abstract], self.vocabulary.replaceable(record.title)),
            Text(record.abstract, layout[in_abstract:parts_at], self._outside_labels(document)),
            layout[parts_at:],
            record.defined,
            record.published,
            doi.sub("@DOI@", record.metadata.decode()),
            doi.sub("@DOI@", " ".join(keys)),
            tuple({author.last for author in document.metadata.authors if author.last}),
        )

    def _outside_labels(self, document: Document) -> Rare:
        labels = [(part.begin, part.begin + len(part.label)) for part in document.parts]
        return tuple(
            found
            for found in self.vocabulary.replaceable(document.abstract)
            if not any(begin <= found[0] < end for begin, end in labels)
        )
