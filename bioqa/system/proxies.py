"""URLs of servers, and the proxies that the environment names for them, read the same way wherever this
program asks another one."""

from ipaddress import ip_address
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from bioqa.system.errors import BioqaError

SCHEMES = ("http", "https")
"""What proxies speak that need no further package."""


def proxy_of(url: str) -> str | None:
    """The URL of the proxy that ``HTTP_PROXY``, ``HTTPS_PROXY`` or ``ALL_PROXY`` names for this one.

    None for this machine, and for hosts in ``NO_PROXY``. As curl does, a proxy without scheme (``host:3128``)
    is taken for one of HTTP. Raises BioqaError for what is no proxy's address, without showing a password.
    """
    parts = urlsplit(url)
    name = parts.hostname or ""
    if is_local(name) or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = getproxies()
    setting = proxies.get(parts.scheme) or proxies.get("all")
    if not setting:
        return None
    proxy = setting if "://" in setting else f"http://{setting}"
    try:
        usable = bool(urlsplit(proxy).hostname) and urlsplit(proxy).port != 0
    except ValueError:
        usable = False
    if not usable:
        raise BioqaError(
            f"{parts.scheme.upper()}_PROXY or ALL_PROXY holds {hide_secret(setting)!r}, which is no proxy's "
            "address: http://host:3128 is expected; NO_PROXY names hosts that are asked directly"
        )
    return proxy


def is_http(url: str) -> bool:
    """Whether this is the URL of a server that speaks HTTP, or HTTPS."""
    try:
        parts = urlsplit(url)
        return parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def hide_secret(proxy: str) -> str:
    """A proxy's address without user and password."""
    scheme, separator, rest = proxy.rpartition("://")
    return scheme + separator + rest.rpartition("@")[2]


def is_local(name: str) -> bool:
    """Whether a host's name or address means this machine."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
