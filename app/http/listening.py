"""Listening sockets, bound before anything slow is started."""

import errno
import socket
from contextlib import ExitStack

from bioqa.system.errors import BioqaError


class CannotListen(BioqaError):
    """The address cannot be listened on; the text says why and what to do."""


_ADVICE = {
    errno.EADDRINUSE: "another program listens there: stop it, or choose a port with --port or BIOQA_PORT",
    errno.EADDRNOTAVAIL: "not an address of this machine: choose one with --host or BIOQA_HOST",
    errno.EACCES: "not permitted: choose a port from 1024 on with --port or BIOQA_PORT",
}


def cannot_listen(host: str, port: int, error: OSError) -> CannotListen:
    reason = _ADVICE.get(error.errno or 0, error.strerror or str(error))
    return CannotListen(f"cannot listen on {_show(host, port)}: {reason}")


def listen(host: str, port: int) -> list[socket.socket]:
    """Bind a socket for each address of the host; port 0 means any free port. Raises CannotListen."""
    try:
        addresses = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:  # UnicodeError: the name is too long
        reason = error.strerror if isinstance(error, OSError) else str(error)
        advice = f"no such host ({reason}): choose one with --host or BIOQA_HOST"
        raise CannotListen(f"cannot listen on {_show(host, port)}: {advice}") from error
    with ExitStack() as stack:
        sockets: list[socket.socket] = []
        unusable: OSError | None = None
        for family, kind, protocol, _, address in dict.fromkeys(addresses):
            try:
                bound = stack.enter_context(socket.socket(family, kind, protocol))
            except OSError as error:  # this machine lacks the address family, such as IPv6
                unusable = error
                continue
            # Otherwise connections of a service that has just ended would block the port for a minute.
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                bound.bind(address)
            except OSError as error:
                if error.errno != errno.EADDRNOTAVAIL:
                    raise cannot_listen(host, port, error) from error
                # Another address of the host may belong to this machine.
                bound.close()
                unusable = error
                continue
            sockets.append(bound)
        if not sockets:
            raise cannot_listen(host, port, unusable or OSError("it has no address")) from unusable
        stack.pop_all()
        return sockets


def _show(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
