"""Opening an index by its location: a folder, or the URL of an index in Elasticsearch.

Back ends are imported only when needed, as importing each takes time.
"""

from bioqa.indexer.loading.ledger import Ledger, LoadedFile
from bioqa.indexer.loading.target import LoadTarget
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.elastic.address import NO_CREDENTIALS, Access, folder_path, is_url, parse_address
from bioqa.indexer.search.elastic.mapping import DEFAULT_SHAPE, Shape
from bioqa.system.errors import BioqaError

TOKENS = "tokens-*.bin"
"""The files that `bioqa tokens` makes beside an index."""


def open_index(where: str, access: Access = NO_CREDENTIALS) -> SearchIndex:
    """Open an index for searching. Raises ``BioqaError`` if there is none that can be read."""
    if not is_url(where):
        from bioqa.indexer.releases.folder_shelf import RELEASES_FILE
        from bioqa.indexer.releases.serving import ServingIndex
        from bioqa.indexer.search.tantivy.index import TantivyIndex

        folder = folder_path(where)
        return ServingIndex(folder) if (folder / RELEASES_FILE).exists() else TantivyIndex.open(folder)
    from bioqa.indexer.search.elastic.connection import connect
    from bioqa.indexer.search.elastic.index import ElasticIndex

    address = parse_address(where)
    return ElasticIndex.open(connect(address, access), address, access.patience_s)


def open_target(
    where: str, joiner: str = "", access: Access = NO_CREDENTIALS, shape: Shape = DEFAULT_SHAPE
) -> LoadTarget:
    """Open an index to load files into; it is created if it does not exist."""
    if not is_url(where):
        from bioqa.indexer.loading.folder_target import FolderTarget

        return FolderTarget(folder_path(where), joiner)
    from bioqa.indexer.loading.elastic_target import ElasticTarget
    from bioqa.indexer.search.elastic.connection import connect
    from bioqa.indexer.search.elastic.index import ElasticIndex

    address = parse_address(where)
    return ElasticTarget(
        ElasticIndex.create(connect(address, access), address, joiner, shape, access.patience_s)
    )


def ledger(where: str, access: Access = NO_CREDENTIALS) -> tuple[LoadedFile, ...]:
    """Return the files that the index was loaded from, in the order of loading."""
    if not is_url(where):
        from bioqa.indexer.releases.folder_shelf import current_folder

        return Ledger.open(current_folder(folder_path(where))).entries
    from bioqa.indexer.loading.elastic_target import read_ledger
    from bioqa.indexer.search.elastic.connection import connect
    from bioqa.indexer.search.elastic.index import ElasticIndex

    address = parse_address(where)
    with ElasticIndex.open(connect(address, access), address, access.patience_s) as index:
        return tuple(read_ledger(index))


def check(where: str) -> int:
    """Compare the checksums of all files of an embedded index, its synonyms and its tokens;
    return their number.

    Raises ``BioqaError``, naming the file, if one is damaged."""
    if is_url(where):
        raise BioqaError("Elasticsearch checks its files itself; --check is for an index in a folder")
    from bioqa.indexer.releases.folder_shelf import current_folder
    from bioqa.indexer.search import synonyms
    from bioqa.indexer.search.tantivy.folder import IndexFolder
    from bioqa.indexer.search.tantivy.segments import check_checksums
    from bioqa.system.arrayfile import check_arrays

    folder = folder_path(where)
    number = check_checksums(IndexFolder.open(current_folder(folder)).path)
    if (folder / synonyms.FILE).exists():
        synonyms.check(folder / synonyms.FILE)
        number += 1
    for tokens in folder.glob(TOKENS):
        check_arrays(tokens)
        number += 1
    return number
