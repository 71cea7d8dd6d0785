"""An index by where it is: a folder, or a URL of Elasticsearch.

The back ends are imported when they are needed: each takes its time.
"""

from pathlib import Path

from indexer.ledger import Ledger, LoadedFile
from indexer.search.base import SearchIndex
from indexer.search.mapping import DEFAULT_SHAPE, Shape
from indexer.search.place import NO_CREDENTIALS, Access, is_url, place
from indexer.target import LoadTarget


def open_index(where: str, access: Access = NO_CREDENTIALS) -> SearchIndex:
    """Raises ``BioqaError`` if there is none that can be read."""
    if not is_url(where):
        from indexer.releases.folder_shelf import NAMES
        from indexer.search.serving import ServingIndex
        from indexer.search.tantivy import TantivyIndex

        return ServingIndex(Path(where)) if Path(where, NAMES).exists() else TantivyIndex.open(Path(where))
    from indexer.search.connection import connect
    from indexer.search.elastic import ElasticIndex

    at = place(where)
    return ElasticIndex.open(connect(at, access), at, access.patience_s)


def open_target(
    where: str, joiner: str = "", access: Access = NO_CREDENTIALS, shape: Shape = DEFAULT_SHAPE
) -> LoadTarget:
    """The index there, made if need be, to load files into."""
    if not is_url(where):
        from indexer.search.folder_target import FolderTarget

        return FolderTarget(Path(where), joiner)
    from indexer.search.connection import connect
    from indexer.search.elastic import ElasticIndex
    from indexer.search.elastic_target import ElasticTarget

    at = place(where)
    return ElasticTarget(ElasticIndex.create(connect(at, access), at, joiner, shape, access.patience_s))


def ledger(where: str, access: Access = NO_CREDENTIALS) -> tuple[LoadedFile, ...]:
    """The files that the index was loaded from, in the order of loading."""
    if not is_url(where):
        from indexer.releases.folder_shelf import current_folder

        return Ledger.open(current_folder(Path(where))).entries
    from indexer.search.connection import connect
    from indexer.search.elastic import ElasticIndex
    from indexer.search.elastic_target import read_ledger

    at = place(where)
    with ElasticIndex.open(connect(at, access), at, access.patience_s) as index:
        return tuple(read_ledger(index))
