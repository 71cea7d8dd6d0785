"""Connecting to Elasticsearch, and turning its errors into readable messages."""

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ssl import SSLContext, SSLError, create_default_context
from typing import Any

from elastic_transport import ConnectionError as ConnectionFailed
from elastic_transport import ConnectionTimeout, TlsError, TransportError
from elasticsearch import (
    ApiError,
    AuthenticationException,
    AuthorizationException,
    Elasticsearch,
    UnsupportedProductError,
)

from bioqa.bioasq.errors import BioqaError
from bioqa.bioasq.secret import Secret
from bioqa.indexer.search.address import NO_CREDENTIALS, Access, IndexAddress

MAJOR = 9
"""Major version of the client, and so of the server."""

RETRIED_STATUS = (429, 502, 503, 504)
"""Status codes, of the server or of a proxy in front of it, after which a retry may succeed."""

MAX_REASON_LENGTH = 300
"""Limit on quotations from error messages, which may include a whole document."""

OTHER_MAJOR = "media_type_header_exception"
"""Error type of a server whose major version differs from the client's."""


class WrongServer(BioqaError):
    """The server is not an Elasticsearch of the right major version."""


def connect(address: IndexAddress, access: Access = NO_CREDENTIALS) -> Elasticsearch:
    """Connect, and check the server's version. Threads may share the client.

    Raises BioqaError if no host responds, if the credentials are refused, or if it is not Elasticsearch 9.
    """
    client = Elasticsearch(
        list(address.hosts),
        api_key=access.api_key.reveal() if access.api_key else None,
        basic_auth=_basic(access) if access.user and not access.api_key else None,
        ssl_context=_tls(address, access),
        request_timeout=access.timeout_s,
        max_retries=max(2, len(address.hosts)),
        retry_on_status=RETRIED_STATUS,
        retry_on_timeout=False,
    )
    try:
        with engine_errors(address):
            version = str(client.info()["version"]["number"])
        if version.split(".")[0] != str(MAJOR):
            raise WrongServer(_wrong_version(address, f"Elasticsearch {version}"))
    except BaseException:
        client.close()
        raise
    return client


def _basic(access: Access) -> str:
    """User and password for the header: given both, the client would encode them as ASCII."""
    password = access.password.reveal() if access.password else ""
    encoded = b64encode(f"{access.user}:{password}".encode()).decode()
    return Secret(encoded).reveal()  # a secret too, that messages must not show


def _tls(address: IndexAddress, access: Access) -> SSLContext | None:
    if not any(host.startswith("https:") for host in address.hosts):
        return None
    if access.ca_file is None:
        return create_default_context()
    try:
        return create_default_context(cafile=str(access.ca_file))
    except (OSError, SSLError) as error:
        raise BioqaError(f"cannot use the certificates in {access.ca_file}: {_short(error)}") from error


def _wrong_version(address: IndexAddress, what: str) -> str:
    return f"{address.hosts[0]} is {what}; this bioqa needs Elasticsearch {MAJOR} (the major version decides)"


@contextmanager
def engine_errors(address: IndexAddress) -> Iterator[None]:
    """Convert the client's exceptions into BioqaError."""
    try:
        yield
    except UnsupportedProductError as error:
        raise WrongServer(
            _wrong_version(address, "no Elasticsearch (its answers lack the product's header)")
        ) from error
    except (ApiError, TransportError) as error:
        wrong = isinstance(error, ApiError) and error_type(error) == OTHER_MAJOR
        raise (WrongServer if wrong else BioqaError)(describe(error, address)) from error


def describe(error: ApiError | TransportError, address: IndexAddress) -> str:
    """Describe an error, and what to do about it."""
    hosts = ", ".join(address.hosts)
    match error:
        case ConnectionTimeout():
            return f"Elasticsearch at {hosts} did not answer in time"
        case TlsError():
            return f"no trusted TLS connection to {hosts}: {_short(error)}; BIOQA_ELASTIC_CA_FILE names a CA"
        case ConnectionFailed():
            return f"Elasticsearch at {hosts} cannot be reached: {_short(error)}"
        case AuthenticationException():
            return (
                f"Elasticsearch at {hosts} refuses the credentials (401): "
                "check BIOQA_ELASTIC_API_KEY, or BIOQA_ELASTIC_USER and BIOQA_ELASTIC_PASSWORD"
            )
        case AuthorizationException() if "cluster_block" not in error_type(error):
            return f"these credentials do not allow it at {hosts} (403): {_reason(error)}"
        case ApiError():
            return _describe_answer(error, address, hosts)
        case _:
            return f"Elasticsearch at {hosts} sent a response that cannot be read: {_short(error)}"


def _describe_answer(error: ApiError, address: IndexAddress, hosts: str) -> str:
    if isinstance(error.body, dict) and isinstance(error.body.get("error"), dict):
        return describe_fault(error.body["error"], error.status_code, address)
    return f"Elasticsearch at {hosts} refuses ({error.status_code}): {str(error.message)[:MAX_REASON_LENGTH]}"


def describe_fault(fault: Mapping[str, Any], status: int, address: IndexAddress) -> str:
    """Describe an error object from a response of the server."""
    kind, hosts = str(fault.get("type", "")), ", ".join(address.hosts)
    causes = fault.get("root_cause") or [fault]
    # Cut at the first brace: internal objects of the server follow.
    reason = str(causes[0].get("reason") or fault.get("reason")).split("{")[0][:MAX_REASON_LENGTH]
    if kind == OTHER_MAJOR:
        return _wrong_version(
            address, "an Elasticsearch of another major version (it refuses this client's requests)"
        )
    if kind == "index_not_found_exception":
        return f"no index {address.name} at {hosts}"
    if is_disk_full(kind, reason):
        return f"{disk_full(address.name)} ({reason})"
    if status == 503 and kind in ("search_phase_execution_exception", "no_shard_available_action_exception"):
        return (
            f"shards of the index {address.name} at {hosts} are not available (the cluster is red): {reason}"
        )
    if status == 503 and kind in ("master_not_discovered_exception", "cluster_block_exception"):
        return f"the Elasticsearch cluster at {hosts} has no master or has not recovered yet: {reason}"
    if status == 429:
        return f"Elasticsearch at {hosts} is overloaded (429): {reason}"
    return f"Elasticsearch at {hosts} refuses ({status}, {kind}): {reason}"


def is_disk_full(kind: str, reason: str) -> bool:
    return kind == "cluster_block_exception" and ("flood" in reason or "read-only" in reason)


def disk_full(name: str) -> str:
    return (
        f"Elasticsearch takes no writes into {name}: its disk is almost full; free some space (the block is "
        "then removed automatically) and run this again to resume"
    )


def error_type(error: ApiError) -> str:
    inner = error.body.get("error") if isinstance(error.body, dict) else None
    return str(inner.get("type", "")) if isinstance(inner, dict) else ""


def _reason(error: ApiError) -> str:
    inner = error.body.get("error") if isinstance(error.body, dict) else None
    return str(inner.get("reason") if isinstance(inner, dict) else inner or error.message)


def _short(error: Exception) -> str:
    """Shorten a message, without representations of connection objects and error numbers."""
    message = str(getattr(error, "message", error))
    noise = r"<[^<>]*>:? ?|\w+Connection\([^()]*\): |\[Errno -?\d+\] |^\w+\((?=')"
    return re.sub(noise, "", message)[:MAX_REASON_LENGTH]
