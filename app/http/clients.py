"""Who sends a request, as limits count clients: by key, or else by network."""

import ipaddress

from starlette.types import Scope


def client_of(scope: Scope) -> str:
    key = scope.get("state", {}).get("key")
    return f"key {key.name}" if key else f"address {network((scope.get('client') or ('unknown', 0))[0])}"


def network(host: str) -> str:
    """Return an address as it is; of IPv6 its /64 network, all of which one client can use."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(address.ipv4_mapped or ipaddress.ip_network((int(address) >> 64 << 64, 64)))
