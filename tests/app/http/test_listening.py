"""Sockets are bound before anything else, and what cannot be listened at is told with what to do."""

import errno
import socket
from contextlib import ExitStack
from typing import Any

import pytest

from bioqa.app.http.listening import CannotListen, listen


def bound(host: str, port: int) -> list[tuple[Any, ...]]:
    with ExitStack() as stack:
        return [stack.enter_context(each).getsockname() for each in listen(host, port)]


def test_a_free_port_is_bound_and_not_listened_at_yet() -> None:
    (listening,) = listen("127.0.0.1", 0)
    with listening, socket.socket() as client:
        assert client.connect_ex(listening.getsockname()) == errno.ECONNREFUSED


def test_a_host_of_several_addresses_is_listened_at_on_each(monkeypatch: pytest.MonkeyPatch) -> None:
    def addresses(*_: object, **__: object) -> list[tuple[Any, ...]]:
        hosts = ("127.0.0.1", "127.0.0.2", "127.0.0.1", "192.0.2.1")  # the last is nobody's
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, 0)) for host in hosts]

    monkeypatch.setattr(socket, "getaddrinfo", addresses)
    assert [address[0] for address in bound("several", 0)] == ["127.0.0.1", "127.0.0.2"]


def test_a_port_that_is_taken_is_named_with_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        words = rf"127\.0\.0\.1:{port}: another program .* --port or BIOQA_PORT"
        with pytest.raises(CannotListen, match=words):
            listen("127.0.0.1", port)
    assert bound("127.0.0.1", port)[0][1] == port, "nothing of the attempt is left"


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("192.0.2.1", r"192\.0\.2\.1:8000: not an address of this machine: .*--host or BIOQA_HOST"),
        ("no such host", r"no such host:8000: no such host \(.*--host"),
        ("x" * 70, r"x:8000: no such host"),
    ],
)
def test_a_host_that_is_none_of_ours(host: str, words: str) -> None:
    with pytest.raises(CannotListen, match=words):
        listen(host, 8000)


def test_a_port_that_needs_rights(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: socket.socket, address: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket.socket, "bind", refuse)
    with pytest.raises(CannotListen, match=r"127\.0\.0\.1:80: not permitted: .*1024"):
        listen("127.0.0.1", 80)
