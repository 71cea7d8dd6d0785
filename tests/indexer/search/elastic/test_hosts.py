"""Hosts of a cluster that drop packets, hang, are slow, and come back."""

import json
import logging
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import trustme
from elastic_transport import ConnectionError as ConnectionFailed
from elastic_transport import NodeConfig
from elasticsearch import Elasticsearch

from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.releases.elastic_lock import ElasticLock
from bioqa.indexer.search.elastic import hosts
from bioqa.indexer.search.elastic.address import Access, parse_address
from bioqa.indexer.search.elastic.connection import connect
from bioqa.indexer.search.elastic.hosts import Host, Hosts, prefer
from bioqa.indexer.search.elastic.index import ElasticIndex
from bioqa.system.errors import BioqaError
from bioqa.system.secret import Secret
from tests.indexer.documents import document
from tests.proxies import Proxy, api_key

PATIENT = Access(timeout_s=1000, patience_s=1000)
"""With the time limit of a request alone, a test would take until it is killed."""


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONNECT_S", "SUSPECT_AFTER_S", "PING_S"):
        monkeypatch.setattr(hosts, name, 0.3)
    monkeypatch.setattr(hosts, "WATCH_EVERY_S", 0.05)


@contextmanager
def dropping() -> Iterator[str]:
    """A host that drops the packets of whoever wants to connect, as its queue is full."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        waiting = [socket.socket() for _ in range(8)]
        for client in waiting:
            client.setblocking(False)
            client.connect_ex(listening.getsockname())
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            for client in waiting:
                client.close()


@contextmanager
def hanging() -> Iterator[str]:
    """A host that takes connections and never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(100)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


DEAD = pytest.mark.parametrize("dead", [dropping, hanging])


@DEAD
@pytest.mark.parametrize("place", [0, 1])
def test_all_goes_on_without_a_dead_host(
    elastic_url: str, elastic_name: str, dead: Callable[[], Any], place: int
) -> None:
    with dead() as url:
        urls = [elastic_url]
        urls.insert(place, url)
        where = parse_address(f"{','.join(urls)}/{elastic_name}")
        with ElasticIndex.create(connect(where, PATIENT), where) as index:
            index.apply([Upsert(document(number, "About insulin.")) for number in range(1, 4)])
            index.commit()
            for _ in range(4):
                assert len(index.search("insulin")) == 3
                assert index.stats().documents == 3
            with ElasticLock(index.client, where) as lock:
                lock.check()


@DEAD
def test_a_dead_host_is_dead_for_everybody(elastic_url: str, dead: Callable[[], Any]) -> None:
    with dead() as url, connect(parse_address(f"{elastic_url},{url}"), PATIENT) as client:
        for _ in range(2):
            client.info()
        pool = client.transport.node_pool
        picked: list[str] = []
        threads = [threading.Thread(target=lambda: picked.append(pool.get().base_url)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert picked == [elastic_url] * 4


def test_requests_under_way_go_to_another_host(elastic_url: str) -> None:
    """The host hangs when connections to it are open, and several wait for it."""
    with Proxy(elastic_url) as proxy, connect(parse_address(f"{elastic_url},{proxy.url}"), PATIENT) as client:
        for _ in range(2):
            client.info()
        proxy.fail(times=10**6, delay_s=30)
        answers: list[Any] = []

        def ask() -> None:
            answers.extend(client.cluster.health() for _ in range(2))

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert len(answers) == 8


@pytest.mark.parametrize("key", [None, "secret"])
def test_searches_keep_away_from_a_node_that_hangs(elastic_url: str, key: str | None) -> None:
    """The other hosts do not know of it yet, so that they wait for its part of a search."""
    allowed = {api_key("secret"): ""} if key else None
    access = replace(PATIENT, api_key=Secret(key)) if key else PATIENT
    with (
        Proxy(elastic_url) as hung,
        Proxy(elastic_url, allowed=allowed) as other,
        connect(parse_address(f"{hung.url},{other.url}"), access) as client,
    ):
        hung.fail(times=10**6, delay_s=30)
        other.fail("_search(?!.*preference=_prefer_nodes)", times=10**6, delay_s=30)
        for _ in range(4):
            assert client.search(size=0, preference="as-usual")["_shards"]["failed"] == 0
        assert not other.paths("_cluster.*preference")
        hung.mend()
        until(lambda: not any(host.preference for host in _hosts(client)))


def _hosts(client: Elasticsearch) -> list[Host]:
    return [host for host in client.transport.node_pool.all() if isinstance(host, Host)]


NODES = "_prefer_nodes:a,b"


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("/medline/_search", "/medline/_search?preference=_prefer_nodes%3Aa%2Cb"),
        ("/medline/_search?a=b&preference=x", "/medline/_search?a=b&preference=_prefer_nodes%3Aa%2Cb"),
        ("/_mget?realtime=false", "/_mget?realtime=false&preference=_prefer_nodes%3Aa%2Cb"),
        ("/medline/_termvectors/1", "/medline/_termvectors/1?preference=_prefer_nodes%3Aa%2Cb"),
        ("/medline/_bulk", "/medline/_bulk"),
        ("/medline/_settings", "/medline/_settings"),
    ],
)
def test_which_requests_prefer_nodes(target: str, expected: str) -> None:
    assert prefer(NODES, target, b"{}") == (expected, b"{}")


def test_each_of_several_searches_prefers_nodes() -> None:
    body = b'{"preference": "x", "a": 1}\n{"query": {"preference": "y"}}\n{}\n{}\n'
    target, changed = prefer(NODES, "/_msearch?b=1", body)
    assert target == "/_msearch?b=1"
    assert changed is not None
    assert [json.loads(line) for line in changed.splitlines()] == [
        {"preference": NODES, "a": 1},
        {"query": {"preference": "y"}},
        {"preference": NODES},
        {},
    ]
    assert changed.endswith(b"\n")


def test_a_host_that_is_slow_is_waited_for(elastic_url: str) -> None:
    with Proxy(elastic_url) as proxy, connect(parse_address(f"{elastic_url},{proxy.url}"), PATIENT) as client:
        proxy.fail("_cluster", times=10**6, delay_s=1.5)
        for _ in range(2):
            client.cluster.health()
        assert len(proxy.paths("_cluster")) == 1
        assert proxy.paths("GET /$")  # it was asked whether it is there


def test_a_host_that_answers_again_is_asked_again(elastic_url: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "bioqa")
    with Proxy(elastic_url) as proxy, connect(parse_address(f"{elastic_url},{proxy.url}"), PATIENT) as client:
        proxy.fail(times=10**6, drop=True)
        for _ in range(2):
            client.cluster.health()
        until(lambda: f"{proxy.url} does not answer" in caplog.text)
        before = len(proxy.paths("_cluster"))
        for _ in range(4):
            client.cluster.health()
        assert len(proxy.paths("_cluster")) == before
        proxy.mend()
        until(lambda: f"{proxy.url} answers again" in caplog.text)
        for _ in range(2):
            client.cluster.health()
        assert len(proxy.paths("_cluster")) == before + 1
        assert caplog.text.count("does not answer") == 1


def test_the_last_host_is_never_given_up(elastic_url: str) -> None:
    """Not if the other one is dead, however long it takes over everything."""
    with (
        dropping() as url,
        Proxy(elastic_url) as proxy,
        connect(parse_address(f"{url},{proxy.url}"), PATIENT) as client,
    ):
        proxy.fail(times=10**6, delay_s=1.5)
        assert client.cluster.health()["status"]


def test_when_all_are_dead_each_is_tried() -> None:
    with dropping() as one, dropping() as other:
        message = f"{one}, {other} cannot be reached: no connection in time"
        with pytest.raises(BioqaError, match=message):
            connect(parse_address(f"{one},{other}"), PATIENT)


def test_a_handshake_has_the_limit_of_connecting() -> None:
    with hanging() as url:
        host = Host(config(url.replace("http:", "https:")))
        with pytest.raises(ConnectionFailed, match="no handshake within"):
            host.perform_request("GET", "/", request_timeout=1000)
        host.close()


def test_requests_over_tls_are_broken_off(elastic_url: str) -> None:
    authority = trustme.CA()
    server, trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert("127.0.0.1").configure_cert(server)
    authority.configure_trust(trusting)
    with Proxy(elastic_url, tls=server) as proxy:
        host = Host(config(proxy.url, ssl_context=trusting))
        assert host.perform_request("GET", "/").meta.status == 200
        proxy.fail(delay_s=30)
        raised: list[Exception] = []

        def ask() -> None:
            try:
                host.perform_request("GET", "/", request_timeout=1000)
            except ConnectionFailed as error:
                raised.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        until(host.is_suspect)
        host.break_off()
        thread.join(20)
        assert len(raised) == 1
        host.close()


def test_a_watcher_ends_with_its_client(elastic_url: str) -> None:
    def watchers() -> int:
        return sum(thread.name == "elastic-hosts" for thread in threading.enumerate())

    until(lambda: watchers() == 0)
    with connect(parse_address(f"{elastic_url},http://127.0.0.1:1")):
        assert watchers() == 1
    until(lambda: watchers() == 0)


def test_an_only_host_needs_no_watcher(elastic_url: str) -> None:
    pool = Hosts([config(elastic_url)], node_class=Host)
    assert pool.get().connect_s == hosts.CONNECT_ALONE_S
    assert pool._watcher is None


def config(url: str, **options: Any) -> NodeConfig:
    scheme, host, port = url.replace("/", "").split(":")
    return NodeConfig(scheme, host, int(port), **options)


def until(happened: Callable[[], bool]) -> None:
    for _ in range(400):
        if happened():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen")
