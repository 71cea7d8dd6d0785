"""Addresses of indices: their URLs, and credentials that are never shown."""

from pathlib import Path

import pytest

from bioqa.indexer.search.elastic.address import Access, IndexAddress, folder_path, is_url, parse_address
from bioqa.system.errors import BioqaError
from bioqa.system.secret import Secret

KEY = "S3cretKeyOfAnIndex"


PASSWORD = "s3cret-p4ssword"


@pytest.mark.parametrize(
    ("url", "hosts", "name"),
    [
        ("http://localhost", ("http://localhost:9200",), "medline"),
        ("http://localhost/", ("http://localhost:9200",), "medline"),
        ("http://localhost/pool/", ("http://localhost:9200",), "pool"),
        ("https://search.example/es/medline//", ("https://search.example:443/es",), "medline"),
        ("http://a:1/,http://b:2/pool/", ("http://a:1", "http://b:2"), "pool"),
        ("http://localhost:9200/pool", ("http://localhost:9200",), "pool"),
        ("https://search.example", ("https://search.example:443",), "medline"),
        ("https://search.example/medline-2026", ("https://search.example:443",), "medline-2026"),
        ("https://search.example/es/medline", ("https://search.example:443/es",), "medline"),
        ("http://[::1]:9201/pool", ("http://[::1]:9201",), "pool"),
        ("http://a:1,http://b:2/pool", ("http://a:1", "http://b:2"), "pool"),
        ("http://a , http://b , http://c:7", ("http://a:9200", "http://b:9200", "http://c:7"), "medline"),
    ],
)
def test_a_url_names_hosts_and_an_index(url: str, hosts: tuple[str, ...], name: str) -> None:
    assert parse_address(url) == IndexAddress(hosts, name)


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("http://:9200/pool", "not the URL of an index"),
        ("http://", "not the URL of an index"),
        ("ftp://host/pool", "not the URL of an index"),
        ("http://host/pool?q=1", "not the URL of an index"),
        ("http://host/pool#x", "not the URL of an index"),
        ("http://host:port/pool", "http://host:port/pool"),
        ("http://host:99999/pool", "http://host:99999/pool"),
        ("http://host/Pool", "'Pool' cannot be the name of an index"),
        ("http://host/_all", "'_all' cannot be the name of an index"),
        ("http://host/a*", r"'a\*' cannot be the name of an index"),
        ("http://host/-x", "'-x' cannot be the name of an index"),
        ("http://a/pool,http://b/pool", "must follow the last host only"),
        ("http://a,b/pool", "b/pool is not the URL of an index"),
        ("http://[::1/pool", r"http://\[::1/pool"),
    ],
)
def test_a_malformed_url_is_refused_by_name(url: str, complaint: str) -> None:
    with pytest.raises(BioqaError, match=complaint):
        parse_address(url)


@pytest.mark.parametrize(
    "url",
    [
        f"http://ada:{PASSWORD}@host/pool",
        f"http://a,https://ada:{PASSWORD}@b/pool",
        f"http://{KEY}@host/pool",
        f"http://ada:{PASSWORD}@host:port/pool",
        f"http://ada:{PASSWORD}@[::1/pool",
    ],
)
def test_credentials_in_a_url_are_refused_and_not_shown(url: str) -> None:
    with pytest.raises(BioqaError) as raised:
        parse_address(url)
    assert PASSWORD not in str(raised.value)
    assert KEY not in str(raised.value)
    assert "BIOQA_ELASTIC_PASSWORD" in str(raised.value)


def test_urls_are_told_from_folders() -> None:
    assert is_url("http://host/pool")
    assert is_url("https://host")
    assert not is_url("data/http")
    assert not is_url("/srv/pool")


@pytest.mark.parametrize(
    "where",
    [
        "localhost:9200/medline",
        "localhost:9200",
        "es:9200/x",
        "[::1]:9200/x",
        "es-1.example.org:443/x",
        "HTTP://localhost:9200/m",
        "Https://host/m",
        "http:/localhost/m",
        "file:///srv/index",
        "s3://bucket/index",
    ],
)
def test_what_only_looks_like_a_url_is_no_folder(where: str) -> None:
    with pytest.raises(BioqaError, match="neither a folder nor the URL of an index: http://host:9200/name"):
        is_url(where)


@pytest.mark.parametrize(
    "where", ["./localhost:9200/medline", "/srv/a:1/x", "a:b/c", "c:x", "2026", "~/x", "."]
)
def test_folders_of_odd_names(where: str) -> None:
    assert not is_url(where)


def test_a_password_before_a_host_is_not_shown() -> None:
    with pytest.raises(BioqaError) as raised:
        is_url(f"ada:{PASSWORD}@es:9200/x")
    assert PASSWORD not in str(raised.value)


def test_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folder_path("~/index") == tmp_path / "index"
    assert folder_path("./~x") == Path("./~x")


def test_secrets_are_not_in_the_representation() -> None:
    shown = repr(Access(api_key=Secret(KEY), user="ada", password=Secret(PASSWORD)))
    assert KEY not in shown
    assert PASSWORD not in shown
