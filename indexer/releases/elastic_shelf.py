"""Releases in Elasticsearch: an index for each, and an alias for the one that serves."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Self

from elasticsearch import Elasticsearch, NotFoundError

from bioqa.indexer.loading.elastic_target import ElasticTarget, ledger_name, read_ledger
from bioqa.indexer.loading.ledger import LoadedFile
from bioqa.indexer.loading.target import LoadTarget
from bioqa.indexer.releases.elastic_lock import ElasticLock
from bioqa.indexer.releases.shelf import Release, parse_release_name
from bioqa.indexer.search.base import IndexStats
from bioqa.indexer.search.elastic.address import Access, IndexAddress
from bioqa.indexer.search.elastic.connection import connect, engine_errors
from bioqa.indexer.search.elastic.faults import require_acknowledged
from bioqa.indexer.search.elastic.index import ElasticIndex
from bioqa.indexer.search.elastic.mapping import DEFAULT_SHAPE, Shape
from bioqa.system.errors import BioqaError

NOTE = "release"
"""Key of an index's note on whether it served, and which release served before it."""


class ElasticShelf:
    """``Shelf`` in Elasticsearch; ``address.name`` is the alias. Use it in ``with``, which closes the
    connection."""

    def __init__(self, address: IndexAddress, access: Access, shape: Shape = DEFAULT_SHAPE) -> None:
        """Raises BioqaError if the server cannot be used, or if an index has the name of the alias."""
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
            mappings = self._client.indices.get_mapping(
                index=f"{self.base}-*", ignore_unavailable=True, allow_no_indices=True
            ).body
            described = {
                name: mapping["mappings"].get("_meta", {}).get("bioqa") for name, mapping in mappings.items()
            }
        serving = self._holders()
        releases = []
        for name, notes in described.items():
            parsed = parse_release_name(self.base, name)
            if parsed is not None and isinstance(notes, Mapping):
                note = notes.get(NOTE) or {}
                # A crash between moving the alias and writing the note leaves an old note.
                served = bool(note.get("served")) or name in serving
                releases.append(Release(name, *parsed, served, note.get("previous")))
        return tuple(sorted(releases, key=lambda release: (release.year, release.serial)))

    def serving(self) -> Release | None:
        names = self._holders()
        if not names:
            return None
        serving = [release for release in self.releases() if release.name in names]
        if len(names) > 1 or not serving:
            raise BioqaError(
                f"the alias {self.base} stands for {', '.join(sorted(names))}, "
                f"and not for one release named {self.base}-YEAR; move it by hand, or use another name"
            )
        return serving[0]

    def target(self, name: str, joiner: str) -> LoadTarget:
        # With a connection of its own, which is closed with the target.
        address = IndexAddress(self._address.hosts, name)
        client = connect(address, self._access)
        return ElasticTarget(
            ElasticIndex.create(client, address, joiner, self._shape, self._access.patience_s)
        )

    def ledger(self, name: str) -> tuple[LoadedFile, ...]:
        if not self._exists(name):
            return ()
        return tuple(read_ledger(self._index(name)))

    def stats(self, name: str) -> IndexStats:
        return self._index(name).stats()

    def serve(self, name: str, previous: str | None) -> None:
        index = self._index(name)
        # In this order, so that after a crash at any point ``releases`` is right.
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
            # The ledger first: a ledger without index would be used for the next index with this name.
            for index in (ledger_name(name), name):
                answer = self._client.indices.delete(index=index, ignore_unavailable=True)
                require_acknowledged(answer.body, self._address)

    def _index(self, name: str) -> ElasticIndex:
        return ElasticIndex.open(
            self._client, IndexAddress(self._address.hosts, name), self._access.patience_s
        )

    def _exists(self, name: str) -> bool:
        with engine_errors(self._address):
            return bool(self._client.indices.exists(index=name))

    def _holders(self) -> set[str]:
        """Return the names of the indices that have the alias."""
        names = _get_alias(self._client, self._address)
        if self.base in names:
            raise BioqaError(
                f"{self.base} at {self._address.hosts[0]} is an index made by `bioqa index`, not an alias, "
                "which releases need: give `bioqa update` another name, or delete that index first"
            )
        return set(names)

    def _move_alias(self, name: str) -> None:
        others = self._holders() - {name}
        actions: list[dict[str, Any]] = [
            {"remove": {"index": other, "alias": self.base, "must_exist": True}} for other in sorted(others)
        ]
        with engine_errors(self._address):
            answer = self._client.indices.update_aliases(
                actions=[*actions, {"add": {"index": name, "alias": self.base}}]
            )
            require_acknowledged(answer.body, self._address)


def _get_alias(client: Elasticsearch, address: IndexAddress) -> dict[str, Any]:
    with engine_errors(address):
        try:
            return dict(client.indices.get_alias(index=address.name).body)
        except NotFoundError:
            return {}
