"""An index by where it is: a folder, or a URL of Elasticsearch."""

from pathlib import Path

from indexer.ledger import Ledger, LoadedFile
from indexer.search.base import SearchIndex
from indexer.search.connection import NO_CREDENTIALS, Access, connect, is_url, place
from indexer.search.elastic import ElasticIndex
from indexer.search.elastic_target import ElasticTarget, read_ledger
from indexer.search.folder_target import FolderTarget
from indexer.search.mapping import DEFAULT_SHAPE, Shape
from indexer.search.tantivy import TantivyIndex
from indexer.target import LoadTarget


def open_index(where: str, access: Access = NO_CREDENTIALS) -> SearchIndex:
    """Raises ``BioqaError`` if there is none that can be read."""
    if not is_url(where):
        return TantivyIndex.open(Path(where))
    at = place(where)
    return ElasticIndex.open(connect(at, access), at, access.patience_s)


def open_target(
    where: str, joiner: str = "", access: Access = NO_CREDENTIALS, shape: Shape = DEFAULT_SHAPE
) -> LoadTarget:
    """The index there, made if need be, to load files into."""
    if not is_url(where):
        return FolderTarget(Path(where), joiner)
    at = place(where)
    return ElasticTarget(ElasticIndex.create(connect(at, access), at, joiner, shape, access.patience_s))


def ledger(where: str, access: Access = NO_CREDENTIALS) -> tuple[LoadedFile, ...]:
    """The files that the index was loaded from."""
    if not is_url(where):
        return Ledger.open(Path(where)).entries
    at = place(where)
    with ElasticIndex.open(connect(at, access), at, access.patience_s) as index:
        return tuple(read_ledger(index))
