"""Shelves of both kinds, and a place for NLM's files."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from bioqa.indexer.opening import open_index
from bioqa.indexer.releases.elastic_shelf import ElasticShelf
from bioqa.indexer.releases.folder_shelf import FolderShelf, current_folder
from bioqa.indexer.releases.shelf import Shelf
from bioqa.indexer.releases.site import SiteSource
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.elastic.address import NO_CREDENTIALS, is_url, parse_address
from tests.indexer.medline_xml import deletion
from tests.indexer.releases.mirror import Mirror, citations
from tests.indexer.releases.site_server import Site, serve

OpenShelf = Callable[[], Shelf]


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    return Mirror(tmp_path / "mirror")


on_both = pytest.mark.parametrize("where", ["folder", "elastic"], indirect=True)
"""For tests of what a shelf does; the others run over the quicker one."""


@pytest.fixture
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A folder or URL where nothing is yet."""
    if getattr(request, "param", "folder") == "folder":
        return str(tmp_path / "shelf")
    # Asked for by name: a folder needs no server.
    url, name = request.getfixturevalue("elastic_url"), request.getfixturevalue("elastic_name")
    return f"{url}/{name}"


@pytest.fixture
def open_shelf(where: str) -> Iterator[OpenShelf]:
    with ExitStack() as stack:

        def make() -> Shelf:
            if is_url(where):
                return stack.enter_context(ElasticShelf(parse_address(where), NO_CREDENTIALS))
            return FolderShelf(Path(where))

        yield make


@pytest.fixture
def shelf(open_shelf: OpenShelf) -> Shelf:
    return open_shelf()


def serving_index(where: str) -> SearchIndex:
    """As a service opens it."""
    return open_index(where if is_url(where) else str(current_folder(Path(where))))


def titles(where: str, most: int = 200) -> dict[str, str]:
    """What serves: titles by PMID, up to PMID ``most``; nothing else may be in it."""
    index = serving_index(where)
    found = index.get([str(pmid) for pmid in range(1, most + 1)])
    assert index.stats().documents == len(found)
    index.close()
    return {pmid: document.title for pmid, document in found.items()}


@pytest.fixture
def site(mirror: Mirror) -> Iterator[Site]:
    mirror.baseline(1, *citations(1, 10))
    mirror.baseline(2, *citations(11, 20))
    mirror.update(3, deletion(3))
    with serve(mirror.folder) as running:
        yield running


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def source(site: Site, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SiteSource]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with SiteSource(site.url, cache, timeout_s=10, backoff_s=0.001) as opened:
        yield opened
