"""Which names in a Host header mean this server."""

import pytest

from bioqa.app.security.hosts import HostsError, is_allowed, parse_hosts


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:8000",
        "a.localhost",
        "127.0.0.1",
        "127.1.2.3:80",
        "[::1]:8000",
        "10.0.0.7:8000",
        "[fe80::1]",
    ],
)
def test_addresses_and_names_of_this_machine_are_always_allowed(host: str) -> None:
    assert is_allowed(host, ())


@pytest.mark.parametrize(
    "host", ["", "evil.test", "evil.test:8000", "localhost.evil.test", "127.0.0.1.evil.test", "[", "a b"]
)
def test_other_names_are_not(host: str) -> None:
    assert not is_allowed(host, parse_hosts("bioqa.example.org"))
    assert is_allowed("any.test", {"*"})


def test_names_are_allowed_one_by_one_or_by_their_domain() -> None:
    allowed = parse_hosts(" Bioqa.example.org, *.lab.test ,")
    assert allowed == {"bioqa.example.org", "*.lab.test"}
    for host in ("bioqa.example.org", "BIOQA.example.org.:443", "a.lab.test", "a.b.lab.test:1"):
        assert is_allowed(host, allowed)
    for host in ("lab.test", "xlab.test", "other.example.org"):
        assert not is_allowed(host, allowed)


@pytest.mark.parametrize("text", ["https://a.test", "a.test:80", "a.test/path", "a b", "a.*.test"])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(HostsError, match="BIOQA_ALLOWED_HOSTS"):
        parse_hosts(text)
