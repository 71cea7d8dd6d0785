"""Rate limits: a token bucket for each key, or for each address where there are no keys."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bioqa.app.http.clients import client_of
from bioqa.app.http.errors import problem
from bioqa.app.security.keys import ApiKey

MOST_BUCKETS = 10_000
"""Limit of stored buckets: the least recently used is dropped, and will be full when it is used again."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Tokens added per minute, and the size of a bucket."""

    per_minute: int
    burst: int


@dataclass(frozen=True, slots=True)
class TokenResult:
    """The result of asking for a token."""

    allowed: bool
    remaining: int
    """Whole tokens left."""
    wait_s: float
    """Seconds until there is one more whole token."""


class TokenBuckets:
    def __init__(self, clock: Callable[[], float] = time.monotonic, most: int = MOST_BUCKETS) -> None:
        self._clock = clock
        self._most = most
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Tokens and the time of that count, for each client; the most recent client is last."""

    def take(self, who: str, rate: Rate) -> TokenResult:
        """Take a token from a client's bucket, if there is one."""
        now, per_s = self._clock(), rate.per_minute / 60
        level, since = self._levels.pop(who, (float(rate.burst), now))
        level = min(rate.burst, level + (now - since) * per_s)
        allowed = level >= 1
        level -= allowed
        self._levels[who] = level, now
        if len(self._levels) > self._most:
            self._levels.popitem(last=False)
        return TokenResult(allowed, int(level), max(0.0, (math.floor(level) + 1 - level) / per_s))

    def __len__(self) -> int:
        return len(self._levels)


class RateLimit:
    """Responds 429 above the rate. Every response says how much is left (IETF's RateLimit header fields)."""

    def __init__(
        self,
        app: ASGIApp,
        default: Rate | None,
        is_open: Callable[[str], bool],
        buckets: TokenBuckets | None = None,
    ) -> None:
        """``default`` applies to keys without a limit of their own; None: no limit."""
        self.app = app
        self.default = default
        self.is_open = is_open
        self.buckets = buckets or TokenBuckets()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self.is_open(scope["path"]):
            return await self.app(scope, receive, send)
        key: ApiKey | None = scope.get("state", {}).get("key")
        rate = _rate(key, self.default)
        if rate is None:
            return await self.app(scope, receive, send)
        taken = self.buckets.take(client_of(scope), rate)
        wait_s = math.ceil(taken.wait_s)
        limits = {
            "RateLimit-Policy": f'"requests";q={rate.per_minute};w=60',
            "RateLimit": f'"requests";r={taken.remaining};t={wait_s}',
        }
        if not taken.allowed:
            detail = f"more than {rate.per_minute} requests per minute; try again in {wait_s} s"
            refusal = problem(429, detail, headers={"Retry-After": str(wait_s), **limits})
            return await refusal(scope, receive, send)

        async def add_limits(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(limits)
            await send(message)

        return await self.app(scope, receive, add_limits)


def _rate(key: ApiKey | None, default: Rate | None) -> Rate | None:
    if key is None or (key.per_minute is None and key.burst is None):
        return default
    per_minute = key.per_minute or (default.per_minute if default else None)
    if per_minute is None:
        return None  # a burst alone limits nothing
    return Rate(per_minute, key.burst or (default.burst if default else per_minute))
