"""API keys, and the file that holds their hashes, one line a key.

A key is 256 random bits. So its plain SHA-256 gives nothing away: salts and slow hashes guard secrets that
can be guessed, and no dictionary holds this one. A slow hash would only let strangers keep us busy.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import date

from bioqa.bioasq.errors import BioqaError

PREFIX = "bioqa_"
"""So that programs that look for leaked secrets know one."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HASH = re.compile(r"sha256:([0-9a-f]{64})")
MOST_PER_MINUTE = 1_000_000


class ApiKeyError(BioqaError):
    """A key, or the file of keys, cannot be used."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is known of a key: not the key itself."""

    name: str
    digest: bytes
    per_minute: int | None = None
    """Requests a minute; the service's own limit if None."""
    burst: int | None = None
    """Requests at once; the service's own limit if None."""
    expires: date | None = None
    """It lets no one in from the beginning of that day on, in UTC."""

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ApiKeyError(
                f"a key's name has 1 to 64 letters, digits, dots, dashes and underscores, not {self.name!r}"
            )
        for what in ("per_minute", "burst"):
            limit = getattr(self, what)
            if limit is not None and not 1 <= limit <= MOST_PER_MINUTE:
                raise ApiKeyError(f"{what} must be from 1 to {MOST_PER_MINUTE}, not {limit}")

    def line(self) -> str:
        """As the file holds it."""
        parts = [self.name, f"sha256:{self.digest.hex()}"]
        parts += [f"{name}={value}" for name, value in self.limits().items()]
        return " ".join(parts)

    def limits(self) -> dict[str, int | date]:
        """Those that are set, in the file's words."""
        given = {field.name: getattr(self, field.name) for field in fields(self)[2:]}
        return {name: value for name, value in given.items() if value is not None}


def new_secret() -> str:
    """A key, to be shown once and kept nowhere."""
    return PREFIX + secrets.token_urlsafe(32)


def digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def find(keys: Iterable[ApiKey], secret: str, today: date) -> ApiKey | None:
    """The key that ``secret`` is, unless it has expired. Every key is compared, each in constant time."""
    presented = digest(secret)
    found = None
    for key in keys:
        if hmac.compare_digest(key.digest, presented):
            found = key
    return None if found and found.expires and today >= found.expires else found


def parse(text: str, name: str) -> tuple[ApiKey, ...]:
    """The keys of a file; empty lines and those that begin with # are passed over.

    Raises ApiKeyError, naming file and line, and showing nothing of the line: it may hold a key by mistake.
    """
    keys: dict[str, ApiKey] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            key = _parse_line(line.split())
        except ApiKeyError as error:
            raise ApiKeyError(f"{name}: line {number}: {error}") from error
        if key.name in keys:
            raise ApiKeyError(f"{name}: line {number}: an earlier line has the same name, {key.name}")
        keys[key.name] = key
    return tuple(keys.values())


def _parse_line(words: list[str]) -> ApiKey:
    if not NAME.fullmatch(words[0]):
        raise ApiKeyError("does not begin with a name")
    hashed = _HASH.fullmatch(words[1]) if len(words) > 1 else None
    if hashed is None:
        raise ApiKeyError("the name is not followed by sha256: and 64 hexadecimal digits")
    given = dict(word.partition("=")[::2] for word in words[2:])
    if unknown := given.keys() - {"per_minute", "burst", "expires"}:
        raise ApiKeyError(f"has {len(unknown)} unknown words behind the hash")
    try:
        expires = date.fromisoformat(given["expires"]) if "expires" in given else None
        limits = {what: int(given[what]) for what in ("per_minute", "burst") if what in given}
    except ValueError as error:
        raise ApiKeyError("per_minute and burst must be whole numbers, expires a day (YYYY-MM-DD)") from error
    return ApiKey(words[0], bytes.fromhex(hashed[1]), expires=expires, **limits)
