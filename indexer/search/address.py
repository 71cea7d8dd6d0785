"""Where an index in Elasticsearch is, and with what credentials it is reached.

Apart from the connection itself: the client takes a second to import, which a command that needs none should
not wait for.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from bioqa.bioasq.errors import BioqaError

DEFAULT_NAME = "medline"
_DEFAULT_PORTS = {"http": 9200, "https": 443}
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,200}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Access:
    """Credentials and patience. Without API key and user the server is asked without any."""

    api_key: str = field(default="", repr=False)
    user: str = ""
    password: str = field(default="", repr=False)
    ca_file: Path | None = None
    """Certificates of the authorities that are trusted, PEM; else the system's."""
    timeout_s: float = 30.0
    """How long one request may take."""
    patience_s: float = 300.0
    """How long a loader goes on trying while the server is away or has too much to do."""


NO_CREDENTIALS = Access()


@dataclass(frozen=True, slots=True)
class IndexAddress:
    hosts: tuple[str, ...]
    """URLs with scheme, host and port."""
    name: str
    """An index, or an alias of one."""

    def __str__(self) -> str:
        return f"{','.join(self.hosts)}/{self.name}"


def is_url(where: str) -> bool:
    return where.startswith(("http://", "https://"))


def parse_address(url: str) -> IndexAddress:
    """Read ``http://host:9200/name``, or several hosts as ``http://a:9200,http://b:9200/name``.

    Without a name, ``medline`` is meant; without a port, 9200 for http and 443 for https. A path before the
    name is kept: a proxy may want it. Raises BioqaError, never showing a password that the URL holds.
    """
    *others, last = url.split(",")
    host, name = _host_and_name(last.strip())
    hosts = []
    for other in others:
        url_before, extra = _host_and_name(other.strip())
        if extra:
            raise BioqaError(f"the index's name stands after the last host only, not after {url_before}")
        hosts.append(url_before)
    name = name or DEFAULT_NAME
    if not _NAME.fullmatch(name):
        raise BioqaError(
            f"{name!r} cannot be an index's name: lower-case letters, digits and . _ - are possible"
        )
    return IndexAddress((*hosts, host), name)


def _host_and_name(url: str) -> tuple[str, str]:
    if "@" in url:
        raise BioqaError(
            "the index's URL holds a user or password, which logs would show; "
            "set BIOQA_ELASTIC_USER and BIOQA_ELASTIC_PASSWORD, or BIOQA_ELASTIC_API_KEY, instead"
        )
    try:
        parts = urlsplit(url)
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError as error:
        raise BioqaError(f"{url}: {error}") from error
    if port is None or not parts.hostname or parts.query or parts.fragment:
        raise BioqaError(f"{url} is not the URL of an index: http://host:9200/name is expected")
    prefix, _, name = parts.path.rpartition("/")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{port}{prefix}", name
