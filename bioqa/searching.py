"""Indices: build one from MEDLINE files, open one, search it."""

import os
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from bioqa.app.answers import opening
from bioqa.app.answers.similar import similar
from bioqa.app.settings import load_settings
from bioqa.bioasq.domain import Candidate, Document
from bioqa.indexer.search.base import IndexStats, SearchIndex
from bioqa.indexer.search.elastic.address import folder_path, is_url
from bioqa.indexer.search.filtering.filters import NO_FILTERS, Filters

if TYPE_CHECKING:
    from bioqa.indexer.loading.run import LoadProgress, LoadReport


class Index:
    """A search index opened for reading; a context manager.

    Threads may share it. It pickles as its place, so that processes open it themselves.
    """

    def __init__(self, opened: SearchIndex, where: str) -> None:
        """``where``: the folder or URL that it was opened from."""
        # Processes need not share the working directory.
        self._where = where if is_url(where) else str(folder_path(where).absolute())
        self._index = opened
        self._process = os.getpid()

    def __reduce__(self) -> tuple[Callable[[str], "Index"], tuple[str]]:
        return open_index, (self._where,)

    @property
    def name(self) -> str:
        return self._opened.name

    @property
    def _opened(self) -> SearchIndex:
        if self._process != os.getpid() and is_url(self._where):
            # Forked: the connections are the parent's, and each would read the other's responses.
            self._index = opening.open_index(load_settings(index=self._where))
            self._process = os.getpid()
        return self._index

    @property
    def back_end(self) -> SearchIndex:
        """What searches: the folder's or Elasticsearch's own class. Not part of the stable interface."""
        return self._opened

    def stats(self) -> IndexStats:
        """Name, number of documents, size in bytes, documents without title or abstract, and the joiner.

        >>> bioqa.open_index("sample-index").stats().documents
        168
        """
        return self._opened.stats()

    def search(self, question: str, size: int = 100, filters: Filters = NO_FILTERS) -> list[Candidate]:
        """The ``size`` best documents by BM25, best first, each with its score.

        Filters decide which documents are found, and change no score.

        >>> index = bioqa.open_index("sample-index")
        >>> [candidate.document.pmid for candidate in index.search("warfarin genes", size=2)]
        ['90000032', '90000035']
        """
        return self._opened.search(question, size, filters)

    def document(self, pmid: str) -> Document | None:
        """The document, or None if the index has none of that PMID.

        >>> index = bioqa.open_index("sample-index")
        >>> index.document("90000032").title
        'Why some people bleed on small doses of warfarin.'
        """
        return self.documents([pmid]).get(pmid)

    def documents(self, pmids: Iterable[str]) -> dict[str, Document]:
        """Those of the documents that are in the index, by PMID, in the order of the PMIDs."""
        wanted = [*pmids]
        documents = self._opened.get(wanted)
        return {pmid: documents[pmid] for pmid in wanted if pmid in documents}

    def similar(self, pmid: str, size: int = 5) -> list[Document]:
        """The ``size`` articles that are most like one of the index, the most similar first: by words, and by
        vectors if the index has any. An empty list if it has no article of that PMID.

        >>> index = bioqa.open_index("sample-index")
        >>> [document.pmid for document in index.similar("90000032", size=2)]
        ['90000033', '90000031']
        """
        document = self.document(pmid)
        if document is None:
            return []
        return [article.document for article in similar(self._opened, document, size).articles]

    def close(self) -> None:
        self._opened.close()

    def __enter__(self) -> "Index":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Index({self.name!r})"


def open_index(where: str | Path | None = None) -> Index:
    """Open an index: a folder, or the URL of one in Elasticsearch (``http://host:9200/medline``).

    Without ``where``, the one that ``BIOQA_INDEX`` names. Credentials come from the environment, as
    docs/settings.md says. Raises BioqaError if there is no index, or none that can be read.

    >>> with bioqa.open_index("sample-index") as index:
    ...     print(index.stats().documents)
    168
    >>> bioqa.open_index("nowhere")
    Traceback (most recent call last):
    bioqa.system.errors.BioqaError: no index at nowhere: no such folder
    """
    settings = load_settings(index=where)
    return Index(opening.open_index(settings), opening.index_location(settings))


def build_index(
    files: Iterable[str | Path],
    where: str | Path,
    *,
    workers: int | None = None,
    joiner: str = "",
    progress: Callable[["LoadProgress"], None] | None = None,
) -> "LoadReport":
    """Load MEDLINE files, plain or gzip, into an index, made if it is not there.

    Repeated, it loads only what is new. A broken file is refused as a whole: ``report.refused`` names it, and
    ``report.rejections`` the citations that the search engine did not take. ``workers`` is the number of
    processes that parse, ``joiner`` what stands between the parts of a structured abstract. ``progress`` is
    called with the numbers of files, bytes and citations done. Raises BioqaError if a file is missing or the
    index cannot be written.

    >>> report = bioqa.build_index([bioqa.sample().medline], "another-index", workers=1)
    >>> report.loaded[0].upserted, report.refused
    (168, ())
    """
    # Here: opening an index must not wait for lxml and the sentence splitter.
    from bioqa.indexer.loading.run import DEFAULT_WORKERS, load

    with closing(opening.open_target(load_settings(index=where), joiner)) as target:
        return load([*map(Path, files)], target, workers=workers or DEFAULT_WORKERS, progress=progress)
