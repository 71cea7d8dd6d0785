"""Reaching Elasticsearch: credentials, TLS, and readable messages for what goes wrong."""

import logging
import socket
import ssl
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.elastic.address import Access, IndexAddress, parse_address
from bioqa.indexer.search.elastic.connection import WrongServer, connect, engine_errors
from bioqa.indexer.search.elastic.index import ElasticIndex
from bioqa.system.errors import BioqaError
from bioqa.system.secret import Secret
from tests.indexer.documents import document
from tests.proxies import FakeEngine, Garbling, Proxy, api_key, basic

KEY = "S3cretKeyOfAnIndex"
PASSWORD = "s3cret-p4ssword"


@pytest.fixture(autouse=True)
def no_secret_in_logs(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Whatever a test does, nothing that is logged, at any level, may show a secret."""
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "elastic_transport")
    yield
    encoded = basic("ada", PASSWORD).split()[1]
    for secret in (KEY, PASSWORD, encoded):
        assert secret not in caplog.text


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def refusal(url: str, access: Access | None = None) -> str:
    with pytest.raises(BioqaError) as raised:
        connect(parse_address(url), access or Access(timeout_s=5))
    message = str(raised.value)
    assert KEY not in message
    assert PASSWORD not in message
    for noise in ("object at 0x", "Traceback", "HTTPConnection", "Errno"):
        assert noise not in message
    return message


# Servers that are not there, or not the right ones


def test_a_server_that_is_not_there(free_port: int) -> None:
    url = f"http://127.0.0.1:{free_port}"
    assert f"Elasticsearch at {url} cannot be reached" in refusal(url)


def test_a_host_without_address() -> None:
    assert "cannot be reached" in refusal("http://localhost.invalid:9200")


@pytest.mark.parametrize("version", ["8.19.3", "7.17.0", "10.0.0"])
def test_another_major_version(version: str) -> None:
    with FakeEngine(version) as server:
        message = refusal(server.url)
        assert message.startswith(f"{server.url} is ")
        assert message.endswith("this bioqa needs Elasticsearch 9 (the major version decides)")
        with pytest.raises(WrongServer):
            connect(parse_address(server.url))


def test_an_engine_that_is_no_elasticsearch() -> None:
    with FakeEngine("2.19.0", product=False, distribution="opensearch") as server:
        message = refusal(server.url)
    assert message.startswith(f"{server.url} is no Elasticsearch")
    assert message.endswith("this bioqa needs Elasticsearch 9 (the major version decides)")


def test_the_right_version_is_taken() -> None:
    with FakeEngine("9.0.1") as server:
        connect(parse_address(server.url)).close()


def test_a_server_that_is_no_search_engine_at_all() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        begun = time.monotonic()
        assert refusal(url, Access(timeout_s=0.5)) == f"Elasticsearch at {url} did not answer in time"
        assert time.monotonic() - begun < 5


# Credentials


@pytest.fixture
def guarded(elastic_url: str) -> Iterator[Proxy]:
    """A server that asks for credentials: a key and a user that may do everything, a user that may only read
    what the server says of itself."""
    allowed = dict.fromkeys([api_key(KEY), basic("ada", PASSWORD), basic("ada", "pässwört")], "")
    allowed |= {basic("eve", PASSWORD): "^GET /$"}
    with Proxy(elastic_url, allowed=allowed) as proxy:
        yield proxy


@pytest.mark.parametrize(
    ("access", "sent"),
    [
        (Access(api_key=Secret(KEY)), api_key(KEY)),
        (Access(user="ada", password=Secret(PASSWORD)), basic("ada", PASSWORD)),
        (Access(user="ada", password=Secret("pässwört")), basic("ada", "pässwört")),
        (Access(api_key=Secret(KEY), user="eve", password=Secret("wrong")), api_key(KEY)),
    ],
    ids=["key", "user", "not ascii", "both"],
)
def test_credentials_are_sent_with_every_request(
    guarded: Proxy, elastic_name: str, access: Access, sent: str
) -> None:
    where = IndexAddress((guarded.url,), elastic_name)
    with ElasticIndex.create(connect(where, access), where) as index:
        round_trip(index)
    assert len(guarded.seen) > 5
    assert {seen.authorization for seen in guarded.seen} == {sent}


def round_trip(index: SearchIndex) -> None:
    index.apply([Upsert(document(1, "Insulin."))])
    index.commit()
    assert [c.document.pmid for c in index.search("insulin")] == ["1"]


@pytest.mark.parametrize(
    "access",
    [
        Access(),
        Access(api_key=Secret("Other")),
        Access(user="ada", password=Secret("other")),
        Access(user="bob", password=Secret(KEY)),
    ],
)
def test_refused_credentials(guarded: Proxy, access: Access) -> None:
    assert refusal(guarded.url, access) == (
        f"Elasticsearch at {guarded.url} refuses the credentials (401): "
        "check BIOQA_ELASTIC_API_KEY, or BIOQA_ELASTIC_USER and BIOQA_ELASTIC_PASSWORD"
    )
    assert len(guarded.seen) == 1  # nothing is gained by trying again, but a locked account


def test_credentials_that_do_not_allow_it(guarded: Proxy, elastic_name: str) -> None:
    where = IndexAddress((guarded.url,), elastic_name)
    with connect(where, Access(user="eve", password=Secret(PASSWORD))) as client:
        with pytest.raises(BioqaError, match=r"do not allow it at .* \(403\): action") as raised:
            ElasticIndex.create(client, where)
        with pytest.raises(BioqaError, match="do not allow it"):
            ElasticIndex.open(client, where)
    assert PASSWORD not in str(raised.value)


def test_a_password_in_any_letters(elastic_url: str) -> None:
    allowed = {basic("ädä", "pässwort–"): ""}
    with Proxy(elastic_url, allowed=allowed) as proxy:
        connect(parse_address(proxy.url), Access(user="ädä", password=Secret("pässwort–"))).close()
        assert len(proxy.seen) == 1


@pytest.mark.parametrize("key", [KEY + "\n", KEY + "\r", f"{KEY}–"])
def test_a_key_that_no_header_can_hold_is_not_shown(elastic_url: str, key: str) -> None:
    """The settings refuse it; the client's own error quotes it."""
    with pytest.raises(BioqaError) as raised:
        connect(parse_address(elastic_url), Access(api_key=Secret(key)))
    shown = "".join(traceback.format_exception(raised.value, limit=0))
    assert KEY not in shown


# TLS


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def ca_file(authority: trustme.CA, tmp_path: Path) -> Path:
    path = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return path


@pytest.fixture
def encrypted(elastic_url: str, authority: trustme.CA) -> Iterator[Proxy]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with Proxy(elastic_url, allowed={api_key(KEY): ""}, tls=context) as proxy:
        yield proxy


def test_tls_with_the_right_authority(encrypted: Proxy, ca_file: Path, elastic_name: str) -> None:
    assert encrypted.url.startswith("https://")
    where = parse_address(f"{encrypted.url}/{elastic_name}")
    with ElasticIndex.create(connect(where, Access(api_key=Secret(KEY), ca_file=ca_file)), where) as index:
        round_trip(index)


def test_tls_with_another_authority(encrypted: Proxy, tmp_path: Path) -> None:
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    for access in (Access(api_key=Secret(KEY), ca_file=other), Access(api_key=Secret(KEY))):
        message = refusal(encrypted.url, access)
        assert f"no trusted TLS connection to {encrypted.url}" in message
        assert "BIOQA_ELASTIC_CA_FILE" in message
    assert encrypted.seen == []  # the key was not given away


def test_tls_for_another_host(elastic_url: str, authority: trustme.CA, ca_file: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("search.example").configure_cert(context)
    with Proxy(elastic_url, tls=context) as proxy:
        assert "no trusted TLS connection" in refusal(proxy.url, Access(ca_file=ca_file))
        assert proxy.seen == []


@pytest.mark.parametrize("content", [None, "", "-----BEGIN CERTIFICATE-----\nnonsense\n"])
def test_a_ca_file_that_cannot_be_used(content: str | None, tmp_path: Path) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    message = refusal("https://127.0.0.1:1", Access(ca_file=path))
    assert message.startswith(f"cannot use the certificates in {path}: ")


def test_tls_spoken_to_a_server_without(elastic_url: str) -> None:
    refused = refusal(elastic_url.replace("http:", "https:"))
    assert "no trusted TLS connection" in refused


# Several hosts, time-outs, passing faults


@pytest.mark.parametrize("dead", [0, 1])
def test_one_of_two_hosts_is_dead(elastic_url: str, elastic_name: str, free_port: int, dead: int) -> None:
    hosts = [elastic_url]
    hosts.insert(dead, f"http://127.0.0.1:{free_port}")
    where = parse_address(f"{','.join(hosts)}/{elastic_name}")
    with ElasticIndex.create(connect(where, Access(timeout_s=5)), where) as index:
        round_trip(index)
        for _ in range(4):
            assert len(index.search("insulin")) == 1


def test_all_hosts_are_dead(free_port: int) -> None:
    message = refusal(f"http://127.0.0.1:{free_port},http://127.0.0.1:1/pool")
    assert f"http://127.0.0.1:{free_port}, http://127.0.0.1:1 cannot be reached" in message


@pytest.fixture
def failing(elastic_url: str) -> Iterator[Proxy]:
    """A server that can be made to fail."""
    with Proxy(elastic_url) as proxy:
        yield proxy


@pytest.fixture
def index(failing: Proxy, elastic_name: str) -> Iterator[ElasticIndex]:
    """An index behind ``failing``, with a document about insulin; a question may take half a second."""
    where = IndexAddress((failing.url,), elastic_name)
    with ElasticIndex.create(connect(where, Access(timeout_s=10)), where) as made:
        round_trip(made)
    with ElasticIndex.open(connect(where, Access(timeout_s=0.5)), where) as opened:
        yield opened


def test_a_question_that_takes_too_long(failing: Proxy, index: ElasticIndex) -> None:
    failing.fail("_search", times=9, delay_s=2)
    asked = len(failing.paths("_search"))
    with pytest.raises(BioqaError, match=f"^Elasticsearch at {failing.url} did not answer in time$"):
        index.search("insulin")
    assert len(failing.paths("_search")) == asked + 1
    failing.mend()
    assert len(index.search("insulin")) == 1


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_passing_fault_is_tried_again(failing: Proxy, index: ElasticIndex, status: int) -> None:
    failing.fail("_search", times=2, status=status)
    assert len(index.search("insulin")) == 1
    failing.fail("_search", drop=True)
    assert len(index.search("insulin")) == 1


@pytest.mark.parametrize(
    ("status", "words"), [(429, "is overloaded"), (503, "refuses (503"), (500, "refuses (500")]
)
def test_a_lasting_fault_is_told(failing: Proxy, index: ElasticIndex, status: int, words: str) -> None:
    failing.fail("_search", times=99, status=status)
    for ask in (index.search, lambda question: index.search_many([question]), lambda _: index.get(["1"])):
        failing.fail("_m?search|_mget", times=99, status=status)
        with pytest.raises(BioqaError) as raised:
            ask("insulin")
        assert words in str(raised.value)
    failing.mend()
    assert len(index.search("insulin")) == 1


def test_a_connection_that_breaks(failing: Proxy, index: ElasticIndex) -> None:
    failing.fail(times=99, drop=True)
    with pytest.raises(BioqaError, match=f"^Elasticsearch at {failing.url} cannot be reached: "):
        index.search("insulin")
    failing.mend()
    assert len(index.search("insulin")) == 1


# Answers that are none


@pytest.fixture
def garbling(elastic_url: str) -> Iterator[Garbling]:
    with Garbling(elastic_url) as proxy:
        yield proxy


@pytest.fixture
def garbled(garbling: Garbling, elastic_name: str) -> Iterator[ElasticIndex]:
    where = IndexAddress((garbling.url,), elastic_name)
    with ElasticIndex.create(connect(where), where, patience_s=0.1) as made:
        round_trip(made)
        yield made


ASKED: dict[str, Callable[[ElasticIndex], object]] = {
    "/_search": lambda index: index.search("insulin"),
    "_msearch": lambda index: index.search_many(["insulin"]),
    "_mget": lambda index: index.get(["1"]),
    "_stats": lambda index: index.stats(),
    "_alias": lambda index: index.stats(),
    "_bulk": lambda index: index.apply([Upsert(document(2))]),
    "GET /[^/]*$": lambda index: ElasticIndex.open(index.client, index.address),
    "_settings": lambda index: index.commit(),
    "_refresh": lambda index: index.commit(),
}


@pytest.mark.parametrize("path", ASKED)
@pytest.mark.parametrize(
    "change",
    [
        lambda answer: b"<html>log in</html>",
        lambda answer: b"",
        lambda answer: {},
        lambda answer: [],
        lambda answer: dict.fromkeys(answer),
        lambda answer: dict.fromkeys(answer, "x"),
        lambda answer: {key: {} for key in answer},
    ],
    ids=["page", "empty", "object", "list", "nulls", "strings", "objects"],
)
def test_an_answer_that_cannot_be_read(
    garbling: Garbling, garbled: ElasticIndex, path: str, change: Callable[[Any], Any]
) -> None:
    if path == "_alias" and change({"index": 1}):
        pytest.skip("only the names in it are read")
    garbling.pattern, garbling.change = path, change
    with pytest.raises(BioqaError, match=r"cannot be read|is none of|sent a|stands for|gave up"):
        ASKED[path](garbled)


@pytest.mark.parametrize("missing", ["_source", "_index", "_score"])
@pytest.mark.parametrize("path", ["/_search", "_msearch"])
def test_a_document_that_lacks_something(
    garbling: Garbling, garbled: ElasticIndex, path: str, missing: str
) -> None:
    def change(answer: Any) -> Any:
        for each in answer.get("responses", [answer]):
            del each["hits"]["hits"][0][missing]
        return answer

    garbling.pattern, garbling.change = path, change
    with pytest.raises(BioqaError, match="none of Elasticsearch's, or is damaged"):
        ASKED[path](garbled)


@pytest.mark.parametrize(
    "fields", [{"title": 7}, {"parts": [1, -1, 1]}, {"published": "soon"}, {"pmid": None}]
)
def test_a_document_that_is_damaged(
    garbling: Garbling, garbled: ElasticIndex, fields: dict[str, Any]
) -> None:
    def change(answer: Any) -> Any:
        for hit in answer["docs"]:
            hit["_source"] |= fields
        return answer

    garbling.pattern, garbling.change = "_mget", change
    with pytest.raises(BioqaError, match="none of Elasticsearch's, or is damaged"):
        garbled.get(["1"])


@pytest.mark.parametrize("path", ["/_search", "_msearch"])
@pytest.mark.parametrize(
    "partial", [{"timed_out": True}, {"terminated_early": True}, {"_shards": {"total": 2, "failed": 1}}]
)
def test_a_partial_answer_is_none(
    garbling: Garbling, garbled: ElasticIndex, path: str, partial: dict[str, Any]
) -> None:
    def change(answer: Any) -> Any:
        if "responses" in answer:
            return answer | {"responses": [each | partial for each in answer["responses"]]}
        return answer | partial

    garbling.pattern, garbling.change = path, change
    asks = (ASKED[path], ASKED["_stats"]) if path == "/_search" else (ASKED[path],)
    for ask in asks:
        with pytest.raises(BioqaError, match="sent a partial answer, which is not used"):
            ask(garbled)


def test_a_missing_index(elastic_url: str, elastic_name: str) -> None:
    where = parse_address(f"{elastic_url}/{elastic_name}")
    with (
        connect(where) as client,
        pytest.raises(BioqaError, match=f"^no index {elastic_name} at {elastic_url}$"),
    ):
        ElasticIndex.open(client, where)


def test_other_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError), engine_errors(parse_address("http://host/pool")):
        raise ZeroDivisionError
