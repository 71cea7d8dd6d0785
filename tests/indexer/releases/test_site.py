"""NLM's site, as a small server of our own plays it: what is fetched, and what is done about faults."""

import os
import shutil
import time
from base64 import b64encode
from collections import namedtuple
from contextlib import suppress
from pathlib import Path

import pytest
import urllib3

from bioqa.indexer.loading.ledger import md5_of
from bioqa.indexer.releases import site as module
from bioqa.indexer.releases.folder_shelf import FolderShelf
from bioqa.indexer.releases.known_md5s import KNOWN_MD5S_FILE
from bioqa.indexer.releases.site import MAX_TRIES, MAX_WAIT_S, NLM, SiteSource, linked_files
from bioqa.indexer.releases.source import (
    BadFile,
    FetchedFile,
    FolderSource,
    PublishedFile,
    md5_path,
    parse_md5,
    read_md5,
)
from bioqa.indexer.releases.update import UpdateOptions, update
from bioqa.system.errors import BioqaError
from tests.indexer.medline_xml import deletion
from tests.indexer.releases.conftest import titles
from tests.indexer.releases.mirror import Mirror, citations
from tests.indexer.releases.site_server import Fault, Handler, Site, breaks_off, garbled, nothing, status

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
        b'<a href="a.gz">1</a>  2025-01-01\n 10:00  20M'
        b'<a href="/pubmed/baseline/b%2Egz">2</a><a name="top">3</a>'
        b'<a href="https://elsewhere.org/c.gz">4</a><a href="../d.gz">5</a><a href="./">6</a>'
    )
    assert linked_files(page, url) == {"a.gz": "2025-01-01 10:00 20M", "b.gz": ""}
    with pytest.raises(BioqaError, match="not the page of a directory"):
        linked_files(b"", url)


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
    assert (source.fetch(FILE).downloaded_bytes > 0) == (what == "file")
    assert fetched_is_whole(source.fetch(FILE), mirror)
    assert parse_md5(read_md5(md5_path(path)), ONE, "") == md5_of(path)
    assert len(site.asked_for(ONE)) == (2 if what == "file" else 1)


def test_what_is_published_again_is_fetched_anew(mirror: Mirror, source: SiteSource) -> None:
    source.fetch(FILE)
    mirror.baseline(1, *citations(1, 10, "Other"))
    assert source.fetch(FILE).downloaded_bytes > 0
    assert fetched_is_whole(source.fetch(FILE), mirror)


def test_the_site_is_asked_again_only_for_md5s_that_may_have_changed(
    mirror: Mirror, site: Site, source: SiteSource
) -> None:
    name = f"{ONE}.md5"
    before = source.published_md5s(source.listing())
    assert before.keys() == {ONE, "pubmed25n0002.xml.gz", "pubmed25n0003.xml.gz"}
    assert source.published_md5s(source.listing()) == before
    assert len(site.asked_for(name)) == 1
    changed = mirror.baseline(1, *citations(1, 10, "Other"))
    site.time = "10:01"
    assert source.published_md5s(source.listing()) == before | {ONE: md5_of(changed)}
    site.time = ""  # a page without times
    for asked in (3, 4):
        source.published_md5s(source.listing())
        assert len(site.asked_for(name)) == asked


@pytest.mark.parametrize(
    "content", ["torn", "[]", '{"pubmed25n0001.xml.gz": 1}', '{"pubmed25n0001.xml.gz": []}']
)
def test_a_damaged_file_of_known_md5s_counts_as_none(source: SiteSource, cache: Path, content: str) -> None:
    before = source.published_md5s(source.listing())
    (cache / KNOWN_MD5S_FILE).write_text(content)
    assert source.published_md5s(source.listing()) == before


def test_an_md5_that_cannot_be_read_is_left_out(site: Site, source: SiteSource) -> None:
    site.faults[f"{ONE}.md5"] = [status(404)]
    assert ONE not in source.published_md5s(source.listing())
    assert ONE in source.published_md5s(source.listing())


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


def test_a_site_that_sends_the_same_half_each_time_is_given_up(site: Site, source: SiteSource) -> None:
    """It does not heed Range, so nothing is gained by asking again."""
    site.faults[ONE] = [breaks_off] * 50
    with pytest.raises(BioqaError, match=rf"{ONE}: .*; gave up after {MAX_TRIES} tries"):
        source.fetch(FILE)
    assert len(site.asked_for(ONE)) == MAX_TRIES


def test_a_download_that_is_interrupted_all_the_time_is_given_up(
    mirror: Mirror, site: Site, source: SiteSource, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_RESUMES", 9)

    def one_more_byte(handler: Handler, content: bytes) -> None:
        begin = int(handler.headers.get("Range", "bytes=0-")[6:-1])
        part = f"bytes {begin}-{len(content) - 1}/{len(content)}"
        handler.answer(206 if begin else 200, content[begin : begin + 1], part, length=len(content) - begin)

    site.faults[ONE] = [one_more_byte] * 50
    with pytest.raises(BioqaError, match=f"{ONE}: interrupted 9 times; run it again to resume"):
        source.fetch(FILE)
    assert (cache / "baseline" / f"{ONE}.part").stat().st_size == 9
    site.faults[ONE].clear()
    assert fetched_is_whole(source.fetch(FILE), mirror)


@pytest.mark.parametrize("asked", ["86400", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_the_site_may_not_make_us_wait_for_long(
    mirror: Mirror, site: Site, source: SiteSource, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)

    def busy(handler: Handler, _: bytes) -> None:
        handler.send_response(503)
        handler.send_header("Retry-After", asked)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    site.faults[ONE] = [busy]
    assert fetched_is_whole(source.fetch(FILE), mirror)
    assert waits == [MAX_WAIT_S]


def endless(handler: Handler, _: bytes) -> None:
    """No length, and no end."""
    handler.send_response(200)
    handler.end_headers()
    handler.close_connection = True
    with suppress(OSError):
        while True:
            handler.wfile.write(bytes(1 << 16))


@pytest.mark.parametrize("what", ["listing", "md5", "file"])
def test_everything_that_is_read_has_a_bound(
    site: Site, source: SiteSource, cache: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 10_000_000)
    site.faults[{"listing": "", "md5": f"{ONE}.md5", "file": ONE}[what]] = [endless] * 3
    with pytest.raises(BioqaError, match=r"has more than .*, so it is not what NLM publishes there"):
        source.listing() if what == "listing" else source.fetch(FILE)
    assert not list(cache.rglob("*.part"))


def test_a_file_that_is_announced_too_large(
    site: Site, source: SiteSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 10)
    with pytest.raises(BadFile, match=rf"{ONE}: has 0 MB, so it is not what NLM publishes there"):
        source.fetch(FILE)


@pytest.mark.parametrize("what", ["", f"{ONE}.md5"])
def test_pages_that_break_off_are_read_again(
    mirror: Mirror, site: Site, source: SiteSource, what: str
) -> None:
    site.faults[what] = [breaks_off, breaks_off]
    assert FILE in source.listing()
    assert fetched_is_whole(source.fetch(FILE), mirror)


def test_the_disk_is_watched_while_a_download_without_length_grows(
    site: Site, source: SiteSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHECKED_BYTES", 1 << 20)
    usage = namedtuple("usage", "total used free")
    free = iter([10**12, 10**12])
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**12, 0, next(free, 0)))
    site.faults[ONE] = [endless]
    with pytest.raises(BioqaError, match=r"disk of the cache .* is almost full: 0 MB free"):
        source.fetch(FILE)


# Proxies


@pytest.fixture
def proxies(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    return monkeypatch


@pytest.mark.parametrize(
    ("value", "address", "header"),
    [
        ("proxy.example.org:3128", "http://proxy.example.org:3128", None),
        ("http://proxy:3128/", "http://proxy:3128", None),
        ("HTTPS://proxy", "https://proxy", None),
        ("ada:pä%20ss@proxy:3128", "http://proxy:3128", "ada:pä ss"),
        ("[::1]:3128", "http://[::1]:3128", None),
    ],
)
def test_a_proxy_is_taken_as_curl_takes_it(
    proxies: pytest.MonkeyPatch, cache: Path, value: str, address: str, header: str | None
) -> None:
    proxies.setenv("HTTPS_PROXY", value)
    with SiteSource(NLM, cache) as source:
        pool = source._pool
        assert isinstance(pool, urllib3.ProxyManager)
        assert pool.proxy is not None
        assert pool.proxy.url.rstrip("/").removesuffix(":443") == address
        expected = f"Basic {b64encode(header.encode()).decode()}" if header else None
        assert pool.proxy_headers.get("proxy-authorization") == expected


def test_a_socks_proxy_cannot_be_used(proxies: pytest.MonkeyPatch, cache: Path) -> None:
    proxies.setenv("https_proxy", "socks5://ada:s3cret@127.0.0.1:1080")
    with pytest.raises(BioqaError, match=r"through the proxy socks5://127.0.0.1:1080: one of HTTP") as raised:
        SiteSource(NLM, cache)
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize("spared", ["*", "ftp.ncbi.nlm.nih.gov", ".nih.gov", "ftp.ncbi.nlm.nih.gov:8443"])
def test_hosts_without_proxy(proxies: pytest.MonkeyPatch, cache: Path, spared: str) -> None:
    proxies.setenv("HTTPS_PROXY", "socks5://127.0.0.1:1")
    proxies.setenv("NO_PROXY", spared)
    SiteSource("https://ftp.ncbi.nlm.nih.gov:8443/pubmed/", cache)
    if spared != "*":
        with pytest.raises(BioqaError, match="socks5"):
            SiteSource("https://mirror.example.org/pubmed/", cache)


def test_a_proxy_that_is_not_there(proxies: pytest.MonkeyPatch, cache: Path) -> None:
    proxies.setenv("HTTPS_PROXY", "ada:s3cret@127.0.0.1:1")
    with (
        SiteSource(NLM, cache, timeout_s=1, backoff_s=0) as source,
        pytest.raises(BioqaError, match=r"baseline/: the proxy: [^<>()]*refused[^()]*; gave up") as raised,
    ):
        source.listing()
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize("url", ["https://[::1/", "https://host:port/", "https://"])
def test_a_url_that_is_none(cache: Path, url: str) -> None:
    with (
        pytest.raises(BioqaError, match=r"not a URL|gave up|No host"),
        SiteSource(url, cache, backoff_s=0) as it,
    ):
        it.listing()


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
    assert site.asked_for(f"{names[0]}.md5") == [None]
    assert update(source, shelf, UpdateOptions(workers=1)).downloaded == ()
    site.requests.clear()
    assert update(source, shelf, UpdateOptions(workers=1)).downloaded == ()
    assert [name for name, _ in site.requests] == ["/pubmed/baseline/", "/pubmed/updatefiles/"]
    mirror.update(4, deletion(4))
    site.faults["pubmed25n0004.xml.gz"] = [garbled, breaks_off]
    daily = update(source, shelf, UpdateOptions(workers=1))
    assert (daily.passed, daily.downloaded) == (True, ("pubmed25n0004.xml.gz",))
    assert sorted(titles(where), key=int) == [str(n) for n in range(1, 21) if n not in (3, 4)]


def test_a_file_that_the_site_publishes_again_is_noticed_and_rebuilt(
    mirror: Mirror, site: Site, source: SiteSource, where: str
) -> None:
    shelf = FolderShelf(Path(where))
    update(source, shelf, UpdateOptions(workers=1))
    again = mirror.baseline(2, *citations(11, 20, "Other")).name
    site.time = "10:01"
    assert update(source, shelf, UpdateOptions(workers=1)).notes == (
        f"1 files differ from those that were loaded, {again} first; --rebuild loads them",
    )
    rebuilt = update(source, shelf, UpdateOptions(workers=1, rebuild=True))
    assert (rebuilt.passed, rebuilt.downloaded, rebuilt.notes) == (True, (again,), ())
    assert titles(where)["11"] == "Other 11."


def test_md5s_that_the_site_refuses_are_a_note_not_a_failure(
    site: Site, source: SiteSource, where: str
) -> None:
    shelf = FolderShelf(Path(where))
    update(source, shelf, UpdateOptions(workers=1))
    site.faults[f"{ONE}.md5"] = [status(403)]
    report = update(source, shelf, UpdateOptions(workers=1))
    assert report.passed
    assert "whether files were published again could not be checked: " in report.notes[0]
