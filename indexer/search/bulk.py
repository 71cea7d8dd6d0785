"""Writing into Elasticsearch: requests of a few megabytes, several at once, tried again until they are in.

The client's own helpers retry neither a refused connection nor a time-out, and give up on a server that has
too much to do. Here each request, and each item of it, is tried until the server takes it, refuses it for
good, or has not made any progress for as long as the caller is patient.
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

from bioqa.bioasq.errors import BioqaError
from bioqa.indexer.search.address import IndexAddress
from bioqa.indexer.search.connection import (
    MAX_REASON_LENGTH,
    RETRIED_STATUS,
    describe,
    describe_fault,
    disk_full,
    is_disk_full,
)

REQUEST_BYTES = 4_000_000
SENDERS = 2
"""Requests under way at once: while the server works at one, the next is on its way."""

MIN_TIMEOUT_S = 120.0
"""A busy server may take its time over a request that it will still do."""

FIRST_WAIT_S, MAX_WAIT_S = 0.25, 15.0

_FILTER = (
    "items.*.status,items.*.result,items.*.error.type,items.*.error.reason,items.*.error.caused_by.reason"
)

log = logging.getLogger("bioqa")

Answered = TypeVar("Answered")

Fate = Literal["created", "updated", "conflict", "rejected"]


class Operation(NamedTuple):
    """A document to write under an external version."""

    pmid: int
    rank: int
    """The upper part of the external version; see ``bioqa.indexer.search.elastic``."""
    order: int
    version: int
    """The citation's PMID version; 0 for a tombstone."""
    source: bytes


class Outcome(NamedTuple):
    operation: Operation
    fate: Fate
    reason: str = ""


ORDER_BITS = 48


class Unfinished(Exception):
    """The server did part of what it was asked, and may do the rest when asked again."""


class BulkWriter:
    """Hands operations to the server. One thread may use it; ``drain`` before another goes on."""

    def __init__(
        self,
        client: Elasticsearch,
        address: IndexAddress,
        patience_s: float,
        senders: int = SENDERS,
        request_bytes: int = REQUEST_BYTES,
    ) -> None:
        # The tries are made here, at growing distances; the client would make them at once.
        self.client = client.options(max_retries=0, request_timeout=MIN_TIMEOUT_S)
        self._address = address
        self._request_bytes = request_bytes
        self._senders = senders
        self._threads: ThreadPoolExecutor | None = None
        self._waiting: list[Operation] = []
        self._waiting_bytes = 0
        self._sent: deque[Future[list[Outcome]]] = deque()
        self._outcomes: list[Outcome] = []
        self._patience = _Patience(patience_s)

    def put(self, operation: Operation) -> None:
        """May wait for earlier requests. Raises BioqaError if the server stays away or refuses altogether."""
        self._waiting.append(operation)
        self._waiting_bytes += len(operation.source)
        if self._waiting_bytes >= self._request_bytes:
            self._send()

    def drain(self) -> list[Outcome]:
        """What became of everything that was put since the last call."""
        self._send()
        while self._sent:
            self._outcomes += self._sent.popleft().result()
        outcomes, self._outcomes = self._outcomes, []
        return outcomes

    def forget(self) -> None:
        """Drop what was not sent, and let what was sent come to its end."""
        self._patience.stop()
        while self._sent:
            self._sent.popleft().exception()
        self._waiting, self._waiting_bytes, self._outcomes = [], 0, []
        self._patience = _Patience(self._patience.seconds)

    def close(self) -> None:
        self.forget()
        if self._threads is not None:
            self._threads.shutdown()
            self._threads = None

    def with_retries(self, ask: Callable[[], Answered]) -> Answered:
        """Ask, and ask again while the server is away or has too much to do.

        ``ask`` should use ``self.client``, which does not try again by itself."""
        tries = 0
        while True:
            try:
                answer = ask()
            except (ApiError, TransportError, Unfinished) as error:
                tries += 1
                self._wait_or_give_up(error, tries, self._patience)
            else:
                self._patience.progress()
                return answer

    def _send(self) -> None:
        if not self._waiting:
            return
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._senders, thread_name_prefix="bulk")
        while len(self._sent) > self._senders:
            self._outcomes += self._sent.popleft().result()
        operations, self._waiting, self._waiting_bytes = self._waiting, [], 0
        self._sent.append(self._threads.submit(self._deliver, operations, self._patience))

    def _deliver(self, operations: Sequence[Operation], patience: "_Patience") -> list[Outcome]:
        """Send until each has met its fate, in order of PMID's own operations."""
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
            again, reason = [], ""
            for operation, item in zip(remaining, items, strict=True):
                outcome = self._outcome(operation, item)
                if outcome is None:
                    again.append(operation)
                    reason = describe_fault(item["error"], item["status"], self._address)
                else:
                    done.append(outcome)
            if len(again) < len(remaining):
                patience.progress()
                tries = 0
            remaining = again
            if remaining:
                tries += 1
                patience.wait(tries, reason)
        return done

    def _request(self, operations: Sequence[Operation]) -> list[dict[str, Any]]:
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
        return [item["index"] for item in answer.body["items"]]

    def _in_halves(self, operations: Sequence[Operation], patience: "_Patience") -> list[Outcome]:
        if len(operations) == 1:
            size = len(operations[0].source)
            reason = f"{size} bytes are more than the server takes (its http.max_content_length)"
            return [Outcome(operations[0], "rejected", reason)]
        middle = len(operations) // 2
        return self._deliver(operations[:middle], patience) + self._deliver(operations[middle:], patience)

    def _outcome(self, operation: Operation, item: dict[str, Any]) -> Outcome | None:
        """None if it is worth another try."""
        status = item["status"]
        if status < 300:
            return Outcome(operation, "created" if item["result"] == "created" else "updated")
        error = item.get("error", {})
        kind, reason = error.get("type", ""), error.get("reason", "")
        if status == 409:
            return Outcome(operation, "conflict")
        if is_disk_full(kind, reason):
            raise BioqaError(f"{disk_full(self._address.name)} ({reason})")
        if kind == "index_not_found_exception":
            raise BioqaError(f"the index {self._address.name} is gone: it was deleted while being loaded")
        if status in RETRIED_STATUS:
            return None
        return Outcome(operation, "rejected", _reason(item))

    def _wait_or_give_up(
        self, error: ApiError | TransportError | Unfinished, tries: int, patience: "_Patience"
    ) -> None:
        if isinstance(error, Unfinished):
            patience.wait(tries, str(error))
            return
        words = describe(error, self._address)
        if not _worth_another_try(error) or words.startswith(disk_full(self._address.name)):
            raise BioqaError(words) from error
        patience.wait(tries, words)


class _Patience:
    """Shared by the senders: progress of one is progress of all."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._failing_since: float | None = None
        self._stopped = threading.Event()
        self._told = 0.0

    def progress(self) -> None:
        self._failing_since = None

    def stop(self) -> None:
        self._stopped.set()

    def wait(self, tries: int, reason: str) -> None:
        """Sleep before the next try; raises BioqaError if nothing has succeeded for too long.

        Time in which nothing was asked does not count: files may be fetched or parsed meanwhile.
        """
        now = time.monotonic()
        since = now if self._failing_since is None else self._failing_since
        self._failing_since = since
        idle = now - since
        if idle > self.seconds or self._stopped.is_set():
            raise BioqaError(f"gave up after {idle:.0f} s: {reason}; run it again to go on")
        if now - self._told > 10:
            self._told = now
            log.warning("%s; trying again for up to %.0f s", reason, self.seconds - idle)
        longest = min(MAX_WAIT_S, FIRST_WAIT_S * 2 ** min(tries - 1, 10))
        self._stopped.wait(longest * random.uniform(0.5, 1.0))  # noqa: S311 - spreads the senders' tries


def _worth_another_try(error: Exception) -> bool:
    if isinstance(error, ApiError):
        return error.status_code in RETRIED_STATUS
    return isinstance(error, ConnectionFailed | ConnectionTimeout) and not isinstance(error, TlsError)


def _too_large(error: Exception) -> bool:
    return isinstance(error, ApiError) and error.status_code == 413


def _reason(item: dict[str, Any]) -> str:
    error = item.get("error", {})
    cause = (error.get("caused_by") or {}).get("reason")
    parts = (error.get("type"), error.get("reason"), cause)
    return ": ".join(str(part)[:MAX_REASON_LENGTH] for part in parts if part)
