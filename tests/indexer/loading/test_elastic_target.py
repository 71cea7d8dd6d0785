"""An index of Elasticsearch as a target: the ledger beside it, and replicas once it is loaded."""

from typing import Any, ClassVar

import pytest
from elasticsearch import Elasticsearch

from bioqa.indexer.loading.elastic_target import ElasticTarget, ledger_name, read_ledger
from bioqa.indexer.loading.ledger import LoadedFile
from bioqa.indexer.search.elastic.address import IndexAddress
from bioqa.indexer.search.elastic.connection import connect
from bioqa.indexer.search.elastic.index import ElasticIndex
from bioqa.indexer.search.elastic.mapping import Shape
from bioqa.system.errors import BioqaError
from tests.proxies import Garbling, Handler, Proxy

ENTRY = LoadedFile("a.xml", "0" * 32, 100, 2, 1, 1, 0, number=1)
OTHER = LoadedFile("b.xml", "1" * 32, 200, 1, 1, 0, 0, number=2)


UNCONFIRMED = r"none of Elasticsearch's|did not confirm|cannot be read"


def target(address: IndexAddress, shape: Shape | None = None) -> ElasticTarget:
    return ElasticTarget(ElasticIndex.create(connect(address), address, shape=shape or Shape()))


def test_two_loaders_do_not_overwrite_each_others_entries(address: IndexAddress) -> None:
    first, second = target(address), target(address)
    first.note(ENTRY)
    with pytest.raises(BioqaError, match=f"{address.name} is being loaded by another process"):
        second.note(OTHER)
    # As after a request whose response was lost: the entry is there, and is the same.
    second.note(ENTRY)
    assert second.loaded == first.loaded == (ENTRY,) == tuple(read_ledger(first.index))
    for each in (first, second):
        each.close()


def test_an_index_that_is_no_ledger_is_reported(address: IndexAddress, client: Elasticsearch) -> None:
    target(address).close()
    ledger = ledger_name(address.name)
    with ElasticIndex.open(connect(address), address) as index:
        client.index(index=ledger, document={"position": 0, "entry": {"colour": "red"}})
        with pytest.raises(BioqaError, match=f"the index {ledger} is not a ledger of bioqa"):
            read_ledger(index)
        client.indices.delete(index=ledger)
        assert read_ledger(index) == []


def test_replicas_are_made_once_loading_is_finished(address: IndexAddress, client: Elasticsearch) -> None:
    loading = target(address, Shape(replicas=1))
    names = f"{address.name},{ledger_name(address.name)}"

    def replicas() -> set[str]:
        settings = client.indices.get_settings(index=names).body.values()
        return {each["settings"]["index"]["number_of_replicas"] for each in settings}

    assert replicas() == {"0"}
    loading.finish()
    assert replicas() == {"1"}
    loading.close()


class Copying(Proxy):
    """A server that is making copies, as its answers say."""

    answers: ClassVar = [
        (408, {"status": "yellow", "timed_out": True, "delayed_unassigned_shards": 0}),
        (200, {"status": "yellow", "timed_out": False, "delayed_unassigned_shards": 0}),
        (200, {"status": "yellow", "timed_out": False, "delayed_unassigned_shards": 1}),
        (200, {"status": "green", "timed_out": False, "delayed_unassigned_shards": 0}),
    ]

    def respond(self, request: Handler, body: bytes) -> None:
        if "_cluster/health" in request.path:
            request.answer(*self.answers[len(self.paths("_cluster/health")) - 1])
        else:
            super().respond(request, body)


def test_a_release_is_finished_when_its_copies_are_made(elastic_url: str, address: IndexAddress) -> None:
    with Copying(elastic_url) as proxy:
        loading = target(IndexAddress((proxy.url,), address.name), Shape(replicas=1))
        loading.finish()
        loading.close()
        assert len(proxy.paths("_cluster/health")) == len(Copying.answers)


@pytest.mark.parametrize("answer", [b"<html>log in</html>", {}, {"result": "noop", "acknowledged": False}])
def test_what_the_server_does_not_confirm_is_not_done(
    elastic_url: str, address: IndexAddress, answer: Any
) -> None:
    with Garbling(elastic_url) as proxy:
        loading = target(IndexAddress((proxy.url,), address.name))
        proxy.change = lambda _: answer
        proxy.pattern = "PUT .*/_settings"
        with pytest.raises(BioqaError, match=UNCONFIRMED):
            loading.finish()
        proxy.pattern = "/_create/"
        with pytest.raises(BioqaError, match=UNCONFIRMED):
            loading.note(ENTRY)
        assert loading.loaded == ()
        loading.close()
