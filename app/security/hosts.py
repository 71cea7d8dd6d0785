"""The names by which clients may call a server: other names are those of DNS rebinding.

A page of a site whose name suddenly resolves to this machine may read everything that a browser here may. Its
requests carry that site's name in their Host header, which is how they are told from others.
"""

import re
from collections.abc import Callable, Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from bioqa.app.http.errors import problem
from bioqa.system.errors import BioqaError
from bioqa.system.proxies import is_local

ANY = "*"
_NAME = re.compile(r"(\*\.)?[a-z0-9]([a-z0-9._-]*[a-z0-9])?|\*")


class HostsError(BioqaError):
    """A host name in the settings is not valid."""


class KnownHosts:
    """421 for a Host header with a name by which this server is not known."""

    def __init__(
        self,
        app: ASGIApp,
        allowed: Collection[str],
        only_here: bool,
        is_open: Callable[[str], bool],
        advice: str = "BIOQA_ALLOWED_HOSTS adds one",
    ) -> None:
        """``only_here``: nobody but this machine reaches the server. Names without a dot, such as those of
        containers, are allowed otherwise: they are not in the public DNS, so no site of the internet has one.
        ``advice``: how another name is allowed.
        """
        self.app = app
        self.allowed = allowed
        self.only_here = only_here
        self.is_open = is_open
        self.advice = advice

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self.is_open(scope["path"]):
            host = Headers(scope=scope).get("host")
            # None is no browser's: HTTP/1.0.
            if host is not None and not self._knows(host):
                detail = f"the Host header has no known name of this server; {self.advice}"
                return await problem(421, detail)(scope, receive, send)
        return await self.app(scope, receive, send)

    def _knows(self, host: str) -> bool:
        name = host_name(host)
        without_dot = bool(name) and "." not in name
        return is_allowed(host, self.allowed) or (without_dot and not self.only_here)


def parse_hosts(text: str) -> frozenset[str]:
    """Parse names separated by commas; ``*.example.org`` means all below it, ``*`` any. Raises HostsError."""
    names = frozenset(part.strip().lower() for part in text.split(",") if part.strip())
    for name in sorted(names):
        if not _NAME.fullmatch(name):
            raise HostsError(
                f"BIOQA_ALLOWED_HOSTS: {name!r} is not a host name; "
                "one is like bioqa.example.org, without scheme, port and path"
            )
    return names


def is_allowed(host: str, allowed: Collection[str]) -> bool:
    """Whether the Host header names this server: by an address, a name of this machine, or an allowed name.

    An address is safe, for there is no name in it that could have been made to resolve to this machine.
    """
    name = host_name(host)
    if ANY in allowed or name in allowed or is_local(name):
        return True
    if any(pattern.startswith("*.") and name.endswith(pattern[1:]) for pattern in allowed):
        return True
    return _is_address(name)


def host_name(host: str) -> str:
    """The name or address of a Host header or of an origin, without port; empty if there is none."""
    try:
        return (urlsplit(host if "://" in host else f"//{host}").hostname or "").removesuffix(".")
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
