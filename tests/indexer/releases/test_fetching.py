"""Fetching ahead: in order, bounded, and stopped by a bad file."""

from collections.abc import Generator

from bioqa.indexer.releases.fetching import fetch_ahead
from bioqa.indexer.releases.site import SiteSource
from bioqa.indexer.releases.source import FetchedFile
from tests.indexer.releases.site_server import Site, status

ONE = "pubmed25n0001.xml.gz"


def test_files_come_in_order_with_few_ahead(site: Site, source: SiteSource) -> None:
    files = source.listing()
    ahead = fetch_ahead(source, files, threads=1, ahead=2)
    assert next(ahead).file == files[0]
    assert [fetched.file for fetched in ahead] == list(files[1:])
    assert site.asked_for(ONE) == [None]


def test_fetching_ends_before_a_broken_file(site: Site, source: SiteSource) -> None:
    site.faults["pubmed25n0002.xml.gz.md5"] = [status(404)]
    got: list[str] = []

    def collect() -> Generator[FetchedFile, None, None]:
        bad = yield from fetch_ahead(source, source.listing(), threads=2, ahead=3)
        assert bad is not None
        got.append(f"not {bad[0].name}: {bad[1]}")

    got += [fetched.file.name for fetched in collect()]
    second = "pubmed25n0002.xml.gz"
    assert got == [f"not {second}: {site.url}baseline/{second}.md5: does not exist (404)", ONE]
