"""NLM's site as a source: files are downloaded into a cache folder, unless they are there as published now.

The cache has the same folders as the site, so it can be used as a source itself.
"""

import re
import shutil
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import unquote, urljoin, urlsplit

import urllib3
from lxml import etree, html
from urllib3.exceptions import HTTPError, ProxyError
from urllib3.response import BaseHTTPResponse

from bioqa.indexer.loading.ledger import md5_of
from bioqa.indexer.releases.known_md5s import KnownMd5s
from bioqa.indexer.releases.source import (
    DIRECTORIES,
    MAX_MD5_BYTES,
    BadFile,
    Directory,
    FetchedFile,
    PublishedFile,
    md5_path,
    medline_names,
    parse_md5,
)
from bioqa.system.errors import BioqaError
from bioqa.system.pauses import pause_after
from bioqa.system.proxies import SCHEMES, hide_secret, proxy_of
from bioqa.system.secret import Secret

NLM = "https://ftp.ncbi.nlm.nih.gov/pubmed/"

MAX_CONNECTIONS = 8
"""Maximum number of open connections."""

MAX_TRIES = 6
"""Consecutive failures allowed for a request, or for a download that gets no further than before."""

MAX_RESUMES = 100
"""Interruptions allowed for a download, even if each try gets a little further."""

MAX_WAIT_S = 60.0
"""Longest wait between tries, also if the site asks for a longer one."""

MAX_PAGE_BYTES = 16_000_000
"""NLM's directories have pages of less than a megabyte."""

MAX_FILE_BYTES = 2_000_000_000
"""NLM's files have less than 100 MB."""

CHUNK = 1 << 18
CHECKED_BYTES = 1 << 26
"""The free space is checked whenever a download has grown by so much."""

MIN_FREE_BYTES = 200_000_000
"""Space that a download must leave on the cache's disk."""

_TIME = re.compile(r"\d:\d\d")

_LOCAL = {"localhost", "127.0.0.1", "::1"}
_BUSY = (429, 500, 502, 503, 504)


class SiteSource:
    """``Source`` over HTTPS. Use it in ``with``; threads may fetch different files concurrently."""

    def __init__(self, url: str, cache: Path, *, timeout_s: float = 60.0, backoff_s: float = 1.0) -> None:
        """``timeout_s`` limits connecting and each read; ``backoff_s`` is the wait before the first retry,
        and doubles with each further one."""
        self.where = url.rstrip("/") + "/"
        self._cache = cache
        self._backoff_s = backoff_s
        self._pool = _pool(self.where, timeout_s, backoff_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.clear()

    def listing(self) -> tuple[PublishedFile, ...]:
        return tuple(file for directory in DIRECTORIES for file in self._list(directory))

    def _list(self, directory: Directory) -> list[PublishedFile]:
        url = urljoin(self.where, f"{directory}/")
        links = linked_files(self._get(url, MAX_PAGE_BYTES), url)
        return [_listed_file(name, directory, links) for name in medline_names(links)]

    def published_md5s(self, files: Sequence[PublishedFile]) -> dict[str, str]:
        """See ``Source``. Where the listing shows that nothing has changed, the site is not asked again."""
        with _using(self._cache):
            known = KnownMd5s(self._cache)
            unknown = [file for file in files if file.ready and known.md5(file) is None]
            with ThreadPoolExecutor(MAX_CONNECTIONS, thread_name_prefix="md5") as pool:
                for file, md5 in zip(unknown, pool.map(self._published_md5, unknown), strict=True):
                    known.add(file, md5)
            known.write()
            return {file.name: md5 for file in files if (md5 := known.md5(file)) is not None}

    def _published_md5(self, file: PublishedFile) -> str | None:
        with suppress(BadFile):  # it may be replaced at this moment
            return self._read_md5(file)[1]
        return None

    def _read_md5(self, file: PublishedFile) -> tuple[bytes, str]:
        url = urljoin(self.where, f"{file.directory}/{file.name}.md5")
        content = self._get(url, MAX_MD5_BYTES)
        return content, parse_md5(content, file.name, url)

    def fetch(self, file: PublishedFile) -> FetchedFile:
        path = self._cache / file.directory / file.name
        with _using(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
            return self._fetch(file, path)

    def _fetch(self, file: PublishedFile, path: Path) -> FetchedFile:
        """Use what the cache has if its MD5 is the one that the site gives now; else download the file."""
        url = urljoin(self.where, f"{file.directory}/{file.name}")
        part = path.with_name(path.name + ".part")
        downloaded = 0
        for attempt in range(2):
            sidecar, published = self._read_md5(file)
            if attempt == 0 and path.is_file() and md5_of(path) == published:
                if not _holds(md5_path(path), sidecar):
                    md5_path(path).write_bytes(sidecar)
                return FetchedFile(file, path, published, checked=True)
            if not part.is_file() or md5_of(part) != published:
                downloaded += self._download(url, part)
            actual = md5_of(part)
            if actual == published:
                md5_path(path).write_bytes(sidecar)
                part.replace(path)
                return FetchedFile(file, path, published, checked=True, downloaded_bytes=downloaded)
            part.unlink()
        raise BadFile(f"{url}: downloaded twice, its md5 is {actual}, and its .md5 says {published}")

    def _download(self, url: str, part: Path) -> int:
        """Resume the download into ``part`` until it is complete. Returns the number of bytes received."""
        received = failures = 0
        farthest = part.stat().st_size if part.is_file() else 0
        for _ in range(MAX_RESUMES):
            response = self._request_rest(url, part)
            try:
                with part.open("ab" if response.status == 206 else "wb") as stream:
                    for chunk in response.stream(CHUNK, decode_content=False):
                        received += stream.write(chunk)
                        _check_growth(url, part.parent, stream.tell(), len(chunk))
                return received
            except HTTPError as error:
                # Only what was never there before is progress: a site may send the same half each time.
                size = part.stat().st_size
                failures = failures + 1 if size <= farthest else 1
                farthest = max(farthest, size)
                self._wait_or_give_up(url, error, failures)
            except BadFile:
                part.unlink()
                raise
            finally:
                response.close()
        raise BioqaError(f"{url}: interrupted {MAX_RESUMES} times; run it again to resume")

    def _wait_or_give_up(self, url: str, error: HTTPError, failures: int) -> None:
        if failures >= MAX_TRIES:
            raise BioqaError(f"{url}: {_plain(error)}; gave up after {failures} tries") from error
        time.sleep(pause_after(failures, self._backoff_s, MAX_WAIT_S))

    def _request_rest(self, url: str, part: Path) -> BaseHTTPResponse:
        offset = part.stat().st_size if part.is_file() else 0
        response = self._request(url, {"Range": f"bytes={offset}-"} if offset else {})
        continued = response.headers.get("Content-Range", "").startswith(f"bytes {offset}-")
        if response.status == 416 or (response.status == 206 and not continued):
            # The local part is not the beginning of the file at the site: start again.
            response.close()
            part.unlink()
            response = self._request(url, {})
        try:
            _check_status(response, url, (200, 206))
            _check_space(part.parent, _length(response, url))
        except BioqaError:
            response.close()
            raise
        return response

    def _get(self, url: str, most: int) -> bytes:
        """Read a small file of up to ``most`` bytes."""
        failures = 0
        while True:
            response = self._request(url, {})
            try:
                _check_status(response, url, (200,))
                content = response.read(most + 1)
            except HTTPError as error:
                failures += 1
                self._wait_or_give_up(url, error, failures)
            else:
                if len(content) > most:
                    raise BadFile(f"{url}: has more than {most} bytes, so it is not what NLM publishes there")
                return content
            finally:
                response.close()

    def _request(self, url: str, headers: dict[str, str]) -> BaseHTTPResponse:
        try:
            return self._pool.request(
                "GET",
                url,
                headers={"Accept-Encoding": "identity", "User-Agent": "bioqa", **headers},
                preload_content=False,
                # A redirect might lead to a site without HTTPS.
                redirect=False,
            )
        except HTTPError as error:
            raise BioqaError(f"{url}: {_plain(error)}; gave up after {MAX_TRIES} tries") from error


def linked_files(page: bytes, url: str) -> dict[str, str]:
    """Return the names of files linked from a directory's page, each with the text behind its link: date and
    size on the pages of common servers. Raises BioqaError if it is not HTML."""
    try:
        links = html.document_fromstring(page).iter("a")
        texts = {urljoin(url, link.get("href", "")): " ".join((link.tail or "").split()) for link in links}
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise BioqaError(f"{url}: not the page of a directory: {error}") from error
    return {
        unquote(href.removeprefix(url)): text
        for href, text in texts.items()
        if href.startswith(url) and href != url
    }


def _listed_file(name: str, directory: Directory, links: Mapping[str, str]) -> PublishedFile:
    sidecar = links.get(f"{name}.md5")
    # Without a time, only the day or nothing is known: the file may have changed since.
    stamp = f"{links[name]}, {sidecar}" if sidecar and _TIME.search(sidecar) else ""
    return PublishedFile(name, directory, ready=sidecar is not None, stamp=stamp)


@contextmanager
def _using(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BioqaError(f"cannot use the cache {folder}: {error.strerror or error}") from error


def _holds(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content


class _Retry(urllib3.Retry):
    def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
        """The wait that the site asks for, up to ``MAX_WAIT_S``."""
        seconds = super().get_retry_after(response)
        return None if seconds is None else min(seconds, MAX_WAIT_S)


def _pool(url: str, timeout_s: float, backoff_s: float) -> urllib3.PoolManager:
    if "@" in url:
        raise BioqaError("the site's URL holds a user or password, which messages would show")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise BioqaError(f"{url}: not a URL: {error}") from error
    if parts.scheme != "https" and not (parts.scheme == "http" and host in _LOCAL):
        raise BioqaError(f"{url}: only https:// is supported; pass a folder as a path")
    timeout = urllib3.Timeout(connect=timeout_s, read=timeout_s)
    retries = _Retry(
        total=MAX_TRIES - 1, backoff_factor=backoff_s, backoff_max=MAX_WAIT_S, status_forcelist=_BUSY
    )
    proxy = proxy_of(url)
    if proxy is None:
        return urllib3.PoolManager(maxsize=MAX_CONNECTIONS, timeout=timeout, retries=retries)
    if urlsplit(proxy).scheme not in SCHEMES:
        raise BioqaError(
            f"{url} cannot be reached through the proxy {hide_secret(proxy)}: one of HTTP is needed "
            "(HTTPS_PROXY=http://host:3128); NO_PROXY names hosts that are asked directly"
        )
    address, credentials = _split(proxy)
    return urllib3.ProxyManager(
        address,
        proxy_headers=credentials,
        maxsize=MAX_CONNECTIONS,
        timeout=timeout,
        retries=retries,
    )


def _split(proxy: str) -> tuple[str, dict[str, str]]:
    """Return a proxy's URL without credentials, and the header with them, in UTF-8."""
    parts = urlsplit(proxy)
    address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    if not parts.username:
        return address, {}
    user = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
    return address, {"proxy-authorization": f"Basic {Secret(b64encode(user).decode()).reveal()}"}


def _check_status(response: BaseHTTPResponse, url: str, wanted: tuple[int, ...]) -> None:
    status = response.status
    if status in wanted:
        return
    if status == 404:
        raise BadFile(f"{url}: does not exist (404)")
    if 300 <= status < 400:
        raise BioqaError(f"{url}: redirects to {response.headers.get('Location')}; use that address")
    raise BioqaError(f"{url}: the site refuses ({status} {response.reason})")


def _check_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed + MIN_FREE_BYTES:
        raise BioqaError(
            f"the disk of the cache {folder} is almost full: {free / 1e6:.0f} MB free, and the next file "
            f"takes {needed / 1e6:.0f} MB; free some space and run it again"
        )


def _length(response: BaseHTTPResponse, url: str) -> int:
    """The length that the site announces; 0 if it does not. Raises BadFile if it is too large."""
    announced = response.headers.get("Content-Length", "")
    length = int(announced) if announced.isascii() and announced.isdigit() else 0
    if length > MAX_FILE_BYTES:
        raise BadFile(f"{url}: has {length / 1e6:.0f} MB, so it is not what NLM publishes there")
    return length


def _check_growth(url: str, folder: Path, size: int, added: int) -> None:
    """Check a download that may not have announced its length, every now and then."""
    if size > MAX_FILE_BYTES:
        raise BadFile(
            f"{url}: has more than {MAX_FILE_BYTES / 1e6:.0f} MB, so it is not what NLM publishes there"
        )
    if size // CHECKED_BYTES != (size - added) // CHECKED_BYTES:
        _check_space(folder, 0)


def _plain(error: Exception) -> str:
    """Shorten a message, without representations of connection objects."""
    reason = getattr(error, "reason", None) or error
    if isinstance(reason, ProxyError):
        return f"the proxy: {_plain(reason.original_error)}"
    return re.sub(r"<[^<>]*>: ?|^\w+\([^)]*\): ", "", str(reason))[:300]
