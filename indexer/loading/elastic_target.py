"""Loading files into Elasticsearch. The ledger is a second index, named after the first."""

import logging
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from elasticsearch import BadRequestError, ConflictError, Elasticsearch, NotFoundError

from bioqa.indexer.loading.ledger import LoadedFile
from bioqa.indexer.search.base import Applied
from bioqa.indexer.search.elastic.connection import engine_errors
from bioqa.indexer.search.elastic.faults import error_type, require_acknowledged, require_whole
from bioqa.indexer.search.elastic.index import ElasticIndex
from bioqa.indexer.search.records import EncodedEvent
from bioqa.system.errors import BioqaError

MAX_FILES = 100_000

COPIES_S = 7200.0
"""Limit for making the replicas. All of MEDLINE takes about half an hour at the server's usual rate."""

QUIET_CHECKS, PAUSE_S = 3, 0.5
"""After so many checks in which no copy was being made, none will be."""

log = logging.getLogger("bioqa")


def ledger_name(index: str) -> str:
    return f"{index}-files"


class ElasticTarget:
    """``LoadTarget`` for an index of Elasticsearch; closing it closes the index."""

    whole_files = True
    orders_itself = True

    def __init__(self, index: ElasticIndex) -> None:
        self.index = index
        self._ledger = ledger_name(index.name)
        self._applied = Applied()
        self._make_ledger()
        self._loaded = read_ledger(index)

    @property
    def joiner(self) -> str:
        return self.index.joiner

    @property
    def loaded(self) -> tuple[LoadedFile, ...]:
        return tuple(self._loaded)

    def write(self, events: Sequence[EncodedEvent], order: int) -> None:
        self._applied += self.index.write(events, order)

    def commit(self) -> Applied:
        applied, self._applied = self._applied + self.index.drain(), Applied()
        self.index.commit()
        return applied

    def rollback(self) -> None:
        self.index.discard_unsent()
        self._applied = Applied()

    def note(self, entry: LoadedFile) -> None:
        position = len(self._loaded)
        document = {"position": position, "entry": asdict(entry)}
        try:
            answer = self.index.with_retries(
                lambda client: client.create(
                    index=self._ledger, id=str(position), document=document, refresh=True
                )
            )
            with engine_errors(self.index.address):
                if answer["result"] != "created":
                    raise ValueError("the entry was not written")
        except BioqaError as error:
            if not isinstance(error.__cause__, ConflictError):
                raise
            # A request whose response was lost is repeated, and then conflicts with itself.
            if read_ledger(self.index)[position:] != [entry]:
                raise BioqaError(
                    f"the index {self.index.name} is being loaded by another process; "
                    "wait for it to end, or stop it"
                ) from error
        self._loaded.append(entry)

    def finish(self) -> None:
        replicas = int(self.index.notes.get("replicas", 0))
        answer = self.index.with_retries(
            lambda client: client.indices.put_settings(
                index=f"{self.index.name},{self._ledger}", settings={"number_of_replicas": replicas}
            )
        )
        with engine_errors(self.index.address):
            require_acknowledged(answer.body, self.index.address)
        if replicas:
            self._wait_for_copies()

    def _wait_for_copies(self) -> None:
        """Wait until the copies are made, so that a release that serves survives the end of a node. Not for
        those that no node can hold, such as a second copy on the only one."""
        end, quiet = time.monotonic() + COPIES_S, 0
        while time.monotonic() < end:
            health = self.index.with_retries(
                # 408 says that they are not made within that time.
                lambda client: client.options(ignore_status=408).cluster.health(
                    index=self.index.name, wait_for_no_initializing_shards=True, timeout="10s"
                )
            )
            with engine_errors(self.index.address):
                if health["status"] == "green":
                    return
                # Few are made at a time: between one and the next, none is under way for a moment.
                quiet = 0 if health["timed_out"] or health["delayed_unassigned_shards"] else quiet + 1
            if quiet > QUIET_CHECKS:
                return
            time.sleep(PAUSE_S)
        log.warning("the copies of %s are not complete after %.0f s", self.index.name, COPIES_S)

    def close(self) -> None:
        self.index.close()

    def _make_ledger(self) -> None:
        try:
            with engine_errors(self.index.address):
                self.index.client.indices.create(
                    index=self._ledger,
                    settings={
                        "number_of_shards": 1,
                        "number_of_replicas": 0,
                        "max_result_window": MAX_FILES,
                    },
                    mappings={
                        "dynamic": "strict",
                        "properties": {
                            "position": {"type": "integer"},
                            "entry": {"type": "object", "enabled": False},
                        },
                    },
                )
        except BioqaError as error:
            cause = error.__cause__
            if (
                not isinstance(cause, BadRequestError)
                or error_type(cause) != "resource_already_exists_exception"
            ):
                raise


def read_ledger(index: ElasticIndex) -> list[LoadedFile]:
    """Return the files that the index was loaded from, in the order of loading."""
    name = ledger_name(index.name)

    def read(client: Elasticsearch) -> Any:
        client.indices.refresh(index=name)
        return client.search(index=name, size=MAX_FILES, sort="position", allow_partial_search_results=False)

    try:
        answer = index.with_retries(read)
    except BioqaError as error:
        if isinstance(error.__cause__, NotFoundError):
            return []  # created, and nothing loaded yet
        raise
    with engine_errors(index.address):
        require_whole(answer, index.address)
        hits = answer["hits"]["hits"]
    try:
        return [LoadedFile(**hit["_source"]["entry"]) for hit in hits]
    except (KeyError, TypeError) as error:
        raise BioqaError(f"the index {name} is not a ledger of bioqa ({error})") from error
