"""The lock in Elasticsearch: who gets it, and when it is taken away."""

import os
import time
from collections.abc import Iterator

import pytest
from elasticsearch import Elasticsearch

from bioqa.indexer.releases import elastic_lock
from bioqa.indexer.releases.elastic_lock import ElasticLock
from bioqa.indexer.search.elastic.address import IndexAddress, parse_address
from bioqa.indexer.search.elastic.connection import connect
from bioqa.system.errors import BioqaError


@pytest.fixture
def where(elastic_url: str, elastic_name: str) -> IndexAddress:
    return parse_address(f"{elastic_url}/{elastic_name}")


@pytest.fixture
def client(where: IndexAddress) -> Iterator[Elasticsearch]:
    with connect(where) as client:
        yield client


def test_it_is_held_by_one_until_let_go(client: Elasticsearch, where: IndexAddress) -> None:
    with ElasticLock(client, where) as lock:
        lock.check()
        with pytest.raises(
            BioqaError, match=r"under way, by .*, process \d+, which renewed its lock \d+ s ago"
        ):
            ElasticLock(client, where).__enter__()
        lock.check()
    with ElasticLock(client, where) as lock:
        lock.check()


def test_it_is_renewed(client: Elasticsearch, where: IndexAddress) -> None:
    with ElasticLock(client, where, renew_s=0.01):
        begun = time.monotonic()
        while client.get(index=f"{where.name}-lock", id="update")["_version"] < 3:
            assert time.monotonic() - begun < 20


def test_it_is_renewed_after_answers_that_cannot_be_read(
    client: Elasticsearch, where: IndexAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a proxy's page: the thread that renews the lock goes on."""
    asked: list[None] = []

    def page(*_: object) -> object:
        asked.append(None)
        raise TypeError("string indices must be integers")

    with ElasticLock(client, where, renew_s=0.01) as lock:
        monkeypatch.setattr(elastic_lock, "_position", page)
        begun = time.monotonic()
        while len(asked) < 3:
            assert time.monotonic() - begun < 20
        with pytest.raises(BioqaError, match="none of Elasticsearch's"):
            lock.check()
        monkeypatch.undo()
        lock.check()


def test_a_stale_one_is_taken_and_its_holder_notices(client: Elasticsearch, where: IndexAddress) -> None:
    with ElasticLock(client, where) as first:
        with ElasticLock(client, where, stale_s=0.0) as second:
            second.check()
            with pytest.raises(BioqaError, match="another process took the lock"):
                first.check()
            second.check()
        # Let go by the second; the first does not come to own it again.
        with pytest.raises(BioqaError, match="another process took the lock"):
            first.check()


# No process has a number so high, and this one started later.
@pytest.mark.parametrize("pid", [4194305, os.getpid()], ids=["none", "another"])
def test_one_of_a_process_that_ended_is_taken_at_once(
    client: Elasticsearch, where: IndexAddress, monkeypatch: pytest.MonkeyPatch, pid: int
) -> None:
    numbering = elastic_lock._process().rpartition("/")[0]
    with ElasticLock(client, where) as first:
        monkeypatch.setattr(elastic_lock, "_process", lambda: f"{numbering}/{pid}@1")
        first.check()
        monkeypatch.undo()
        with ElasticLock(client, where) as second:
            second.check()


def test_one_of_another_machine_is_not_while_it_is_renewed(
    client: Elasticsearch, where: IndexAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elastic_lock, "_process", lambda: "other-boot/pid:[1]/4194305")
    with ElasticLock(client, where, renew_s=0.1), pytest.raises(BioqaError, match="under way"):
        ElasticLock(client, where, renew_s=20).__enter__()


def test_one_of_a_container_that_is_gone_is_taken_soon(
    client: Elasticsearch, where: IndexAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elastic_lock, "_process", lambda: "other-boot/pid:[1]/4194305")
    with ElasticLock(client, where, renew_s=1000) as first:  # as good as killed: it renews nothing
        with ElasticLock(client, where, renew_s=0.05) as second:
            second.check()
        with pytest.raises(BioqaError, match="another process took the lock"):
            first.check()
