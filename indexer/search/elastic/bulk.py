"""Bulk writing into Elasticsearch: concurrent requests of a few megabytes, with retries.

The client's own helpers retry neither refused connections nor time-outs, and give up on an overloaded server.
Here each request, and each item of it, is retried until the server accepts or finally rejects it, or until
nothing has succeeded for the caller's patience.
"""

import logging
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Literal, NamedTuple, TypeVar

from elastic_transport import ConnectionError as ConnectionFailed
from elastic_transport import ConnectionTimeout, TlsError, TransportError
from elasticsearch import ApiError, Elasticsearch

from bioqa.indexer.search.elastic.address import IndexAddress
from bioqa.indexer.search.elastic.connection import describe, engine_errors
from bioqa.indexer.search.elastic.faults import (
    MAX_REASON_LENGTH,
    MISSING,
    describe_fault,
    fault_of,
    is_document_fault,
    is_passing,
)
from bioqa.system.errors import BioqaError
from bioqa.system.pauses import pause_after

REQUEST_BYTES = 4_000_000
SENDERS = 2
"""Concurrent requests: while the server processes one, the next is transferred."""

MIN_TIMEOUT_S = 120.0
"""An overloaded server may take long over a request, and still complete it."""

FIRST_WAIT_S, MAX_WAIT_S = 0.25, 15.0

_FILTER = (
    "items.*.status,items.*.result,items.*.error.type,items.*.error.reason,items.*.error.caused_by.reason"
)

log = logging.getLogger("bioqa")

Response = TypeVar("Response")

Result = Literal["created", "updated", "conflict", "rejected"]


class BulkOperation(NamedTuple):
    """A document to write under an external version."""

    pmid: int
    rank: int
    """The upper bits of the external version; see ``bioqa.indexer.search.elastic.index``."""
    order: int
    version: int
    """The citation's PMID version; 0 for a tombstone."""
    source: bytes


class Outcome(NamedTuple):
    operation: BulkOperation
    result: Result
    reason: str = ""


ORDER_BITS = 48
"""Lower bits of the external version: the position of the event among all events."""


class Unfinished(Exception):
    """The server did only part of a request; a retry may complete it."""


class BulkWriter:
    """Sends operations to the server. For one thread at a time: ``drain`` before another one uses it."""

    def __init__(
        self,
        client: Elasticsearch,
        address: IndexAddress,
        patience_s: float,
        senders: int = SENDERS,
        request_bytes: int = REQUEST_BYTES,
    ) -> None:
        # Retries are made here, with back-off; the client would make them immediately.
        self.client = client.options(max_retries=0, request_timeout=MIN_TIMEOUT_S)
        self._address = address
        self._request_bytes = request_bytes
        self._senders = senders
        self._threads: ThreadPoolExecutor | None = None
        self._waiting: list[BulkOperation] = []
        self._waiting_bytes = 0
        self._sent: deque[Future[list[Outcome]]] = deque()
        self._outcomes: list[Outcome] = []
        self._patience = _Patience(patience_s)

    def put(self, operation: BulkOperation) -> None:
        """Queue an operation; blocks while too many requests are under way.

        Raises BioqaError if the server stays unreachable or refuses a request.
        """
        self._waiting.append(operation)
        self._waiting_bytes += len(operation.source)
        if self._waiting_bytes >= self._request_bytes:
            self._send()

    def drain(self) -> list[Outcome]:
        """Wait until everything queued is processed. Returns the outcomes since the last call."""
        self._send()
        while self._sent:
            self._outcomes += self._sent.popleft().result()
        outcomes, self._outcomes = self._outcomes, []
        return outcomes

    def discard_unsent(self) -> None:
        """Discard operations that were not sent, and wait for the requests under way."""
        self._patience.stop()
        while self._sent:
            self._sent.popleft().exception()
        self._waiting, self._waiting_bytes, self._outcomes = [], 0, []
        self._patience = _Patience(self._patience.seconds)

    def close(self) -> None:
        self.discard_unsent()
        if self._threads is not None:
            self._threads.shutdown()
            self._threads = None

    def with_retries(self, request: Callable[[], Response]) -> Response:
        """Make a request, and retry while the server is unreachable or overloaded.

        ``request`` should use ``self.client``, which does not retry by itself."""
        tries = 0
        while True:
            try:
                response = request()
            except (ApiError, TransportError, Unfinished) as error:
                tries += 1
                self._wait_or_give_up(error, tries, self._patience)
            else:
                self._patience.progress()
                return response

    def _send(self) -> None:
        if not self._waiting:
            return
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._senders, thread_name_prefix="bulk")
        while len(self._sent) > self._senders:
            self._outcomes += self._sent.popleft().result()
        operations, self._waiting, self._waiting_bytes = self._waiting, [], 0
        self._sent.append(self._threads.submit(self._deliver, operations, self._patience))

    def _deliver(self, operations: Sequence[BulkOperation], patience: "_Patience") -> list[Outcome]:
        """Send operations, and retry until each has an outcome; those of one PMID keep their order."""
        done: list[Outcome] = []
        remaining = list(operations)
        tries = 0
        while remaining:
            try:
                items = self._request(remaining)
            except (ApiError, TransportError) as error:
                if _too_large(error):
                    done += self._in_halves(remaining, patience)
                    return done
                tries += 1
                self._wait_or_give_up(error, tries, patience)
                continue
            unfinished, reason = [], ""
            for operation, item in zip(remaining, items, strict=True):
                outcome = self._outcome(operation, item)
                if outcome is None:
                    unfinished.append(operation)
                    reason = describe_fault(item["error"], item["status"], self._address)
                else:
                    done.append(outcome)
            if len(unfinished) < len(remaining):
                patience.progress()
                tries = 0
            remaining = unfinished
            if remaining:
                tries += 1
                patience.wait(tries, reason)
        return done

    def _request(self, operations: Sequence[BulkOperation]) -> list[dict[str, Any]]:
        lines: list[bytes] = []
        for operation in operations:
            version = (operation.rank << ORDER_BITS) | operation.order
            lines.append(
                b'{"index":{"_id":"%d","version":%d,"version_type":"external_gte"}}'
                % (operation.pmid, version)
            )
            lines.append(operation.source)
        lines.append(b"")
        answer = self.client.perform_request(
            "POST",
            f"/{self._address.name}/_bulk?filter_path={_FILTER}",
            headers={
                "accept": "application/vnd.elasticsearch+json; compatible-with=9",
                "content-type": "application/vnd.elasticsearch+x-ndjson; compatible-with=9",
            },
            body=b"\n".join(lines),
        )
        with engine_errors(self._address):
            items = [item["index"] for item in answer.body["items"]]
            if len(items) != len(operations) or not all(_is_readable(item) for item in items):
                raise ValueError("not one answer for each operation")
        return items

    def _in_halves(self, operations: Sequence[BulkOperation], patience: "_Patience") -> list[Outcome]:
        if len(operations) == 1:
            size = len(operations[0].source)
            reason = f"{size} bytes are more than the server accepts (its http.max_content_length)"
            return [Outcome(operations[0], "rejected", reason)]
        middle = len(operations) // 2
        return self._deliver(operations[:middle], patience) + self._deliver(operations[middle:], patience)

    def _outcome(self, operation: BulkOperation, item: dict[str, Any]) -> Outcome | None:
        """Outcome of an operation; None if it should be retried."""
        status = item["status"]
        if status < 300:
            return Outcome(operation, "created" if item["result"] == "created" else "updated")
        fault = item["error"]
        if status == 409:
            return Outcome(operation, "conflict")
        if is_passing(fault, status):
            return None
        if is_document_fault(fault, status):
            return Outcome(operation, "rejected", _reason(item))
        if fault.get("type") == MISSING:
            raise BioqaError(
                f"the index {self._address.name} was deleted while files were being loaded into it"
            )
        # The fault of the index, the cluster or the credentials, and of no document.
        raise BioqaError(describe_fault(fault, status, self._address))

    def _wait_or_give_up(
        self, error: ApiError | TransportError | Unfinished, tries: int, patience: "_Patience"
    ) -> None:
        if isinstance(error, Unfinished):
            patience.wait(tries, str(error))
            return
        reason = describe(error, self._address)
        if not _is_transient(error):
            raise BioqaError(reason) from error
        patience.wait(tries, reason)


class _Patience:
    """Limits the time without progress. Shared by the senders: the progress of one counts for all."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._failing_since: float | None = None
        self._stopped = threading.Event()
        self._warned_at = 0.0

    def progress(self) -> None:
        self._failing_since = None

    def stop(self) -> None:
        self._stopped.set()

    def wait(self, tries: int, reason: str) -> None:
        """Sleep before the next try; raises BioqaError if nothing has succeeded for too long.

        The time counts from the first failure, not from the last success: between requests, files may be
        downloaded or parsed for long.
        """
        now = time.monotonic()
        since = now if self._failing_since is None else self._failing_since
        self._failing_since = since
        idle = now - since
        if idle > self.seconds or self._stopped.is_set():
            raise BioqaError(f"gave up after {idle:.0f} s: {reason}; run it again to resume")
        if now - self._warned_at > 10:
            self._warned_at = now
            log.warning("%s; retrying for up to %.0f s", reason, self.seconds - idle)
        longest = pause_after(tries, FIRST_WAIT_S, MAX_WAIT_S)
        self._stopped.wait(longest * random.uniform(0.5, 1.0))  # noqa: S311 - spreads the senders' retries


def _is_transient(error: Exception) -> bool:
    if isinstance(error, ApiError):
        return is_passing(fault_of(error), error.status_code)
    return isinstance(error, ConnectionFailed | ConnectionTimeout) and not isinstance(error, TlsError)


def _is_readable(item: dict[str, Any]) -> bool:
    if item["status"] < 300:
        return isinstance(item["result"], str)
    return isinstance(item["error"], dict)


def _too_large(error: Exception) -> bool:
    return isinstance(error, ApiError) and error.status_code == 413


def _reason(item: dict[str, Any]) -> str:
    error = item.get("error", {})
    cause = (error.get("caused_by") or {}).get("reason")
    parts = (error.get("type"), error.get("reason"), cause)
    return ": ".join(str(part)[:MAX_REASON_LENGTH] for part in parts if part)
