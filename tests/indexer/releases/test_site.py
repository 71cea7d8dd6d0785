"""NLM's site, as a small server of our own plays it: what is fetched, and what is done about faults."""

import shutil
import time
from collections import namedtuple
from pathlib import Path

import pytest

from bioqa.bioasq.errors import BioqaError
from bioqa.indexer.releases.folder_shelf import FolderShelf
from bioqa.indexer.releases.site import MAX_TRIES, NLM, SiteSource, linked_names
from bioqa.indexer.releases.source import BadFile, FetchedFile, FolderSource, PublishedFile, md5_path
from bioqa.indexer.releases.update import UpdateOptions, update
from tests.indexer.medline_xml import deletion
from tests.indexer.releases.conftest import titles
from tests.indexer.releases.mirror import Mirror, citations
from tests.indexer.releases.site_server import Fault, Site, breaks_off, garbled, nothing, status

ONE = "pubmed25n0001.xml.gz"
FILE = PublishedFile(ONE, "baseline")


def fetched_is_whole(fetched: FetchedFile, mirror: Mirror) -> bool:
    original = mirror.folder / fetched.file.directory / fetched.file.name
    assert not list(fetched.path.parent.glob("*.part"))
    return fetched.path.read_bytes() == original.read_bytes() and fetched.checked


def test_the_listing_is_read_from_the_directories_pages(mirror: Mirror, source: SiteSource) -> None:
    mirror.update(4, *citations(4, 4), md5=False)
    (mirror.folder / "updatefiles" / "README.txt").write_text("read me")
    assert source.listing() == (
        FILE,
        PublishedFile("pubmed25n0002.xml.gz", "baseline"),
        PublishedFile("pubmed25n0003.xml.gz", "updatefiles"),
        PublishedFile("pubmed25n0004.xml.gz", "updatefiles", ready=False),
    )


def test_only_files_of_the_directory_itself_are_listed() -> None:
    url = "https://example.org/pubmed/baseline/"
    page = (
        b'<a href="a.gz">1</a><a href="/pubmed/baseline/b%2Egz">2</a><a name="top">3</a>'
        b'<a href="https://elsewhere.org/c.gz">4</a><a href="../d.gz">5</a><a href="./">6</a>'
    )
    assert linked_names(page, url) == {"a.gz", "b.gz"}
    with pytest.raises(BioqaError, match="not the page of a directory"):
        linked_names(b"", url)


def test_a_file_is_fetched_once(mirror: Mirror, site: Site, source: SiteSource) -> None:
    first = source.fetch(FILE)
    assert fetched_is_whole(first, mirror)
    assert first.downloaded_bytes == first.path.stat().st_size
    again = source.fetch(FILE)
    assert (again.path, again.md5, again.downloaded_bytes) == (first.path, first.md5, 0)
    assert site.asked_for(ONE) == [None]


def test_the_cache_is_a_folder_source(source: SiteSource, cache: Path) -> None:
    files = source.listing()
    assert [source.fetch(file).file for file in files] == list(files)
    assert [(f.directory, f.name) for f in FolderSource(cache).listing()] == [
        (f.directory, f.name) for f in files
    ]


@pytest.mark.parametrize("what", ["file", "md5", "no md5"])
def test_what_is_bad_in_the_cache_is_fetched_anew(
    mirror: Mirror, site: Site, source: SiteSource, what: str
) -> None:
    path = source.fetch(FILE).path
    if what == "file":
        path.write_bytes(path.read_bytes()[:-1] + b"x")
    elif what == "md5":
        md5_path(path).write_text("torn")
    else:
        md5_path(path).unlink()
    assert source.fetch(FILE).downloaded_bytes > 0
    assert fetched_is_whole(source.fetch(FILE), mirror)
    assert len(site.asked_for(ONE)) == 2


def test_a_download_goes_on_where_it_broke_off(mirror: Mirror, site: Site, source: SiteSource) -> None:
    site.faults[ONE] = [breaks_off]
    fetched = source.fetch(FILE)
    assert fetched_is_whole(fetched, mirror)
    size = fetched.path.stat().st_size
    assert site.asked_for(ONE) == [None, f"bytes={size // 2}-"]
    assert fetched.downloaded_bytes == size


def test_a_run_goes_on_with_what_an_earlier_one_left(
    mirror: Mirror, site: Site, source: SiteSource, cache: Path
) -> None:
    whole = (mirror.folder / "baseline" / ONE).read_bytes()
    part = cache / "baseline" / f"{ONE}.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(whole[:100])
    assert fetched_is_whole(source.fetch(FILE), mirror)
    assert site.asked_for(ONE) == ["bytes=100-"]


@pytest.mark.parametrize("kind", ["complete", "too long", "of another file"])
def test_a_part_that_does_not_fit_does_no_harm(
    mirror: Mirror, site: Site, source: SiteSource, cache: Path, kind: str
) -> None:
    whole = (mirror.folder / "baseline" / ONE).read_bytes()
    part = cache / "baseline" / f"{ONE}.part"
    part.parent.mkdir(parents=True)
    part.write_bytes({"complete": whole, "too long": whole + b"x", "of another file": b"y" * 50}[kind])
    assert fetched_is_whole(source.fetch(FILE), mirror)
    if kind == "complete":
        assert site.asked_for(ONE) == []


def test_a_garbled_file_is_fetched_once_more(mirror: Mirror, site: Site, source: SiteSource) -> None:
    site.faults[ONE] = [garbled]
    assert fetched_is_whole(source.fetch(FILE), mirror)
    assert len(site.asked_for(ONE)) == 2


def test_a_file_garbled_twice_is_refused(site: Site, source: SiteSource, cache: Path) -> None:
    site.faults[ONE] = [garbled, garbled]
    with pytest.raises(BadFile, match=r"n0001.xml.gz: downloaded twice, its md5 is .*, and its .md5 says"):
        source.fetch(FILE)
    assert list((cache / "baseline").iterdir()) == []


@pytest.mark.parametrize("fault", [nothing, status(503), status(429), status(500)])
def test_passing_faults_are_waited_out(mirror: Mirror, site: Site, source: SiteSource, fault: Fault) -> None:
    for name in ("", ONE, f"{ONE}.md5"):
        site.faults[name] = [fault] * 3
    assert len(source.listing()) == 3
    assert fetched_is_whole(source.fetch(FILE), mirror)


def test_a_site_that_stays_busy_is_given_up(site: Site, source: SiteSource) -> None:
    site.faults[""] = [status(503)] * 20
    with pytest.raises(
        BioqaError, match=rf"baseline/: too many 503 error responses; gave up after {MAX_TRIES} tries"
    ):
        source.listing()
    assert len(site.requests) == MAX_TRIES


def test_a_download_without_headway_is_given_up(site: Site, source: SiteSource) -> None:
    site.faults[ONE] = [lambda handler, content: handler.answer(200, b"", length=len(content))] * 20
    with pytest.raises(BioqaError, match=rf"{ONE}: .*; gave up after {MAX_TRIES} tries"):
        source.fetch(FILE)
    assert len(site.asked_for(ONE)) == MAX_TRIES


def test_a_silent_site_is_given_up(site: Site, cache: Path) -> None:
    site.faults[""] = [lambda handler, _: time.sleep(0.2)] * 20
    with (
        SiteSource(site.url, cache, timeout_s=0.02, backoff_s=0.001) as source,
        pytest.raises(BioqaError, match=r"[Tt]imed out.*gave up"),
    ):
        source.listing()


def test_a_site_that_is_not_there(cache: Path) -> None:
    with (
        SiteSource("http://127.0.0.1:1/", cache, timeout_s=1, backoff_s=0.001) as source,
        pytest.raises(
            BioqaError, match=r"^http://127.0.0.1:1/baseline/: [^<>]*Connection refused[^<>]*gave up"
        ),
    ):
        source.listing()


@pytest.mark.parametrize(
    ("code", "said"),
    [(404, r"does not exist \(404\)"), (403, r"the site refuses \(403 Forbidden\)"), (302, "redirects to")],
)
def test_refusals_are_told_at_once(site: Site, source: SiteSource, code: int, said: str) -> None:
    site.faults[ONE] = [status(code)]
    with pytest.raises(BioqaError, match=rf"{ONE}: {said}"):
        source.fetch(FILE)
    assert len(site.asked_for(ONE)) == 1


def test_a_disk_without_room_is_told_before(
    source: SiteSource, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**9, 9 * 10**8, 10**8))
    with pytest.raises(BioqaError, match=r"disk of the cache .* is almost full: 100 MB free"):
        source.fetch(FILE)
    assert list((cache / "baseline").iterdir()) == []


def test_a_cache_that_cannot_be_written_to(site: Site, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        SiteSource(site.url, tmp_path / "file", backoff_s=0.001) as source,
        pytest.raises(BioqaError, match=r"cannot use the cache .*file/baseline: Not a directory"),
    ):
        source.fetch(FILE)


@pytest.mark.parametrize("url", ["http://ftp.ncbi.nlm.nih.gov/pubmed/", "ftp://ftp.ncbi.nlm.nih.gov/pubmed/"])
def test_only_https_is_fetched_from(url: str, cache: Path) -> None:
    with pytest.raises(BioqaError, match=r"only https:// is supported"):
        SiteSource(url, cache)


def test_a_slash_at_the_end_is_not_needed(cache: Path) -> None:
    with SiteSource(NLM.rstrip("/"), cache) as source:
        assert source.where == NLM


def test_an_index_is_kept_up_with_the_site(
    mirror: Mirror, site: Site, source: SiteSource, tmp_path: Path, where: str
) -> None:
    shelf = FolderShelf(Path(where))
    names = [f"pubmed25n000{n}.xml.gz" for n in (1, 2, 3)]
    first = update(source, shelf, UpdateOptions(workers=1))
    assert (first.passed, list(first.downloaded)) == (True, names)
    site.requests.clear()
    assert update(source, shelf, UpdateOptions(workers=1)).downloaded == ()
    assert [name for name, _ in site.requests] == ["/pubmed/baseline/", "/pubmed/updatefiles/"]
    mirror.update(4, deletion(4))
    site.faults["pubmed25n0004.xml.gz"] = [garbled, breaks_off]
    daily = update(source, shelf, UpdateOptions(workers=1))
    assert (daily.passed, daily.downloaded) == (True, ("pubmed25n0004.xml.gz",))
    assert sorted(titles(where), key=int) == [str(n) for n in range(1, 21) if n not in (3, 4)]
