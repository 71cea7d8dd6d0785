"""MeSH's descriptors, their synonyms (entry terms) and what is narrower.

``bioqa synonyms`` makes them once of NLM's descriptor file (desc2026.xml, plain or gzip): beside an index in
a folder as a file of SQLite, so that a question costs a look-up rather than the memory for a quarter of a
million terms; for one in Elasticsearch see ``bioqa.indexer.search.elastic.synonyms``. The file ends with a
digest (``bioqa.system.seals``): one bit of a term would change answers without a word.
"""

import gzip
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, Protocol, cast

from lxml import etree

from bioqa.indexer.search.defined import long_key
from bioqa.system.errors import BioqaError
from bioqa.system.formats import GZIP_MAGIC, HEAD_BYTES, refuse_packed
from bioqa.system.jsonfile import write_bytes
from bioqa.system.plain import require_plain
from bioqa.system.seals import Damaged, check_seal, seal
from bioqa.system.stamps import Stamp, stamp_of

FILE = "synonyms.sqlite"
"""Name of the file in an index's folder."""

FORMAT = 3

MOST_TERMS = 8
"""Synonyms of one phrase of a question."""

KEPT_HEADINGS = 64
"""Headings whose narrower ones are kept in memory: one request looks for the same heading several times."""

_TABLES = """
CREATE TABLE terms (key TEXT, descriptor INTEGER, term TEXT);
CREATE TABLE names (descriptor INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE trees (place TEXT, descriptor INTEGER);
"""
_INDEXES = """
CREATE INDEX by_key ON terms (key);
CREATE INDEX by_descriptor ON terms (descriptor);
CREATE INDEX by_place ON trees (place);
CREATE INDEX places ON trees (descriptor);
"""

_SQLITE = b"SQLite format 3\0"
_FORMAT_AT, _HEAD_BYTES = 60, 64
"""Where SQLite's header has the user version, in four bytes: https://www.sqlite.org/fileformat.html"""

_CHUNK = 1 << 16
_ROOT, _RECORD = "DescriptorRecordSet", "DescriptorRecord"


class SynonymsError(BioqaError):
    """A descriptor file, or a file of synonyms, cannot be used."""


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A descriptor's terms for its preferred concept, the preferred term first.

    Its other concepts are narrower or only related, and no synonyms."""

    ui: str
    terms: tuple[str, ...]
    trees: tuple[str, ...] = ()
    """Its places in MeSH's trees: C08.127.108 is below C08.127."""

    def keyed_terms(self) -> list[tuple[str, str]]:
        """Keys (``long_key``) and terms, the first term of each key."""
        by_key = {long_key(term): term for term in reversed(self.terms)}
        by_key.pop("", None)
        return [(key, by_key[key]) for key in reversed(by_key)]


@dataclass(frozen=True, slots=True)
class Built:
    """What was written."""

    descriptors: int
    terms: int
    """Synonyms: the terms of descriptors that have several."""

    @classmethod
    def of(cls, written: Sequence[Descriptor]) -> "Built":
        several = (len(keyed) for descriptor in written if len(keyed := descriptor.keyed_terms()) > 1)
        return cls(len(written), sum(several))


class Synonyms(Protocol):
    """What is known of MeSH's descriptors. Threads may share it."""

    def __bool__(self) -> bool:
        """Whether anything is known."""

    def of(self, keys: Collection[str]) -> Mapping[str, Sequence[str]]:
        """The synonyms of phrases by their keys (``long_key``), without those that have the same key.

        A phrase within another one that has synonyms is left out."""

    def narrower(self, heading: str) -> Sequence[str]:
        """The descriptor that is called so, by any of its terms, and all below it in MeSH's trees."""


def synonyms_of(rows: Iterable[tuple[str, str, str]]) -> Mapping[str, Sequence[str]]:
    """What ``Synonyms.of`` gives, from a key that was asked, another term's key, and that term."""
    terms: dict[str, dict[str, str]] = {}
    for phrase, key, term in rows:
        terms.setdefault(phrase, {}).setdefault(key, term)
    return {
        phrase: [*others.values()][:MOST_TERMS]
        for phrase, others in terms.items()
        if not any(phrase in longer for longer in terms if longer != phrase)
    }


class FileSynonyms:
    """``Synonyms`` in a file; none if there is no file."""

    def __init__(self, path: Path | None = None) -> None:
        """Raises SynonymsError if the file cannot be used."""
        self._lock = Lock()
        self._path = path
        self._database = None
        self._narrower = lru_cache(KEPT_HEADINGS)(self._look_up_narrower)
        if path is None or not path.exists():
            return
        check(path)
        try:
            # Immutable: a new file replaces the old one, and is never written in place.
            uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
            self._database = sqlite3.connect(uri, uri=True, check_same_thread=False)
            self._database.execute("SELECT 1 FROM terms LIMIT 0").fetchall()
        except sqlite3.Error as error:
            raise SynonymsError(f"{path} is not a file of synonyms: {error}; make it anew") from error

    def __bool__(self) -> bool:
        return self._database is not None

    def of(self, keys: Collection[str]) -> Mapping[str, Sequence[str]]:
        if not keys:
            return {}
        marks = ",".join("?" * len(keys))
        query = (
            "SELECT asked.key, other.key, other.term FROM terms AS asked JOIN terms AS other "  # noqa: S608
            f"USING (descriptor) WHERE asked.key IN ({marks}) AND other.key <> asked.key ORDER BY other.rowid"
        )  # only marks are put in
        return synonyms_of(self._rows(query, [*keys]))

    def narrower(self, heading: str) -> Sequence[str]:
        return self._narrower(long_key(heading))

    def _look_up_narrower(self, key: str) -> tuple[str, ...]:
        rows = self._rows(
            "SELECT name FROM terms JOIN names USING (descriptor) WHERE key = :key UNION "
            "SELECT name FROM terms JOIN trees AS own USING (descriptor) "
            # "/" comes after "." in ASCII: all that begins with the place and a full stop.
            "JOIN trees AS below ON below.place > own.place || '.' AND below.place < own.place || '/' "
            "JOIN names ON names.descriptor = below.descriptor WHERE key = :key",
            {"key": key},
        )
        return tuple(name for (name,) in rows)

    def _rows(self, query: str, values: Sequence[str] | Mapping[str, str]) -> list[Any]:
        if self._database is None:
            return []
        try:
            with self._lock:
                return self._database.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise SynonymsError(f"{self._path} cannot be read: {error}") from error

    def close(self) -> None:
        if self._database is not None:
            self._database.close()


def check(path: Path) -> None:
    """Read a file of synonyms. Raises SynonymsError unless it is as it was written, in this format."""
    try:
        require_plain(path)
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise SynonymsError(f"{path} cannot be read: {error.strerror or error}") from error
    if not head.startswith(_SQLITE):
        raise SynonymsError(
            f"{path} is not a file of synonyms; make it anew (`bioqa synonyms`), or remove it"
        )
    written = int.from_bytes(head[_FORMAT_AT:_HEAD_BYTES])
    if written != FORMAT:
        raise SynonymsError(f"{path} has format {written}, and this bioqa reads {FORMAT}; make it anew")
    try:
        check_seal(path)
    except Damaged as error:
        raise SynonymsError(f"{error}; make it anew (`bioqa synonyms`), or remove it") from error


NO_SYNONYMS = FileSynonyms()


class SynonymsFile:
    """A file that may appear, or be replaced, while an index is in use. Threads may share it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._seen: Stamp | None = None
        self._opened: Synonyms = NO_SYNONYMS

    def current(self) -> Synonyms:
        """The synonyms in the file now. Raises SynonymsError if it cannot be used."""
        stamp = stamp_of(self._path)
        with self._lock:
            if stamp != self._seen:
                # The old one is not closed, as other threads may be reading it.
                self._opened = FileSynonyms(self._path) if stamp else NO_SYNONYMS
                self._seen = stamp
            return self._opened


def build(source: Path, target: Path) -> Built:
    """Write the synonyms of NLM's descriptor file, whole or not at all.

    Raises SynonymsError, naming the file and what is wrong."""
    read = read_descriptors(source)
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(_TABLES)
        for number, descriptor in enumerate(read, 1):
            rows = [(key, number, term) for key, term in descriptor.keyed_terms()]
            database.executemany("INSERT INTO terms VALUES (?, ?, ?)", rows)
            database.execute("INSERT INTO names VALUES (?, ?)", (number, descriptor.terms[0]))
            places = [(tree, number) for tree in descriptor.trees]
            database.executemany("INSERT INTO trees VALUES (?, ?)", places)
        database.executescript(_INDEXES)
        database.execute(f"PRAGMA user_version = {FORMAT}")
        database.commit()
        write_bytes(target, seal(database.serialize()))
    return Built.of(read)


def read_descriptors(path: Path) -> list[Descriptor]:
    """Read NLM's descriptor file. Raises SynonymsError, also if it has none."""
    if not (read := [*descriptors(path)]):
        raise SynonymsError(f"{path} has no descriptor")
    return read


def descriptors(path: Path) -> Iterator[Descriptor]:
    """Read NLM's descriptor file, one record at a time. Raises SynonymsError."""
    parser = etree.XMLPullParser(
        ("start", "end"),
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    root: etree._Element | None = None
    try:
        with path.open("rb") as plain:
            stream = _unpack(plain, path)
            while chunk := stream.read(_CHUNK):
                parser.feed(chunk)
                _refuse_fatal(parser, path)
                for kind, element in parser.read_events():
                    if root is None:
                        root = element
                        _require_root(root, path)
                        _refuse_declared_entities(root, path)
                    elif kind == "end" and element.getparent() is root and element.tag == _RECORD:
                        yield _descriptor(element, path)
                        element.clear()
                        while (before := element.getprevious()) is not None:
                            root.remove(before)
            parser.close()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise SynonymsError(f"{path}: broken gzip: {error}") from error
    except etree.XMLSyntaxError as error:
        raise SynonymsError(f"{path}: broken XML: {error.msg}") from error
    except OSError as error:
        raise SynonymsError(f"{path}: cannot be read: {error.strerror or error}") from error


def _unpack(plain: BinaryIO, path: Path) -> BinaryIO:
    head = plain.read(HEAD_BYTES)
    plain.seek(0)
    if head.startswith(GZIP_MAGIC):
        return cast(BinaryIO, gzip.GzipFile(fileobj=plain))
    try:
        refuse_packed(head, str(path))
    except BioqaError as error:
        raise SynonymsError(str(error)) from error
    return plain


def _require_root(root: etree._Element, path: Path) -> None:
    if root.tag != _ROOT:
        raise SynonymsError(
            f"{path} is not NLM's descriptor file: its root is {root.tag!s}, not {_ROOT} "
            "(desc2026.xml at https://nlmpubs.nlm.nih.gov/projects/mesh/MESH_FILES/xmlmesh/)"
        )


def _refuse_fatal(parser: "etree.XMLPullParser[Any]", path: Path) -> None:
    """Raise for errors that lxml only logs: after an undeclared entity it goes on with the next chunk."""
    for error in parser.feed_error_log.filter_from_fatals():
        raise SynonymsError(f"{path}: broken XML: {error.message}, line {error.line}, column {error.column}")


def _refuse_declared_entities(root: etree._Element, path: Path) -> None:
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and declared.entities():
        raise SynonymsError(f"{path}, line {root.sourceline}: declares entities before its root")


def _require_text_alone(record: etree._Element, path: Path) -> None:
    """Refuse what is not text within a name: only what is before it would be read."""
    for name in record.iter("String"):
        for other in name:
            what = f"entity {other.text}" if isinstance(other, etree._Entity) else f"<{other.tag!s}>"
            raise SynonymsError(f"{path}, line {name.sourceline}: {what} within a term, which has to be text")
    for entity in record.iter(etree.Entity):
        line = record.sourceline
        raise SynonymsError(f"{path}, line {line}: unknown entity {entity.text} in this record")


def _descriptor(record: etree._Element, path: Path) -> Descriptor:
    _require_text_alone(record, path)
    ui = record.findtext("DescriptorUI") or ""
    terms = record.findall("ConceptList/Concept[@PreferredConceptYN='Y']/TermList/Term")
    names = [
        " ".join((term.findtext("String") or "").split())
        for term in sorted(terms, key=lambda term: term.get("RecordPreferredTermYN") != "Y")
        # "Neoplasms, Lung": nobody writes so.
        if term.get("IsPermutedTermYN") != "Y"
    ]
    if not ui or not any(names):
        raise SynonymsError(f"{path}, line {record.sourceline}: the record has no DescriptorUI or no term")
    places = [" ".join((tree.text or "").split()) for tree in record.iterfind("TreeNumberList/TreeNumber")]
    return Descriptor(ui, tuple(filter(None, names)), tuple(filter(None, places)))
