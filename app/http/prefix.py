"""A service under a path of a larger site: https://example.org/bioqa/, say, behind a proxy."""

import re
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bioqa.system.errors import BioqaError

_PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)+")


class PrefixError(BioqaError):
    """The path in the settings is not valid."""


def parse_prefix(text: str) -> str:
    """Check BIOQA_ROOT_PATH; a slash at its end is removed. Raises PrefixError."""
    prefix = text.rstrip("/")
    if prefix and not _PREFIX.fullmatch(prefix):
        raise PrefixError(f"BIOQA_ROOT_PATH: {text!r} is not a path such as /bioqa")
    return prefix


class UnderPrefix:
    """Takes the prefix off requests' paths, if the proxy has left it there, and puts it before redirections.

    Pages and JSON add it to their own links.
    """

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self.app = app
        self.prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        path, raw = scope["path"], scope.get("raw_path") or b""
        if f"{path}/".startswith(f"{self.prefix}/"):
            length = len(self.prefix)
            scope = {**scope, "path": path[length:] or "/", "raw_path": raw[length:] or b"/"}

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if location := headers.get("location"):
                    headers["Location"] = self._add_prefix(location)
            await send(message)

        return await self.app(scope, receive, sending)

    def _add_prefix(self, location: str) -> str:
        parts = urlsplit(location)
        return parts._replace(path=self.prefix + parts.path).geturl()
