"""Search in Elasticsearch, for all of MEDLINE.

Every document is written with an external version, PMID version << 48 | order, where order is the position of
the event among all events (``loading.ledger.order``). So the server itself rejects events that are older than
the indexed document, and files can be replayed, applied out of order, and sent in concurrent requests. A
deletion leaves a tombstone, a document without text with the highest possible version, so that a late
revision does not bring the document back. If the server reports a conflict, the indexed document is looked
up: for tombstones, and for PMID versions that decrease after a deletion, the order alone decides.

With several shards, word counts are taken from all of them (dfs_query_then_fetch), so that scores do not
depend on the number of shards.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from types import TracebackType
from typing import Any, NamedTuple, Self

from elasticsearch import BadRequestError, Elasticsearch

from bioqa.bioasq.domain import Candidate, Document
from bioqa.indexer.medline.events import Delete, Event
from bioqa.indexer.search.base import Applied, IndexStats, Rejection
from bioqa.indexer.search.elastic.address import IndexAddress
from bioqa.indexer.search.elastic.bulk import (
    ORDER_BITS,
    BulkOperation,
    BulkWriter,
    Outcome,
    Response,
    Unfinished,
)
from bioqa.indexer.search.elastic.connection import engine_errors
from bioqa.indexer.search.elastic.evidence import ElasticEvidence
from bioqa.indexer.search.elastic.faults import (
    FORBIDDEN,
    MISSING,
    describe_fault,
    error_type,
    lasting_state,
    require_acknowledged,
    require_whole,
)
from bioqa.indexer.search.elastic.mapping import (
    DEFAULT_SHAPE,
    DESCRIBING,
    FORMAT,
    TEXT,
    Shape,
    describe,
    from_source,
    index_body,
    source,
    tombstone,
)
from bioqa.indexer.search.elastic.queries import (
    newest_request,
    preference,
    query,
    read_term_vectors,
    request,
)
from bioqa.indexer.search.elastic.synonyms import SynonymsAlias
from bioqa.indexer.search.filtering.filters import NO_FILTERS, Filters
from bioqa.indexer.search.questions.condensing import condense, is_long, words_of
from bioqa.indexer.search.questions.reading import Reading, read
from bioqa.indexer.search.records import PMID, Described, EncodedEvent, Record, encode, pmid_number
from bioqa.indexer.search.synonyms import Synonyms
from bioqa.indexer.search.wording import Wording, clean
from bioqa.system.errors import BioqaError

PMIDS_PER_REQUEST = 1000
"""Documents looked up by one request."""

QUESTIONS_PER_REQUEST = 32
"""Questions in one multi-search request."""

RANK_OF_TOMBSTONES = 4095
"""Above the ranks of all upserts, which are PMID versions."""


class ElasticIndex:
    """``SearchIndex`` for an index of a server. Threads may search concurrently; one at a time may write."""

    beside = None

    def __init__(
        self, client: Elasticsearch, address: IndexAddress, indices: Mapping[str, Any], patience_s: float
    ) -> None:
        """``indices``: the server's descriptions of the indices with this name or alias."""
        self.client = client
        self.address = address
        self._read_description(indices)
        # Writes go to the index by its own name, as an alias may be moved meanwhile.
        self._writer = BulkWriter(client, IndexAddress(address.hosts, self.name), patience_s)
        self._next_order: int | None = None
        self._synonyms = SynonymsAlias(client, address)

    @classmethod
    def create(
        cls,
        client: Elasticsearch,
        address: IndexAddress,
        joiner: str = "",
        shape: Shape = DEFAULT_SHAPE,
        patience_s: float = 300.0,
    ) -> Self:
        """Open the index with this name, and create it if it does not exist.

        Raises ``BioqaError`` if it has another joiner, or was not made by bioqa.
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
                # The second means that there is an alias with this name.
        index = cls.open(client, address, patience_s)
        if index.joiner != joiner:
            raise BioqaError(
                f"the index {index.name} joins abstract parts with {index.joiner!r}, not {joiner!r}; "
                "use another index, or the same joiner"
            )
        return index

    @classmethod
    def open(cls, client: Elasticsearch, address: IndexAddress, patience_s: float = 300.0) -> Self:
        """Open the index with this name or alias. Raises ``BioqaError`` if it cannot be read."""
        with engine_errors(address):
            indices = client.indices.get(index=address.name).body
            return cls(client, address, indices, patience_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._writer.close()
        self.client.close()

    # The index's description

    def _read_description(self, indices: Mapping[str, Any]) -> None:
        if len(indices) != 1:
            raise BioqaError(
                f"{self.address.name} stands for {len(indices)} indices, not one: "
                + (", ".join(sorted(indices)) or "none")
            )
        ((name, description),) = indices.items()
        notes = description["mappings"].get("_meta", {}).get("bioqa")
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
        settings = description["settings"]["index"]
        self._uuid = settings["uuid"]
        # With a single shard, its word counts are those of the whole index.
        several = int(settings["number_of_shards"]) > 1
        self._search_type = "dfs_query_then_fetch" if several else "query_then_fetch"

    def annotate(self, **notes: Any) -> None:
        """Store notes in the index's mapping, such as its release."""
        merged = {**self._reread().notes, **notes}
        with engine_errors(self.address):
            answer = self.client.indices.put_mapping(index=self.name, meta={"bioqa": merged})
            require_acknowledged(answer.body, self.address)
        self.notes = merged

    def _reread(self) -> "ElasticIndex":
        return ElasticIndex.open(self.client, IndexAddress(self.address.hosts, self.name))

    def _follow_alias(self, name: str) -> None:
        """Read the description anew if an answer came from another index, because the alias was moved."""
        if name != self.name:
            with engine_errors(self.address):
                self._read_description(self.client.indices.get(index=name).body)

    # Reading

    def evidence(self) -> ElasticEvidence:
        return ElasticEvidence(self._ask)

    def read(self, question: str) -> Reading:
        return read(question, self.evidence(), self.synonyms())

    def synonyms(self) -> Synonyms:
        """The synonyms beside the index, as of the last minute."""
        return self._synonyms.current()

    def _narrower(self, heading: str) -> Sequence[str]:
        return self.synonyms().narrower(heading)

    def _ask(
        self, searches: Sequence[Mapping[str, Any]], preferences: Sequence[str] = (), name: str | None = None
    ) -> Sequence[Mapping[str, Any]]:
        """Make several searches in one request, each with its preference if there are any. ``name``: of the
        index, if it is not this one's name or alias."""
        lines: list[Mapping[str, Any]] = []
        for search, preferred in zip_longest(searches, preferences):
            header = {} if preferred is None else {"preference": preferred}
            lines += [header | {"allow_partial_search_results": False}, search]
        with engine_errors(self.address):
            answers: list[dict[str, Any]] = self.client.msearch(
                index=name or self.address.name, search_type=self._search_type, searches=lines
            ).body["responses"]
            if len(answers) != len(searches):
                raise ValueError("not one answer for each search")
            for answer in answers:
                if answer["status"] >= 300:
                    raise BioqaError(describe_fault(answer["error"], answer["status"], self.address))
                require_whole(answer, self.address)
            return answers

    def search(
        self, question: str | Wording, size: int = 100, filters: Filters = NO_FILTERS
    ) -> list[Candidate]:
        if size < 1 or not (text := _clean(question)):
            return []
        wanted = request(text, size, filters, self._narrower)
        with engine_errors(self.address):
            answer = self.client.search(
                index=self.address.name,
                search_type=self._search_type,
                preference=preference(text),
                allow_partial_search_results=False,
                **wanted,
            )
            return self._candidates(answer.body)

    def search_many(
        self, questions: Sequence[str | Wording], size: int = 100, filters: Filters = NO_FILTERS
    ) -> list[list[Candidate]]:
        texts = [_clean(question) if size >= 1 else "" for question in questions]
        candidates: dict[str | Wording, list[Candidate]] = {"": []}
        distinct = list(dict.fromkeys(text for text in texts if text))
        for begin in range(0, len(distinct), QUESTIONS_PER_REQUEST):
            chunk = distinct[begin : begin + QUESTIONS_PER_REQUEST]
            candidates |= zip(chunk, self._msearch(chunk, size, filters), strict=True)
        return [list(candidates[text]) for text in texts]

    def newest(self, filters: Filters = NO_FILTERS, size: int = 100) -> list[Document]:
        if size < 1:
            return []
        wanted = newest_request(filters, size, self._narrower)
        with engine_errors(self.address):
            answer = self.client.search(index=self.address.name, allow_partial_search_results=False, **wanted)
            require_whole(answer.body, self.address)
            return [from_source(hit["_source"]) for hit in answer["hits"]["hits"]]

    def describe(
        self, question: str | Wording | None, size: int = 100, filters: Filters = NO_FILTERS
    ) -> list[Described]:
        text = question if question is None else _clean(question)
        if size < 1 or text == "":
            return []
        narrower = self._narrower
        wanted = (
            newest_request(filters, size, narrower)
            if text is None
            else request(text, size, filters, narrower)
        )
        (answer,) = self._ask([wanted | {"_source": DESCRIBING}], [preference(text)] if text else ())
        with engine_errors(self.address):
            return [describe(hit["_source"]) for hit in answer["hits"]["hits"]]

    def count(self, question: str | Wording | None, filters: Filters = NO_FILTERS) -> int:
        text = question if question is None else _clean(question)
        if text == "":
            return 0
        wanted = query(text, filters, self._narrower)
        with engine_errors(self.address):
            answer = self.client.search(
                index=self.address.name,
                allow_partial_search_results=False,
                size=0,
                track_total_hits=True,
                query=wanted,
            )
            require_whole(answer.body, self.address)
            return int(answer["hits"]["total"]["value"])

    def _msearch(self, texts: Sequence[str | Wording], size: int, filters: Filters) -> list[list[Candidate]]:
        searches = [request(text, size, filters, self._narrower) for text in texts]
        with engine_errors(self.address):
            answers = self._ask(searches, [*map(preference, texts)])
            return [self._candidates(answer) for answer in answers]

    def _candidates(self, answer: Mapping[str, Any]) -> list[Candidate]:
        require_whole(answer, self.address)
        hits = answer["hits"]["hits"]
        if hits:
            self._follow_alias(hits[0]["_index"])
        return [Candidate(from_source(hit["_source"]), hit["_score"]) for hit in hits]

    def condense(self, question: str) -> str:
        if not is_long(question):
            return question
        text = clean(question)
        words = words_of(text)
        with engine_errors(self.address):
            # A question as a document that is not indexed. Its terms' counts are one shard's, which with
            # several shards are a sample; always the same one, so that equal questions are equal.
            answer = self.client.termvectors(
                index=self.address.name,
                doc={TEXT: " ".join(words)},
                fields=[TEXT],
                routing="0",
                preference=preference(text),
                term_statistics=True,
                offsets=True,
                positions=False,
            )
            terms, having, total = read_term_vectors(answer.body, words)
        return condense(words, terms, having, total)

    def get(self, pmids: Sequence[str]) -> Mapping[str, Document]:
        distinct = [pmid for pmid in dict.fromkeys(pmids) if PMID.fullmatch(pmid)]
        documents = {}
        for begin in range(0, len(distinct), PMIDS_PER_REQUEST):
            ids = distinct[begin : begin + PMIDS_PER_REQUEST]
            with engine_errors(self.address):
                # A real-time get would return documents that are not committed yet.
                answer = self.client.mget(index=self.address.name, ids=ids, realtime=False)
                for hit in _found_or_not(answer["docs"], ids, self.address):
                    if hit["found"] and not hit["_source"].get("deleted"):
                        documents[hit["_id"]] = from_source(hit["_source"])
        return documents

    def state(self) -> str:
        with engine_errors(self.address):
            ((name, description),) = self.client.indices.get(index=self.address.name).body.items()
            settings = description["settings"]["index"]
            # The server numbers the writes of each shard. The last number that can be searched is found
            # without looking at documents.
            search = {"size": 0, "track_total_hits": False, "aggs": {"write": {"max": {"field": "_seq_no"}}}}
            shards = range(int(settings["number_of_shards"]))
            answers = self._ask([search for _ in shards], [f"_shards:{shard}" for shard in shards], name)
            writes = [answer["aggregations"]["write"]["value"] for answer in answers]
            return ":".join([settings["uuid"], *("" if last is None else str(int(last)) for last in writes)])

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
            require_whole(answer.body, self.address)
            name = self.address.name
            size = self.client.indices.stats(index=name, metric="store")["_all"]["primaries"]["store"]
            (current,) = self.client.indices.get_alias(index=name).body
            self._follow_alias(current)
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
        encoded = [pmid_number(e.pmid) if isinstance(e, Delete) else encode(e.document) for e in events]
        applied = self.write(encoded, self._next_order) + self.drain()
        self._next_order += len(encoded)
        return applied

    def write(self, events: Sequence[EncodedEvent], order: int) -> Applied:
        """Send events. ``order`` is the first one's position among all events.

        Returns the outcome of deletions, which wait for everything sent before; that of upserts is returned
        by ``drain``."""
        applied = Applied()
        deletions: dict[int, int] = {}
        for position, event in enumerate(events, order):
            if isinstance(event, Record):
                if deletions:
                    applied += self._delete(deletions)
                    deletions = {}
                self._writer.put(_upsert(event, position))
            elif event in deletions:
                applied += Applied(stale=1)
            else:
                deletions[event] = position
        return applied + self._delete(deletions) if deletions else applied

    def drain(self) -> Applied:
        """Wait until the server has processed everything. Returns the outcome."""
        applied = Applied()
        outcomes = self._writer.drain()
        upserted = 0
        rejected: list[Rejection] = []
        while outcomes:
            conflicts = []
            for outcome in outcomes:
                match outcome.result:
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
        """Make all writes visible. They are durable already, since the server acknowledged them."""
        name = self.name
        settings = self.with_retries(lambda client: client.indices.get_settings(index=name)).body
        with engine_errors(self.address):
            uuid = settings[name]["settings"]["index"]["uuid"]
        if uuid != self._uuid:
            raise BioqaError(
                f"the index {name} was deleted and created anew while being loaded; load the files again"
            )
        self.with_retries(lambda client: _all_shards(client.indices.refresh(index=name).body, self.address))

    def discard_unsent(self) -> None:
        """Discard events that were not sent yet."""
        self._writer.discard_unsent()

    def with_retries(self, request: Callable[[Elasticsearch], Response]) -> Response:
        """Make a request, and retry while the server is unreachable or overloaded, as loading does."""
        return self._writer.with_retries(lambda: request(self._writer.client))

    def _highest_order(self) -> int:
        with engine_errors(self.address):
            self.client.indices.refresh(index=self.name)
            answer = self.client.search(
                index=self.name,
                size=0,
                allow_partial_search_results=False,
                aggs={"order": {"max": {"field": "order"}}},
            )
            require_whole(answer.body, self.address)
            return int(answer["aggregations"]["order"]["value"] or 0)

    def _delete(self, deletions: Mapping[int, int]) -> Applied:
        """Write tombstones, unless a later event was applied already. ``deletions`` maps PMIDs to orders."""
        applied = self.drain()
        current = self._current(list(deletions))
        for pmid, order in deletions.items():
            stored = current.get(pmid)
            if stored is None or stored.order < order:
                # Write the tombstone even if the document is absent: an older upsert may still arrive.
                self._writer.put(BulkOperation(pmid, RANK_OF_TOMBSTONES, order, 0, tombstone(pmid, order)))
            else:
                applied += Applied(stale=1)
        for outcome in self._writer.drain():
            stored = current.get(outcome.operation.pmid)
            if outcome.result == "rejected":
                applied += Applied(rejected=(_rejection(outcome),))
            elif outcome.result == "conflict" or stored is None or stored.deleted:
                applied += Applied(stale=1)
            else:
                applied += Applied(deleted=1)
        return applied

    def _resolve(self, conflicts: Sequence[BulkOperation]) -> Applied:
        """Write operations that are newer than the stored document again, with its rank; the others are
        stale."""
        stale = 0
        current = self._current([operation.pmid for operation in conflicts])
        for operation in conflicts:
            stored = current.get(operation.pmid)
            if stored is None:
                self._writer.put(operation)
            elif stored.order > operation.order or (
                not stored.deleted and stored.version > operation.version
            ):
                stale += 1
            else:
                self._writer.put(operation._replace(rank=stored.rank))
        return Applied(stale=stale)

    def _current(self, pmids: Sequence[int]) -> dict[int, "_StoredVersion"]:
        """Look up the stored versions by PMID, committed or not."""
        versions = {}
        for begin in range(0, len(pmids), PMIDS_PER_REQUEST):
            ids = [str(pmid) for pmid in pmids[begin : begin + PMIDS_PER_REQUEST]]
            with engine_errors(self.address):
                for hit in self.with_retries(partial(self._look_up, ids)):
                    if hit["found"]:
                        stored = hit["_source"]
                        versions[int(hit["_id"])] = _StoredVersion(
                            rank=hit["_version"] >> ORDER_BITS,
                            order=stored["order"],
                            version=stored.get("version", 0),
                            deleted=stored.get("deleted", False),
                        )
        return versions

    def _look_up(self, ids: Sequence[str], client: Elasticsearch) -> list[Mapping[str, Any]]:
        answer = client.mget(index=self.name, ids=ids, source=["version", "order", "deleted"])
        for hit in answer["docs"]:
            if "error" in hit and _may_pass(hit["error"], self.address):
                # Shards are not available yet.
                raise Unfinished(describe_fault(hit["error"], 503, self.address))
        return _found_or_not(answer["docs"], ids, self.address)


class _StoredVersion(NamedTuple):
    rank: int
    order: int
    version: int
    deleted: bool


def _upsert(record: Record, order: int) -> BulkOperation:
    rank = min(record.version, RANK_OF_TOMBSTONES - 1)
    return BulkOperation(record.pmid, rank, order, record.version, source(record, order))


def _rejection(outcome: Outcome) -> Rejection:
    return Rejection(str(outcome.operation.pmid), outcome.reason)


def _found_or_not(
    docs: Sequence[Mapping[str, Any]], ids: Sequence[str], address: IndexAddress
) -> list[Mapping[str, Any]]:
    """Check that each of ``ids`` has an answer, and none is an error."""
    if len(docs) != len(ids):
        raise ValueError("not one answer for each document")
    for hit in docs:
        if "error" in hit:
            raise BioqaError(describe_fault(hit["error"], 503, address))
    return list(docs)


def _may_pass(fault: Mapping[str, Any], address: IndexAddress) -> bool:
    return fault["type"] not in (MISSING, FORBIDDEN) and not lasting_state(fault, address.name)


def _clean(question: str | Wording) -> str | Wording:
    return clean(question) if isinstance(question, str) else question


def _all_shards(answer: Mapping[str, Any], address: IndexAddress) -> None:
    with engine_errors(address):
        if answer["_shards"]["failed"]:
            failure = answer["_shards"]["failures"][0]
            raise Unfinished(describe_fault(failure["reason"], 503, address))
