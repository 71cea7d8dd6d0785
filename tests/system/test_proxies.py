"""Which proxy the environment names for a URL."""

import pytest

from bioqa.system.errors import BioqaError
from bioqa.system.proxies import hide_secret, is_http, is_local, proxy_of

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.mark.parametrize(
    ("variables", "proxy"),
    [
        ({}, None),
        ({"HTTPS_PROXY": "http://proxy:3128"}, "http://proxy:3128"),
        ({"https_proxy": "proxy:3128"}, "http://proxy:3128"),
        ({"HTTPS_PROXY": "ada:s3cret@proxy"}, "http://ada:s3cret@proxy"),
        ({"ALL_PROXY": "socks5://proxy:1080"}, "socks5://proxy:1080"),
        ({"ALL_PROXY": "socks5://proxy:1080", "HTTPS_PROXY": "http://proxy:3128"}, "http://proxy:3128"),
        ({"HTTP_PROXY": "http://proxy:3128"}, None),
        ({"HTTPS_PROXY": "proxy:3128", "NO_PROXY": "other.test, site.test"}, None),
        ({"HTTPS_PROXY": "proxy:3128", "NO_PROXY": ".test"}, None),
        ({"HTTPS_PROXY": "proxy:3128", "NO_PROXY": "*"}, None),
        ({"HTTPS_PROXY": "proxy:3128", "NO_PROXY": "site.test:8443"}, "http://proxy:3128"),
        ({"HTTPS_PROXY": "proxy:3128", "NO_PROXY": "xsite.test"}, "http://proxy:3128"),
        ({"HTTPS_PROXY": ""}, None),
    ],
)
def test_the_proxy_of_a_site(
    variables: dict[str, str], proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert proxy_of("https://site.test/pubmed/") == proxy


def test_no_proxy_may_name_a_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "proxy:3128")
    monkeypatch.setenv("NO_PROXY", "site.test:8443")
    assert proxy_of("https://site.test:8443/pubmed/") is None
    assert proxy_of("https://site.test:8444/pubmed/") == "http://proxy:3128"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "[::1]", "a.localhost"])
def test_this_machine_has_none(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "proxy:3128")
    assert proxy_of(f"http://{host}:8000") is None


@pytest.mark.parametrize("proxy", ["http://", ":", "http://[", "proxy:port", "ada:s3cret@"])
def test_what_is_no_address_is_named_without_password(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with pytest.raises(BioqaError, match=r"^HTTPS_PROXY or ALL_PROXY holds .* no proxy's address") as caught:
        proxy_of("https://site.test/")
    assert "s3cret" not in str(caught.value)


def test_a_proxy_is_shown_without_password() -> None:
    assert hide_secret("http://ada:s3cret@proxy:3128") == "http://proxy:3128"
    assert hide_secret("ada:s3cret@proxy:3128") == "proxy:3128"
    assert hide_secret("http://proxy") == "http://proxy"


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "::1"])
def test_names_of_this_machine_are_local(name: str) -> None:
    assert is_local(name)


@pytest.mark.parametrize("name", ["", "0.0.0.0", "10.0.0.7", "a.test", "localhost.a.test"])
def test_others_are_not(name: str) -> None:
    assert not is_local(name)


@pytest.mark.parametrize(
    ("url", "http"),
    [
        ("http://host", True),
        ("https://[::1]:8000/path?query", True),
        ("ftp://host", False),
        ("http://", False),
        ("host:8000", False),
        ("http://host:0", False),
        ("http://host:x", False),
        ("http://[::1", False),
    ],
)
def test_what_speaks_http(url: str, http: bool) -> None:
    assert is_http(url) is http
