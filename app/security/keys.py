"""API keys and their hashes, one line per key.

A key has 256 random bits, so that its plain SHA-256 reveals nothing: salts and slow hashes protect secrets
that can be guessed. A slow hash would only let strangers cause load.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import date

from bioqa.system.errors import BioqaError

PREFIX = "bioqa_"
"""Prefix by which scanners recognise leaked keys."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HASH = re.compile(r"sha256:([0-9a-f]{64})")
MOST_PER_MINUTE = 1_000_000
ADMIN = "admin"


class ApiKeyError(BioqaError):
    """A key or the file of keys is invalid."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is stored of a key: its hash, not the key itself."""

    name: str
    digest: bytes
    per_minute: int | None = None
    """Requests per minute; the service's limit if None."""
    burst: int | None = None
    """Requests at once; the service's limit if None."""
    expires: date | None = None
    """First day, in UTC, on which it is refused."""
    role: str | None = None
    """ADMIN for one that sees everybody's batches."""

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ApiKeyError(
                f"a key's name has 1 to 64 letters, digits, dots, dashes and underscores, not {self.name!r}"
            )
        for what in ("per_minute", "burst"):
            limit = getattr(self, what)
            if limit is not None and not 1 <= limit <= MOST_PER_MINUTE:
                raise ApiKeyError(f"{what} must be from 1 to {MOST_PER_MINUTE}, not {limit}")
        if self.role not in (None, ADMIN):
            raise ApiKeyError(f"role must be {ADMIN} if it is given")

    @property
    def is_admin(self) -> bool:
        return self.role == ADMIN

    def line(self) -> str:
        """Format the key as a line of the file."""
        parts = [self.name, f"sha256:{self.digest.hex()}"]
        parts += [f"{name}={value}" for name, value in self.limits().items()]
        return " ".join(parts)

    def limits(self) -> dict[str, int | date | str]:
        """Return the limits and the role that are set, by their names in the file."""
        given = {field.name: getattr(self, field.name) for field in fields(self)[2:]}
        return {name: value for name, value in given.items() if value is not None}


def new_secret() -> str:
    """Generate a key, to be shown once and stored nowhere."""
    return PREFIX + secrets.token_urlsafe(32)


def digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def find(keys: Iterable[ApiKey], secret: str, today: date) -> ApiKey | None:
    """Return the key of ``secret`` unless it has expired. Compares every key, each in constant time."""
    presented = digest(secret)
    match = None
    for key in keys:
        if hmac.compare_digest(key.digest, presented):
            match = key
    return None if match and match.expires and today >= match.expires else match


def parse(text: str, name: str) -> tuple[ApiKey, ...]:
    """Parse the keys of a file; empty lines and lines that begin with # are skipped.

    Raises ApiKeyError with file and line number, but not the line itself: it may contain a key by mistake.
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
    if unknown := given.keys() - {"per_minute", "burst", "expires", "role"}:
        raise ApiKeyError(f"has {len(unknown)} unknown words after the hash")
    try:
        expires = date.fromisoformat(given["expires"]) if "expires" in given else None
        limits = {what: int(given[what]) for what in ("per_minute", "burst") if what in given}
    except ValueError as error:
        raise ApiKeyError("per_minute and burst must be whole numbers, expires a day (YYYY-MM-DD)") from error
    return ApiKey(words[0], bytes.fromhex(hashed[1]), expires=expires, role=given.get("role"), **limits)
