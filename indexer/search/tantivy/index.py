"""The embedded index: tantivy in a folder.

tantivy fixes BM25's k1 at 1.2 and b at .75. Title and abstract are one field, so a word has the same weight
in either. Deleted and replaced documents count in word frequencies until tantivy merges their segments, so
scores of an updated index may differ in the last digits from those of a new one.
"""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from threading import Event as Done
from threading import Thread
from types import TracebackType
from typing import Any, Self

import tantivy

from bioqa.bioasq.domain import Candidate, Document
from bioqa.indexer.medline.events import Delete, Event
from bioqa.indexer.search.base import Applied, IndexStats
from bioqa.indexer.search.filtering.filters import NO_FILTERS, Filters
from bioqa.indexer.search.questions.condensing import condense, is_long, words_of
from bioqa.indexer.search.questions.reading import Reading, read
from bioqa.indexer.search.records import PMID, Described, EncodedEvent, Record, encode, pmid_number
from bioqa.indexer.search.synonyms import FILE, Synonyms, SynonymsFile
from bioqa.indexer.search.tantivy.evidence import TantivyEvidence
from bioqa.indexer.search.tantivy.folder import IndexFolder, Links
from bioqa.indexer.search.tantivy.hits import Hit, best, both, pick, worth_picking
from bioqa.indexer.search.tantivy.queries import QueryMaker
from bioqa.indexer.search.tantivy.schema import (
    TEXT,
    Undecodable,
    describe,
    from_stored,
    numbers,
    register,
    schema,
    to_stored,
)
from bioqa.indexer.search.tantivy.segments import (
    META,
    Sizes,
    check_checksums,
    check_footers,
    check_sizes,
    describe_damage,
)
from bioqa.indexer.search.wording import Wording, clean
from bioqa.system.errors import BioqaError

PMIDS_PER_QUERY = 1000
"""PMIDs looked up by one query."""

DOCUMENTS_PER_PAGE = 50_000

CANNOT_LOCK = "Failed to acquire Lockfile: IoError"
"""tantivy's message if it cannot create a lock file in the folder."""

PANIC = "PanicException"
"""Class of a panic of tantivy. It derives from ``BaseException``, and cannot be imported."""

MAX_RELOADS = 5
"""Attempts to open a consistent state while another process is committing."""

SHARE_EVERY_S = 0.1

HEAP_BYTES = 256_000_000
WRITER_THREADS = 2

UPSERTED, DELETED, STALE = Applied(upserted=1), Applied(deleted=1), Applied(stale=1)


class TantivyIndex:
    """``SearchIndex`` for a folder. Threads may search concurrently; one at a time may write.

    Commits of other processes are visible to the next ``search``, ``get`` or ``stats``.
    """

    def __init__(
        self, folder: IndexFolder, index: Any, links: Links | None = None, beside: Path | None = None
    ) -> None:
        """``links``: the folder in which ``index`` was opened, if it is not ``folder``. ``beside``: the one
        with the files beside the index, if it is another one."""
        self.beside: Path = beside or folder.path
        """The folder with what `bioqa synonyms` and `bioqa tokens` make."""
        self._folder = folder
        self._index = index
        self._links = links
        self._schema = index.schema
        self._make = QueryMaker(index.schema, lambda heading: self.synonyms().narrower(heading))
        self._synonyms = SynonymsFile(self.beside / FILE)
        register(index)
        index.config_reader("manual")
        self._sizes: Sizes = ()
        self._counted: dict[str, int] = {}
        """Documents with a phrase, as of the last reload."""
        self._seen = folder.read_stamp()
        self._reload()
        self._writer: Any = None
        self._uncommitted: dict[int, int | None] = {}
        """Current version of each PMID written since the last commit; None if it was deleted."""

    @classmethod
    def create(cls, folder: Path, joiner: str = "") -> Self:
        """Open the index in ``folder``; create or complete it if necessary.

        Raises ``BioqaError`` if the folder has other files, or an index with another joiner.
        """
        index_folder = IndexFolder.create(folder, joiner)
        with tantivy_errors(folder):
            if (folder / META).exists():
                check_footers(folder)
            index = tantivy.Index(schema(), str(folder), reuse=True)
            index_folder.share()
            return cls(index_folder, index)

    @classmethod
    def open(cls, folder: Path, beside: Path | None = None) -> Self:
        """Open the index in ``folder``, which may be read-only. ``beside``: as for the constructor.

        Raises ``BioqaError`` if there is none that this version can read.
        """
        index_folder = IndexFolder.open(folder)
        with tantivy_errors(folder):
            check_footers(folder)
            try:
                return cls(index_folder, tantivy.Index.open(str(folder)), None, beside)
            except ValueError as error:
                if CANNOT_LOCK not in str(error):
                    raise
            links = Links(folder)
            return cls(index_folder, tantivy.Index.open(str(links.path)), links, beside)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def name(self) -> str:
        return self._folder.path.resolve().name

    def check(self) -> int:
        """Read every file of the index, and compare its checksum. Returns the number of files.

        Raises ``BioqaError`` if one is damaged."""
        with tantivy_errors(self._folder.path):
            return check_checksums(self._folder.path)

    # Reading

    def evidence(self) -> TantivyEvidence:
        # Taken before the searcher, or counts of an older state could be kept for a newer one.
        counted = self._counted
        return TantivyEvidence(self._searcher(), self._make, counted)

    def read(self, question: str) -> Reading:
        with tantivy_errors(self._folder.path):
            return read(question, self.evidence(), self.synonyms())

    def synonyms(self) -> Synonyms:
        """The synonyms beside the index, as of the last ``bioqa synonyms``."""
        return self._synonyms.current()

    def search(
        self, question: str | Wording, size: int = 100, filters: Filters = NO_FILTERS
    ) -> list[Candidate]:
        with tantivy_errors(self._folder.path):
            searcher = self._searcher()
            best = self._best(searcher, question, size, filters)
            return [Candidate(from_stored(searcher.doc(address)), score) for score, address in best]

    def search_many(
        self, questions: Sequence[str | Wording], size: int = 100, filters: Filters = NO_FILTERS
    ) -> list[list[Candidate]]:
        return [self.search(question, size, filters) for question in questions]

    def newest(self, filters: Filters = NO_FILTERS, size: int = 100) -> list[Document]:
        with tantivy_errors(self._folder.path):
            searcher = self._searcher()
            best = self._best(searcher, None, size, filters)
            return [from_stored(searcher.doc(address)) for _, address in best]

    def describe(
        self, question: str | Wording | None, size: int = 100, filters: Filters = NO_FILTERS
    ) -> list[Described]:
        with tantivy_errors(self._folder.path):
            searcher = self._searcher()
            best = self._best(searcher, question, size, filters)
            return [describe(searcher.doc(address)) for _, address in best]

    def count(self, question: str | Wording | None, filters: Filters = NO_FILTERS) -> int:
        with tantivy_errors(self._folder.path):
            query = self._make.query(question, filters)
            return 0 if query is None else int(self._searcher().search(query, limit=1).count)

    def pmids(self, filters: Filters) -> list[int]:
        """Return the PMIDs of all documents that pass, in no order."""
        with tantivy_errors(self._folder.path):
            searcher = self._searcher()
            query = self._make.query(None, filters)
            hits = searcher.search(query, limit=max(1, searcher.num_docs), count=False).hits
            numbers: list[int] = searcher.fast_field_values("pmid", [address for _, address in hits])
        return numbers

    def condense(self, question: str) -> str:
        if not is_long(question):
            return question
        words = words_of(clean(question))
        terms = [self._make.words(word) for word in words]
        with tantivy_errors(self._folder.path):
            searcher = self._searcher()
            having = {term: searcher.doc_freq(TEXT, term) for term in {t for group in terms for t in group}}
            return condense(words, terms, having, searcher.num_docs)

    def get(self, pmids: Sequence[str]) -> Mapping[str, Document]:
        numbers = [int(pmid) for pmid in pmids if PMID.fullmatch(pmid)]
        with tantivy_errors(self._folder.path):
            searcher = self._searcher()
            documents = [from_stored(searcher.doc(address)) for address in self._addresses(searcher, numbers)]
        return {document.pmid: document for document in documents}

    def documents(self) -> Iterator[Document]:
        """Yield all documents in ascending order of PMIDs, as they are when it begins."""
        with tantivy_errors(self._folder.path):
            searcher = self._searcher()
        last = 0
        while True:
            with tantivy_errors(self._folder.path):
                # In pages: an address for each document of MEDLINE would take gigabytes.
                query = tantivy.Query.range_query(
                    self._schema, "pmid", tantivy.FieldType.Integer, lower_bound=last, include_lower=False
                )
                page = searcher.search(
                    query,
                    limit=DOCUMENTS_PER_PAGE,
                    count=False,
                    order_by_field="pmid",
                    order=tantivy.Order.Asc,
                ).hits
            if not page:
                return
            for _, address in page:
                with tantivy_errors(self._folder.path):
                    document = from_stored(searcher.doc(address))
                yield document
            last = page[-1][0]

    def state(self) -> str:
        with tantivy_errors(self._folder.path):
            return self._folder.state()

    def stats(self) -> IndexStats:
        with tantivy_errors(self._folder.path):
            searcher = self._searcher()
            documents = searcher.num_docs
            lacking = {
                field: int(searcher.search(tantivy.Query.term_query(self._schema, field, 0), limit=1).count)
                for field in ("has_title", "has_abstract")
            }
        return IndexStats(
            name=self.name,
            documents=documents,
            size_bytes=self._folder.size_bytes(),
            without_title=lacking["has_title"],
            without_abstract=lacking["has_abstract"],
            joiner=self._folder.joiner,
        )

    def _searcher(self) -> Any:
        with tantivy_errors(self._folder.path):
            seen = self._folder.read_stamp()
            if seen != self._seen:
                self._reload()
                self._counted = {}
                # The state read before reloading, so that a commit in between is noticed by the next call.
                self._seen = seen
            check_sizes(self._sizes)
            return self._index.searcher()

    def _reload(self) -> None:
        self._sizes = check_footers(self._folder.path)
        if self._links is None:
            self._index.reload()
            return
        for remaining in reversed(range(MAX_RELOADS)):
            self._links.refresh()
            try:
                self._index.reload()
            except ValueError:
                # Another process committed and removed files: a lock among the links does not stop it.
                if not remaining:
                    raise
            else:
                return

    def _best(
        self, searcher: Any, question: str | Wording | None, size: int, filters: Filters
    ) -> list[tuple[float, Any]]:
        """Score and address of the best documents, best first; without a question, of the newest."""
        if size < 1:
            return []
        if question is None:
            hits = best(searcher, self._make.query(None, filters), size, "published")
            hits.sort(key=lambda hit: (-hit.score, -hit.pmid))
        elif (matching := self._make.matching(question)) is None:
            return []
        else:
            hits = self._passing(searcher, matching, filters, size)
            hits.sort(key=lambda hit: (-hit.score, hit.pmid))
        return [(hit.score, hit.address) for hit in hits[:size]]

    def _passing(self, searcher: Any, matching: Any, filters: Filters, size: int) -> list[Hit]:
        """What matches and passes: the best ``size`` documents, and all that tie with the last one."""
        passing = self._make.passing(filters)
        if passing is None:
            return best(searcher, matching, size)
        if worth_picking(size, lambda: self._make.most(filters.condition(), searcher), searcher.num_docs):
            hits = pick(searcher, self._schema, matching, passing, size)
            if hits is not None:
                return hits
        return best(searcher, both(matching, passing), size)

    def _addresses(self, searcher: Any, pmids: Iterable[int]) -> Iterator[Any]:
        remaining = iter(pmids)
        while chunk := list(islice(remaining, PMIDS_PER_QUERY)):
            query = tantivy.Query.term_set_query(self._schema, "pmid", chunk)
            for _, address in searcher.search(query, limit=len(chunk), count=False).hits:
                yield address

    # Writing

    def apply(self, events: Iterable[Event]) -> Applied:
        return self.write(
            pmid_number(e.pmid) if isinstance(e, Delete) else encode(e.document) for e in events
        )

    def write(self, events: Iterable[EncodedEvent]) -> Applied:
        """``apply`` for encoded events."""
        with tantivy_errors(self._folder.path):
            writer = self._open_writer()
        applied = Applied()
        remaining = iter(events)
        while chunk := list(islice(remaining, PMIDS_PER_QUERY)):
            with tantivy_errors(self._folder.path):
                self._look_up(event.pmid if isinstance(event, Record) else event for event in chunk)
                for event in chunk:
                    if isinstance(event, Record):
                        applied += self._upsert(writer, event)
                    else:
                        applied += self._delete(writer, event)
                self._folder.share()  # a merge that the last commit began may have ended
        return applied

    def lock(self) -> None:
        """Lock the index for writing until ``close``. The first write does so, too.

        Raises ``BioqaError`` if another process is writing.
        """
        with tantivy_errors(self._folder.path):
            self._open_writer()

    def commit(self) -> None:
        """Make all writes visible and durable."""
        with tantivy_errors(self._folder.path):
            self._open_writer().commit()
            self._folder.share()
        self._uncommitted.clear()

    def rollback(self) -> None:
        """Undo all writes since the last commit."""
        with tantivy_errors(self._folder.path):
            self._open_writer().rollback()
        self._uncommitted.clear()

    def close(self) -> None:
        """Wait for merges, and release the lock. Uncommitted writes are discarded."""
        writer, self._writer = self._writer, None
        unfinished = bool(self._uncommitted)
        self._uncommitted.clear()
        if writer is not None:
            with tantivy_errors(self._folder.path):
                if unfinished:
                    # It also ends the merges that the last commit began. They begin again with the next one.
                    writer.rollback()
                with self._sharing():
                    writer.wait_merging_threads()
        if self._links is not None:
            self._links.close()

    @contextmanager
    def _sharing(self) -> Iterator[None]:
        """Merges that end one after the other make files that others cannot read: share them meanwhile."""
        done = Done()

        def share() -> None:
            while not done.wait(SHARE_EVERY_S):
                with suppress(OSError):
                    self._folder.share()

        thread = Thread(target=share, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            self._folder.share()

    def _open_writer(self) -> Any:
        if self._links is not None:
            raise BioqaError(f"cannot write to the index in {self._folder.path}: its folder cannot be locked")
        if self._writer is None:
            try:
                self._writer = self._index.writer(HEAP_BYTES, WRITER_THREADS)
                self._writer.garbage_collect_files()  # incomplete files of a run that was killed
            except ValueError as error:
                if "LockBusy" not in str(error):
                    raise BioqaError(f"cannot write to the index in {self._folder.path}: {error}") from error
                raise BioqaError(
                    f"the index in {self._folder.path} is being written by another process; "
                    "wait for it to end, or stop it"
                ) from error
        return self._writer

    def _look_up(self, pmids: Iterable[int]) -> None:
        """Look up the committed versions of PMIDs that were not written since the last commit."""
        searcher = self._searcher()
        if not searcher.num_docs:
            return
        unknown = [pmid for pmid in pmids if pmid not in self._uncommitted]
        addresses = list(self._addresses(searcher, unknown))
        pmids = numbers(searcher, "pmid", addresses)
        self._uncommitted.update(zip(pmids, numbers(searcher, "version", addresses), strict=True))

    def _upsert(self, writer: Any, record: Record) -> Applied:
        current = self._uncommitted.get(record.pmid)
        if current is not None:
            if current > record.version:
                return STALE
            writer.delete_documents_by_term("pmid", record.pmid)
        writer.add_document(to_stored(record))
        self._uncommitted[record.pmid] = record.version
        return UPSERTED

    def _delete(self, writer: Any, pmid: int) -> Applied:
        if self._uncommitted.get(pmid) is None:
            return STALE
        writer.delete_documents_by_term("pmid", pmid)
        self._uncommitted[pmid] = None
        return DELETED


@contextmanager
def tantivy_errors(folder: Path) -> Iterator[None]:
    """Convert what tantivy raises into ``BioqaError``: ``ValueError``, ``OSError``, ``RuntimeError``, and
    ``PanicException``, which is no ``Exception``. A damaged file can lead to any of them, or to a document
    that cannot be decoded. Other errors are this program's, or its caller's, and no damage."""
    try:
        yield
    except (ValueError, OSError, RuntimeError) as error:
        raise BioqaError(_describe(error, folder)) from error
    except Undecodable as error:
        raise BioqaError(_damage(folder, f"a document cannot be decoded ({error})")) from error
    except BaseException as error:
        if type(error).__name__ != PANIC:
            raise
        raise BioqaError(_damage(folder, f"the search engine failed ({str(error)[:200]})")) from error


def _describe(error: Exception, folder: Path) -> str:
    if CANNOT_LOCK in str(error):
        return f"the index in {folder} cannot be locked: let this user write to the folder"
    if "No space left" in str(error) or "writer was killed" in str(error):
        # If its writing threads fail, tantivy does not report why.
        free = shutil.disk_usage(folder).free
        if free < HEAP_BYTES:
            return (
                f"cannot write to the index in {folder}: its disk is full ({free / 1e6:.0f} MB free); "
                "free some space and run it again"
            )
    return f"the index in {folder} cannot be used: {error}"


def _damage(folder: Path, what: str) -> str:
    return f"{describe_damage(folder, what)}; `bioqa info --check` names the file"
