"""Elasticsearch: the index for all of MEDLINE.

Every document is written under an external version, PMID version << 48 | order, where order is the place of
the event among all events (``loading.ledger.order``). So the server itself refuses what is older than what
it has: files can be replayed, applied out of order and sent by several requests at once. A deletion leaves a
tombstone, a document without text under the highest version there is, so that a revision that comes late
stays deleted. Where the server refuses, the document there is looked at: tombstones, and PMID versions that
go down after a deletion, need the order alone.

With several shards, words are counted over all of them (dfs_query_then_fetch), so that the number of shards
changes no score.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple, Self

from elasticsearch import BadRequestError, Elasticsearch

from bioqa.bioasq.domain import Candidate, Document
from bioqa.bioasq.errors import BioqaError
from bioqa.indexer.medline.events import Delete, Event
from bioqa.indexer.search.address import IndexAddress
from bioqa.indexer.search.base import Applied, IndexStats, Rejection
from bioqa.indexer.search.bulk import ORDER_BITS, Answered, BulkWriter, Operation, Outcome, Unfinished
from bioqa.indexer.search.connection import describe_fault, engine_errors, error_type
from bioqa.indexer.search.mapping import (
    DEFAULT_SHAPE,
    FORMAT,
    Shape,
    from_source,
    index_body,
    source,
    tombstone,
)
from bioqa.indexer.search.query import clean, preference, request
from bioqa.indexer.search.records import PMID, EncodedEvent, Record, encode, pmid_number

PMIDS_PER_REQUEST = 1000
"""How many documents one request looks up."""

QUESTIONS_PER_REQUEST = 32
"""How many questions one request asks."""

RANK_OF_TOMBSTONES = 4095


class ElasticIndex:
    """``SearchIndex`` over one index of a server. Threads may search at once; one at a time may write."""

    def __init__(
        self, client: Elasticsearch, address: IndexAddress, found: Mapping[str, Any], patience_s: float
    ) -> None:
        """``found``: what the server says of the indices that go by the name."""
        self.client = client
        self.address = address
        self._describe(found)
        # Written by its own name: an alias may move.
        self._writer = BulkWriter(client, IndexAddress(address.hosts, self.name), patience_s)
        self._next_order: int | None = None

    @classmethod
    def create(
        cls,
        client: Elasticsearch,
        address: IndexAddress,
        joiner: str = "",
        shape: Shape = DEFAULT_SHAPE,
        patience_s: float = 300.0,
    ) -> Self:
        """The index of that name, made if it is not there yet.

        Raises ``BioqaError`` if there is one with another joiner, or one that is not bioqa's.
        """
        notes = {"format": FORMAT, "joiner": joiner, "replicas": shape.replicas}
        with engine_errors(address):
            try:
                client.indices.create(index=address.name, **index_body(shape, notes))
            except BadRequestError as error:
                if error_type(error) not in (
                    "resource_already_exists_exception",
                    "invalid_index_name_exception",
                ):
                    raise
                # The second: an alias goes by this name.
        index = cls.open(client, address, patience_s)
        if index.joiner != joiner:
            raise BioqaError(
                f"the index {index.name} joins abstract parts with {index.joiner!r}, not {joiner!r}; "
                "make another index, or leave the joiner as it is"
            )
        return index

    @classmethod
    def open(cls, client: Elasticsearch, address: IndexAddress, patience_s: float = 300.0) -> Self:
        """The index of that name, or behind that alias. Raises ``BioqaError`` if it cannot be read."""
        with engine_errors(address):
            found = client.indices.get(index=address.name).body
        return cls(client, address, found, patience_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._writer.close()
        self.client.close()

    # What the index says of itself

    def _describe(self, found: Mapping[str, Any]) -> None:
        if len(found) != 1:
            raise BioqaError(
                f"{self.address.name} stands for {len(found)} indices, not one: "
                + (", ".join(sorted(found)) or "none")
            )
        ((name, described),) = found.items()
        notes = described["mappings"].get("_meta", {}).get("bioqa")
        if not isinstance(notes, dict):
            raise BioqaError(f"the index {name} at {self.address.hosts[0]} was not made by bioqa")
        if notes.get("format") != FORMAT:
            raise BioqaError(
                f"the index {name} has format {notes.get('format')!r}, "
                f"and this bioqa reads format {FORMAT}: load the files into a new index"
            )
        self.name = name
        self.joiner = str(notes["joiner"])
        self.notes: Mapping[str, Any] = notes
        settings = described["settings"]["index"]
        self._uuid = settings["uuid"]
        # One shard's counts are everybody's.
        several = int(settings["number_of_shards"]) > 1
        self._search_type = "dfs_query_then_fetch" if several else "query_then_fetch"

    def annotate(self, **notes: Any) -> None:
        """Keep notes with the index, such as its release."""
        merged = {**self._reread().notes, **notes}
        with engine_errors(self.address):
            self.client.indices.put_mapping(index=self.name, meta={"bioqa": merged})
        self.notes = merged

    def _reread(self) -> "ElasticIndex":
        return ElasticIndex.open(self.client, IndexAddress(self.address.hosts, self.name))

    def _seen(self, name: str) -> None:
        """An answer came from this index: another than before if the alias was moved."""
        if name != self.name:
            with engine_errors(self.address):
                self._describe(self.client.indices.get(index=name).body)

    # Reading

    def search(self, question: str, size: int = 100, published_before: date | None = None) -> list[Candidate]:
        if size < 1 or not (text := clean(question)):
            return []
        with engine_errors(self.address):
            answer = self.client.search(
                index=self.address.name,
                search_type=self._search_type,
                preference=preference(text),
                allow_partial_search_results=False,
                **request(text, size, published_before),
            )
        return self._candidates(answer.body)

    def search_many(
        self, questions: Sequence[str], size: int = 100, published_before: date | None = None
    ) -> list[list[Candidate]]:
        texts = [clean(question) if size >= 1 else "" for question in questions]
        found: dict[str, list[Candidate]] = {"": []}
        wanted = list(dict.fromkeys(text for text in texts if text))
        for begin in range(0, len(wanted), QUESTIONS_PER_REQUEST):
            some = wanted[begin : begin + QUESTIONS_PER_REQUEST]
            found |= zip(some, self._msearch(some, size, published_before), strict=True)
        return [list(found[text]) for text in texts]

    def _msearch(
        self, texts: Sequence[str], size: int, published_before: date | None
    ) -> list[list[Candidate]]:
        searches: list[dict[str, Any]] = []
        for text in texts:
            searches.append({"preference": preference(text), "allow_partial_search_results": False})
            searches.append(request(text, size, published_before))
        with engine_errors(self.address):
            answers = self.client.msearch(
                index=self.address.name, search_type=self._search_type, searches=searches
            ).body["responses"]
        for answer in answers:
            if answer["status"] >= 300:
                raise BioqaError(describe_fault(answer["error"], answer["status"], self.address))
        return [self._candidates(answer) for answer in answers]

    def _candidates(self, answer: Mapping[str, Any]) -> list[Candidate]:
        hits = answer["hits"]["hits"]
        if hits:
            self._seen(hits[0]["_index"])
        return [Candidate(from_source(hit["_source"]), hit["_score"]) for hit in hits]

    def get(self, pmids: Sequence[str]) -> Mapping[str, Document]:
        wanted = [pmid for pmid in dict.fromkeys(pmids) if PMID.fullmatch(pmid)]
        found = {}
        for begin in range(0, len(wanted), PMIDS_PER_REQUEST):
            with engine_errors(self.address):
                # Not in real time: that would show what is not committed yet.
                answer = self.client.mget(
                    index=self.address.name, ids=wanted[begin : begin + PMIDS_PER_REQUEST], realtime=False
                )
            for hit in _found(answer["docs"], self.address):
                if hit.get("found") and not hit["_source"].get("deleted"):
                    found[hit["_id"]] = from_source(hit["_source"])
        return found

    def stats(self) -> IndexStats:
        with engine_errors(self.address):
            answer = self.client.search(
                index=self.address.name,
                size=0,
                track_total_hits=True,
                allow_partial_search_results=False,
                query={"exists": {"field": "has_title"}},
                aggs={field: {"filter": {"term": {field: False}}} for field in ("has_title", "has_abstract")},
            )
            name = self.address.name
            size = self.client.indices.stats(index=name, metric="store")["_all"]["primaries"]["store"]
            (current,) = self.client.indices.get_alias(index=name).body
        self._seen(current)
        without = answer["aggregations"]
        return IndexStats(
            name=self.name,
            documents=answer["hits"]["total"]["value"],
            size_bytes=size["size_in_bytes"],
            without_title=without["has_title"]["doc_count"],
            without_abstract=without["has_abstract"]["doc_count"],
            joiner=self.joiner,
        )

    # Writing

    def apply(self, events: Iterable[Event]) -> Applied:
        if self._next_order is None:
            self._next_order = 1 + self._highest_order()
        changes = [pmid_number(e.pmid) if isinstance(e, Delete) else encode(e.document) for e in events]
        applied = self.write(changes, self._next_order) + self.drain()
        self._next_order += len(changes)
        return applied

    def write(self, changes: Sequence[EncodedEvent], order: int) -> Applied:
        """Send changes; the first one's place among all events is ``order``. What becomes of upserts is
        known to ``drain``; deletions wait for all that was sent before."""
        applied = Applied()
        deletions: dict[int, int] = {}
        for place, change in enumerate(changes, order):
            if isinstance(change, Record):
                if deletions:
                    applied += self._delete(deletions)
                    deletions = {}
                self._writer.put(_upsert(change, place))
            elif change in deletions:
                applied += Applied(stale=1)
            else:
                deletions[change] = place
        return applied + self._delete(deletions) if deletions else applied

    def drain(self) -> Applied:
        """Wait until the server has everything; what became of it."""
        applied = Applied()
        outcomes = self._writer.drain()
        upserted = 0
        rejected: list[Rejection] = []
        while outcomes:
            conflicts = []
            for outcome in outcomes:
                match outcome.fate:
                    case "created" | "updated":
                        upserted += 1
                    case "rejected":
                        rejected.append(_rejection(outcome))
                    case "conflict":
                        conflicts.append(outcome.operation)
            applied += self._resolve(conflicts)
            outcomes = self._writer.drain()
        return applied + Applied(upserted=upserted, rejected=tuple(rejected))

    def commit(self) -> None:
        """Make what was written visible. It is durable since the server acknowledged it."""
        name = self.name
        settings = self.with_retries(lambda client: client.indices.get_settings(index=name)).body
        if settings[name]["settings"]["index"]["uuid"] != self._uuid:
            raise BioqaError(f"the index {name} was deleted and made anew while being loaded; load it again")
        self.with_retries(lambda client: _all_shards(client.indices.refresh(index=name).body, self.address))

    def forget(self) -> None:
        """Drop what was not sent yet."""
        self._writer.forget()

    def with_retries(self, ask: Callable[[Elasticsearch], Answered]) -> Answered:
        """Ask the server, and ask again while it is away or has too much to do, as loading does."""
        return self._writer.with_retries(lambda: ask(self._writer.client))

    def _highest_order(self) -> int:
        with engine_errors(self.address):
            self.client.indices.refresh(index=self.name)
            answer = self.client.search(index=self.name, size=0, aggs={"order": {"max": {"field": "order"}}})
        return int(answer["aggregations"]["order"]["value"] or 0)

    def _delete(self, deletions: Mapping[int, int]) -> Applied:
        """Put tombstones, but where a later event was applied already. PMID to order."""
        applied = self.drain()
        current = self._current(list(deletions))
        for pmid, place in deletions.items():
            held = current.get(pmid)
            if held is None or held.order < place:
                # Of a document that is not there nothing is deleted, but it may yet come, late.
                self._writer.put(Operation(pmid, RANK_OF_TOMBSTONES, place, 0, tombstone(pmid, place)))
            else:
                applied += Applied(stale=1)
        for outcome in self._writer.drain():
            held = current.get(outcome.operation.pmid)
            if outcome.fate == "rejected":
                applied += Applied(rejected=(_rejection(outcome),))
            elif outcome.fate == "conflict" or held is None or held.deleted:
                applied += Applied(stale=1)
            else:
                applied += Applied(deleted=1)
        return applied

    def _resolve(self, refused: Sequence[Operation]) -> Applied:
        """Write again, over whatever version is there, those that come after it; the others are stale."""
        stale = 0
        current = self._current([operation.pmid for operation in refused])
        for operation in refused:
            held = current.get(operation.pmid)
            if held is None:
                self._writer.put(operation)
            elif held.order > operation.order or (not held.deleted and held.version > operation.version):
                stale += 1
            else:
                self._writer.put(operation._replace(rank=held.rank))
        return Applied(stale=stale)

    def _current(self, pmids: Sequence[int]) -> dict[int, "_StoredVersion"]:
        """What is there now, committed or not."""
        found = {}
        for begin in range(0, len(pmids), PMIDS_PER_REQUEST):
            ids = [str(pmid) for pmid in pmids[begin : begin + PMIDS_PER_REQUEST]]
            for hit in self.with_retries(partial(self._held, ids)):
                if hit.get("found"):
                    stored = hit["_source"]
                    found[int(hit["_id"])] = _StoredVersion(
                        rank=hit["_version"] >> ORDER_BITS,
                        order=stored["order"],
                        version=stored.get("version", 0),
                        deleted=stored.get("deleted", False),
                    )
        return found

    def _held(self, ids: Sequence[str], client: Elasticsearch) -> list[Mapping[str, Any]]:
        answer = client.mget(index=self.name, ids=ids, source=["version", "order", "deleted"])
        for hit in answer["docs"]:
            if "error" in hit and hit["error"]["type"] != "index_not_found_exception":
                # Shards that are not available yet.
                raise Unfinished(describe_fault(hit["error"], 503, self.address))
        return list(_found(answer["docs"], self.address))


class _StoredVersion(NamedTuple):
    rank: int
    order: int
    version: int
    deleted: bool


def _upsert(record: Record, order: int) -> Operation:
    rank = min(record.version, RANK_OF_TOMBSTONES - 1)
    return Operation(record.pmid, rank, order, record.version, source(record, order))


def _rejection(outcome: Outcome) -> Rejection:
    return Rejection(str(outcome.operation.pmid), outcome.reason)


def _found(docs: Iterable[Mapping[str, Any]], address: IndexAddress) -> Iterator[Mapping[str, Any]]:
    for hit in docs:
        if "error" in hit:
            raise BioqaError(describe_fault(hit["error"], 503, address))
        yield hit


def _all_shards(answer: Mapping[str, Any], address: IndexAddress) -> None:
    for failure in answer["_shards"].get("failures", ()):
        raise Unfinished(describe_fault(failure["reason"], 503, address))
