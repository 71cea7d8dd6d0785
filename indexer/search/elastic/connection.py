"""Connecting to Elasticsearch, and turning its errors into readable messages."""

import logging
import re
import struct
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from ssl import SSLContext, SSLError, create_default_context

from elastic_transport import ConnectionError as ConnectionFailed
from elastic_transport import ConnectionTimeout, TlsError, TransportError
from elasticsearch import (
    ApiError,
    AuthenticationException,
    AuthorizationException,
    Elasticsearch,
    UnsupportedProductError,
)

from bioqa.indexer.search.elastic.address import NO_CREDENTIALS, Access, IndexAddress
from bioqa.indexer.search.elastic.faults import (
    BLOCKED,
    MAJOR,
    MAX_REASON_LENGTH,
    OTHER_MAJOR,
    RETRIED_STATUS,
    describe_fault,
    error_type,
    fault_of,
    wrong_version,
)
from bioqa.indexer.search.elastic.hosts import Host, Hosts
from bioqa.system.errors import BioqaError
from bioqa.system.secret import Secret


class WrongServer(BioqaError):
    """The server is not an Elasticsearch of the right major version."""


def connect(address: IndexAddress, access: Access = NO_CREDENTIALS) -> Elasticsearch:
    """Connect, and check the server's version. Threads may share the client.

    Raises BioqaError if no host responds, if the credentials are refused, or if it is not Elasticsearch 9.
    """
    _quieten()
    client = Elasticsearch(
        list(address.hosts),
        api_key=access.api_key.reveal() if access.api_key else None,
        basic_auth=_basic(access) if access.user and not access.api_key else None,
        ssl_context=_tls(address, access),
        node_class=Host,
        node_pool_class=Hosts,
        request_timeout=access.timeout_s,
        max_retries=max(2, len(address.hosts)),
        retry_on_status=RETRIED_STATUS,
        retry_on_timeout=False,
    )
    try:
        with engine_errors(address):
            version = str(client.info()["version"]["number"])
        if version.split(".")[0] != str(MAJOR):
            raise WrongServer(wrong_version(address, f"Elasticsearch {version}"))
    except BaseException:
        client.close()
        raise
    return client


def _quieten() -> None:
    """Keep the client from logging each request, and each retry with a traceback, unless somebody wants it:
    ``hosts`` reports a host once, and what fails in the end is raised."""
    logger = logging.getLogger("elastic_transport")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.ERROR)


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


@contextmanager
def engine_errors(address: IndexAddress) -> Iterator[None]:
    """Convert the client's exceptions into BioqaError, and those of reading an answer of another shape, such
    as a proxy's page or a damaged document."""
    try:
        yield
    except UnsupportedProductError as error:
        raise WrongServer(
            wrong_version(address, "no Elasticsearch (its answers lack the product's header)")
        ) from error
    except (ApiError, TransportError) as error:
        wrong = isinstance(error, ApiError) and error_type(error) == OTHER_MAJOR
        raise (WrongServer if wrong else BioqaError)(describe(error, address)) from error
    except (LookupError, TypeError, AttributeError) as error:
        raise BioqaError(unreadable(address)) from error
    except (ValueError, struct.error):
        # Without the cause: a header's value, which may be a secret, is quoted in the client's ValueError.
        raise BioqaError(unreadable(address)) from None


def unreadable(address: IndexAddress) -> str:
    return (
        f"{', '.join(address.hosts)} sent an answer that is none of Elasticsearch's, or is damaged; check "
        "what stands between, such as a proxy or a login page"
    )


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
        case AuthorizationException() if error_type(error) != BLOCKED:
            return f"these credentials do not allow it at {hosts} (403): {_reason(error)}"
        case ApiError():
            return _describe_answer(error, address, hosts)
        case _:
            return f"Elasticsearch at {hosts} sent a response that cannot be read: {_short(error)}"


def _describe_answer(error: ApiError, address: IndexAddress, hosts: str) -> str:
    if fault := fault_of(error):
        return describe_fault(fault, error.status_code, address)
    return f"Elasticsearch at {hosts} refuses ({error.status_code}): {str(error.message)[:MAX_REASON_LENGTH]}"


def _reason(error: ApiError) -> str:
    inner = error.body.get("error") if isinstance(error.body, dict) else None
    return str(fault_of(error).get("reason") or inner or error.message)[:MAX_REASON_LENGTH]


def _short(error: Exception) -> str:
    """Shorten a message, without representations of connection objects and error numbers."""
    message = str(getattr(error, "message", error))
    noise = r"<[^<>]*>:? ?|\w+Connection\([^()]*\): |\[Errno -?\d+\] |^\w+\((?=')"
    return re.sub(noise, "", message)[:MAX_REASON_LENGTH]
