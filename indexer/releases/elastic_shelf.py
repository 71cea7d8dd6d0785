"""Releases in Elasticsearch: an index each, and an alias that stands for the one serving."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Self

from elasticsearch import Elasticsearch, NotFoundError

from bioqa.bioasq.errors import BioqaError
from bioqa.indexer.loading.elastic_target import ElasticTarget, ledger_name, read_ledger
from bioqa.indexer.loading.ledger import LoadedFile
from bioqa.indexer.loading.target import LoadTarget
from bioqa.indexer.releases.elastic_lock import ElasticLock
from bioqa.indexer.releases.shelf import Release, parse_release_name
from bioqa.indexer.search.address import Access, IndexAddress
from bioqa.indexer.search.base import IndexStats
from bioqa.indexer.search.connection import connect, engine_errors
from bioqa.indexer.search.elastic import ElasticIndex
from bioqa.indexer.search.mapping import DEFAULT_SHAPE, Shape

NOTE = "release"
"""Under which an index keeps whether it served, and what served before it."""


class ElasticShelf:
    """``address.name`` is the alias. Close it when done."""

    def __init__(self, address: IndexAddress, access: Access, shape: Shape = DEFAULT_SHAPE) -> None:
        """Raises BioqaError if the server cannot be used, or if an index has the alias's name."""
        self._address = address
        self._access = access
        self._shape = shape
        self.where = str(address)
        self.base = address.name
        self._client = connect(address, access)
        try:
            self._holders()
        except BaseException:
            self._client.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def lock(self) -> AbstractContextManager[ElasticLock]:
        return ElasticLock(self._client, self._address)

    def releases(self) -> tuple[Release, ...]:
        with engine_errors(self._address):
            found = self._client.indices.get_mapping(
                index=f"{self.base}-*", ignore_unavailable=True, allow_no_indices=True
            ).body
        serving = self._holders()
        made = []
        for name, described in found.items():
            notes = described["mappings"].get("_meta", {}).get("bioqa")
            parsed = parse_release_name(self.base, name)
            if parsed is not None and isinstance(notes, Mapping):
                note = notes.get(NOTE) or {}
                # A crash can come between the alias and the note.
                served = bool(note.get("served")) or name in serving
                made.append(Release(name, *parsed, served, note.get("previous")))
        return tuple(sorted(made, key=lambda release: (release.year, release.serial)))

    def serving(self) -> Release | None:
        names = self._holders()
        if not names:
            return None
        found = [release for release in self.releases() if release.name in names]
        if len(names) > 1 or not found:
            raise BioqaError(
                f"the alias {self.base} stands for {', '.join(sorted(names))}, "
                f"and not for one release named {self.base}-YEAR; move it by hand, or use another name"
            )
        return found[0]

    def target(self, name: str, joiner: str) -> LoadTarget:
        # A connection of its own: it is closed with the target.
        at = IndexAddress(self._address.hosts, name)
        client = connect(at, self._access)
        return ElasticTarget(ElasticIndex.create(client, at, joiner, self._shape, self._access.patience_s))

    def ledger(self, name: str) -> tuple[LoadedFile, ...]:
        if not self._exists(name):
            return ()
        return tuple(read_ledger(self._index(name)))

    def stats(self, name: str) -> IndexStats:
        return self._index(name).stats()

    def serve(self, name: str, previous: str | None) -> None:
        index = self._index(name)
        # In this order, so that a crash in between leaves nothing untold: see releases().
        index.annotate(**{NOTE: {"served": False, "previous": previous}})
        self._move_alias(name)
        index.annotate(**{NOTE: {"served": True, "previous": previous}})

    def go_back(self, name: str) -> None:
        if (current := self.serving()) is not None:
            note = {"served": True, "previous": current.previous}
            self._index(current.name).annotate(**{NOTE: note})
        self._move_alias(name)

    def drop(self, name: str) -> None:
        if name in self._holders():
            raise BioqaError(f"{name} is serving; it is not dropped")
        with engine_errors(self._address):
            # The ledger first: a ledger without its index would be taken for that of the next one so named.
            for index in (ledger_name(name), name):
                self._client.indices.delete(index=index, ignore_unavailable=True)

    def _index(self, name: str) -> ElasticIndex:
        return ElasticIndex.open(
            self._client, IndexAddress(self._address.hosts, name), self._access.patience_s
        )

    def _exists(self, name: str) -> bool:
        with engine_errors(self._address):
            return bool(self._client.indices.exists(index=name))

    def _holders(self) -> set[str]:
        """The indices that the alias stands for."""
        found = _get_alias(self._client, self._address)
        if self.base in found:
            raise BioqaError(
                f"{self.base} at {self._address.hosts[0]} is an index, made by `bioqa index`, and no alias, "
                "which releases need: give `bioqa update` another name, or delete that index first"
            )
        return set(found)

    def _move_alias(self, name: str) -> None:
        others = self._holders() - {name}
        actions: list[dict[str, Any]] = [
            {"remove": {"index": other, "alias": self.base, "must_exist": True}} for other in sorted(others)
        ]
        with engine_errors(self._address):
            self._client.indices.update_aliases(
                actions=[*actions, {"add": {"index": name, "alias": self.base}}]
            )


def _get_alias(client: Elasticsearch, address: IndexAddress) -> dict[str, Any]:
    with engine_errors(address):
        try:
            return dict(client.indices.get_alias(index=address.name).body)
        except NotFoundError:
            return {}
