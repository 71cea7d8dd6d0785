"""Addresses of indices in Elasticsearch, and the credentials to reach them.

Separate from the connection, because the client takes a second to import, and most commands do not need it.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from bioqa.system.errors import BioqaError
from bioqa.system.home import expand_home
from bioqa.system.secret import Secret

DEFAULT_NAME = "medline"
_DEFAULT_PORTS = {"http": 9200, "https": 443}
_OTHER_URL = re.compile(
    r"[a-z][a-z0-9+.-]*:/|(?:[^\s/]*@)?(?:[\w.-]+|\[[0-9a-f:.]+\]):[0-9]+(?:/|$)", re.IGNORECASE
)
_SENT = re.compile(r"[!-~]+")
"""Characters that a request can contain."""
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,200}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Access:
    """Credentials and time-outs. Without API key and user, requests are not authenticated."""

    api_key: Secret | None = None
    user: str = ""
    password: Secret | None = None
    ca_file: Path | None = None
    """PEM file of trusted certificate authorities; None for those of the system."""
    timeout_s: float = 30.0
    """Time-out of a single request."""
    patience_s: float = 300.0
    """How long loading keeps retrying while the server is unreachable or overloaded."""


NO_CREDENTIALS = Access()


@dataclass(frozen=True, slots=True)
class IndexAddress:
    """The servers of a cluster, and an index there."""

    hosts: tuple[str, ...]
    """URLs with scheme, host and port."""
    name: str
    """Name of an index, or of an alias."""

    def __str__(self) -> str:
        return f"{','.join(self.hosts)}/{self.name}"


def is_url(where: str) -> bool:
    """Whether ``where`` is the URL of an index, and not a folder.

    Raises BioqaError for what is neither: a URL of another scheme, or ``host:port`` without one. A folder of
    such a name can be given with ``./`` before it."""
    if where.startswith(("http://", "https://")):
        return True
    if _OTHER_URL.match(where):
        shown = where.rpartition("@")[2]
        raise BioqaError(
            f"{shown} is neither a folder nor the URL of an index: http://host:9200/name or "
            "https://host/name is expected (in small letters), or a folder such as ./name"
        )
    return False


def folder_path(where: str) -> Path:
    """The folder that ``where`` names; ``~`` is the home folder."""
    return Path(expand_home(where))


def parse_address(url: str) -> IndexAddress:
    """Parse ``http://host:9200/name``, or several hosts as ``http://a:9200,http://b:9200/name``.

    The default name is ``medline``; the default port is 9200 for http and 443 for https. A path before the
    name is kept, as a reverse proxy may need it; slashes at the end are ignored. Raises BioqaError, whose
    message never contains a password.
    """
    *others, last = url.split(",")
    host, name = _host_and_name(last.strip())
    hosts = []
    for other in others:
        url_before, extra = _host_and_name(other.strip())
        if extra:
            raise BioqaError(f"the name of the index must follow the last host only, not {url_before}")
        hosts.append(url_before)
    name = name or DEFAULT_NAME
    if not _NAME.fullmatch(name):
        raise BioqaError(
            f"{name!r} cannot be the name of an index: it may have lower-case letters, digits and . _ -"
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
    if port is None or not parts.hostname or parts.query or parts.fragment or not _SENT.fullmatch(url):
        raise BioqaError(f"{url} is not the URL of an index: http://host:9200/name is expected")
    prefix, _, name = parts.path.rstrip("/").rpartition("/")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{port}{prefix}", name
