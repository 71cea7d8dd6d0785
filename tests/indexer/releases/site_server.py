"""A small copy of NLM's site, which misbehaves when told to."""

import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

Fault = Callable[["Handler", bytes], None]
"""Answers instead of the site, given what the site would have sent."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: "Site"

    def do_GET(self) -> None:
        site, name = self.site, self.path.rpartition("/")[2]
        site.requests.append((name or self.path, self.headers.get("Range")))
        content = site.content(self.path)
        if site.faults[name]:
            site.faults[name].pop(0)(self, content or b"")
        elif content is None:
            self.answer(404, b"Not found")
        elif (match := re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))) is None:
            self.answer(200, content)
        elif (begin := int(match[1])) >= len(content):
            self.answer(416, b"")
        else:
            self.answer(206, content[begin:], f"bytes {begin}-{len(content) - 1}/{len(content)}")

    def answer(self, status: int, content: bytes, content_range: str = "", length: int | None = None) -> None:
        """Tell ``length`` if it shall be another than the content's; then the connection breaks off."""
        self.send_response(status)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        if content_range:
            self.send_header("Content-Range", content_range)
        self.end_headers()
        self.wfile.write(content)
        self.close_connection = length is not None

    def log_message(self, format: str, *args: object) -> None:
        """Not into the tests' output."""


class Site:
    def __init__(self, folder: Path) -> None:
        self.url = ""
        self.faults: dict[str, list[Fault]] = defaultdict(list)
        """By file name; "" stands for the pages of directories. Each is used once, in order."""
        self.requests: list[tuple[str, str | None]] = []
        """File name, or a directory's path, and Range."""
        self.time = "10:00"
        """Of all files, on the pages of directories."""
        self._folder = folder

    def content(self, path: str) -> bytes | None:
        found = self._folder / path.removeprefix("/pubmed/")
        if path.endswith("/") and found.is_dir():
            names = sorted(entry.name for entry in found.iterdir())
            links = "".join(f'<a href="{name}">{name}</a>  2025-01-01 {self.time}   20M\n' for name in names)
            page = f'<html><body><pre><a href="/pubmed/">Parent Directory</a>\n{links}</pre></body></html>'
            return page.encode()
        return found.read_bytes() if found.is_file() else None

    def asked_for(self, name: str) -> list[str | None]:
        """The ranges that a file was asked for in."""
        return [part for asked, part in self.requests if asked == name]


@contextmanager
def serve(folder: Path) -> Iterator[Site]:
    site = Site(folder)
    handler = type("SiteHandler", (Handler,), {"site": site})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        site.url = f"http://127.0.0.1:{server.server_port}/pubmed/"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield site
        server.shutdown()
        thread.join()


def status(code: int) -> Fault:
    return lambda handler, _: handler.answer(code, b"<html>no</html>")


def breaks_off(handler: Handler, content: bytes) -> None:
    """Half of it, and then nothing more."""
    handler.answer(200, content[: len(content) // 2], length=len(content))


def garbled(handler: Handler, content: bytes) -> None:
    handler.answer(200, bytes(len(content)))


def nothing(handler: Handler, _: bytes) -> None:
    """The connection closes without an answer."""
    handler.close_connection = True
