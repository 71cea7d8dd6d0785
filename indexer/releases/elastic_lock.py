"""A lock in Elasticsearch: a document in an index of its own, since the server has no locks.

The holder renews the lock regularly. A lock that was not renewed for a while may be taken over, and so may
one whose holder was a process of this machine that has ended. Of a process of another machine, or of a
container that is gone, that cannot be known: its lock is watched for as long as several renewals take.
"""

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from elastic_transport import TransportError
from elasticsearch import ApiError, BadRequestError, ConflictError, Elasticsearch, NotFoundError

from bioqa.indexer.search.elastic.address import IndexAddress
from bioqa.indexer.search.elastic.connection import engine_errors
from bioqa.indexer.search.elastic.faults import error_type
from bioqa.system.errors import BioqaError

STALE_S = 600.0
"""Longer than the clocks of a lab's machines differ, and than a restart of the server takes."""

RENEW_S = 20.0

RENEWALS = 4
"""A lock that is not renewed for so many times the usual interval, while it is watched, has no holder."""

log = logging.getLogger("bioqa")

_ID = "update"

_Position = tuple[int, int]
"""Sequence number and primary term, which change with every write of a document."""

_UNSEEN: _Position = (0, 0)

_MAPPING = {
    "dynamic": "strict",
    "properties": {
        "owner": {"type": "keyword"},
        "process": {"type": "keyword"},
        "token": {"type": "keyword"},
        "at": {"type": "double"},
    },
}


class ElasticLock:
    """A lock on an address, held within ``with``."""

    def __init__(
        self, client: Elasticsearch, address: IndexAddress, stale_s: float = STALE_S, renew_s: float = RENEW_S
    ) -> None:
        self._client = client
        self._address = address
        self._index = f"{address.name}-lock"
        self._stale_s = stale_s
        self._renew_s = renew_s
        self._token = secrets.token_hex(8)
        self._ended = threading.Event()
        self._renewing = threading.Lock()
        self._lost = False
        self._seen = _UNSEEN
        self._thread = threading.Thread(target=self._keep_renewing, daemon=True)

    def __enter__(self) -> Self:
        with engine_errors(self._address):
            self._make_index()
            self._take()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        # If this fails, others will take the lock over: this process has ended, or it becomes stale.
        with suppress(ApiError, TransportError):
            self._client.delete(
                index=self._index, id=_ID, if_seq_no=self._seen[0], if_primary_term=self._seen[1]
            )

    def check(self) -> None:
        """Raise BioqaError if another process took the lock over, or if the server cannot be reached."""
        with engine_errors(self._address):
            self._renew()
        if self._lost:
            raise BioqaError(
                f"another process took the lock on {self._address}, because this one had not renewed it for "
                f"{self._stale_s:.0f} s; run it again to resume"
            )

    def _take(self) -> None:
        with suppress(ConflictError):
            self._seen = _position(
                self._client.create(index=self._index, id=_ID, document=self._document()).body
            )
            return
        try:
            held = self._client.get(index=self._index, id=_ID).body
            self._refuse_unless_ended(held)
            self._put(_position(held))
        except (ConflictError, NotFoundError) as error:
            raise BioqaError(
                f"another update of {self._address} began or ended just now; try again"
            ) from error

    def _refuse_unless_ended(self, held: Mapping[str, Any]) -> None:
        lock = held["_source"]
        age = time.time() - float(lock["at"])
        if lock["token"] == self._token:  # our own request, whose response was lost
            return
        ended = _has_ended(lock["process"])
        if age < self._stale_s and (self._is_renewed(held) if ended is None else not ended):
            raise BioqaError(
                f"another update of {self._address} is under way, by {lock['owner']}, which renewed its lock "
                f"{max(0.0, age):.0f} s ago; wait for it to end"
            )

    def _is_renewed(self, held: Mapping[str, Any]) -> bool:
        """Whether the lock is renewed, or let go, while it is watched."""
        owner, seconds = held["_source"]["owner"], RENEWALS * self._renew_s
        log.warning("waiting for up to %.0f s to see whether %s, which holds the lock, runs", seconds, owner)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(self._renew_s / 10)
            if _position(self._client.get(index=self._index, id=_ID).body) != _position(held):
                return True
        return False

    def _keep_renewing(self) -> None:
        while not self._ended.wait(self._renew_s) and not self._lost:
            # The server is unreachable, or something else answers; loading waits for it, too.
            with suppress(BioqaError), engine_errors(self._address):
                self._renew()

    def _renew(self) -> None:
        with self._renewing:
            if self._lost:
                return
            try:
                self._put(self._seen)
            except ConflictError:
                # Taken over by another process; or our own renewal, whose response was lost.
                held = self._client.options(ignore_status=404).get(index=self._index, id=_ID).body
                self._lost = not held.get("found") or held["_source"]["token"] != self._token
                if not self._lost:
                    self._seen = _position(held)

    def _put(self, over: _Position) -> None:
        """Write the lock, if it was not written since ``over``."""
        answer = self._client.index(
            index=self._index, id=_ID, document=self._document(), if_seq_no=over[0], if_primary_term=over[1]
        )
        self._seen = _position(answer.body)

    def _document(self) -> dict[str, Any]:
        owner = f"{socket.gethostname()}, process {os.getpid()}"
        return {"owner": owner, "process": _process(), "token": self._token, "at": time.time()}

    def _make_index(self) -> None:
        try:
            self._client.indices.create(
                index=self._index,
                settings={"number_of_shards": 1, "auto_expand_replicas": "0-1", "hidden": True},
                mappings=_MAPPING,
            )
        except BadRequestError as error:
            if error_type(error) != "resource_already_exists_exception":
                raise


def _position(answer: Mapping[str, Any]) -> _Position:
    return answer["_seq_no"], answer["_primary_term"]


def _process() -> str:
    """Return an identifier of this process: machine and boot, PID namespace, PID, start."""
    return f"{_pid_namespace()}/{os.getpid()}@{_start_time(os.getpid())}"


def _pid_namespace() -> str:
    """Return machine, boot and PID namespace; "" if unknown. PIDs can be compared only if these are equal."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def _has_ended(process: str) -> bool | None:
    """Whether the process has ended; None if it was in another PID namespace, so that nobody here knows."""
    namespace, _, numbers = process.rpartition("/")
    if not namespace or namespace != _pid_namespace():
        return None
    pid, _, started = numbers.partition("@")
    # Numbers are used again: of a namespace whose container is gone, too, with the same few PIDs in it.
    return _start_time(int(pid)) != started


def _start_time(pid: int) -> str:
    """When a process of this PID namespace started, in ticks since boot; "" if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""
