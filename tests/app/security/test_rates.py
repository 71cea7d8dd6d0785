"""Token buckets, by a clock that the test turns."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Receive, Scope, Send

from bioqa.app.security.rates import Rate, RateLimit, TokenBuckets, TokenResult


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_goes_through_then_one_a_second() -> None:
    clock = Clock()
    buckets, rate = TokenBuckets(clock), Rate(per_minute=60, burst=3)
    assert [buckets.take("a", rate) for _ in range(4)] == [
        TokenResult(True, 2, 1.0),
        TokenResult(True, 1, 1.0),
        TokenResult(True, 0, 1.0),
        TokenResult(False, 0, 1.0),
    ]
    assert buckets.take("b", rate).allowed, "others have their own"
    clock.now += 0.75
    assert buckets.take("a", rate) == TokenResult(False, 0, 0.25)
    clock.now += 0.25
    assert buckets.take("a", rate) == TokenResult(True, 0, 1.0)
    clock.now += 3600
    assert [buckets.take("a", rate).remaining for _ in range(2)] == [2, 1]


@given(
    st.integers(1, 600),
    st.integers(1, 50),
    st.lists(st.floats(0, 30, allow_nan=False), min_size=1, max_size=60),
)
def test_never_more_than_burst_and_rate_allow(per_minute: int, burst: int, pauses: list[float]) -> None:
    clock, allowed = Clock(), 0
    buckets, rate = TokenBuckets(clock), Rate(per_minute, burst)
    for pause in pauses:
        clock.now += pause
        taken = buckets.take("a", rate)
        allowed += taken.allowed
        assert 0 <= taken.remaining <= burst
        if not taken.allowed:
            assert 0 < taken.wait_s <= 60 / per_minute + 1e-6
    assert allowed <= burst + (clock.now - Clock.now) * per_minute / 60 + 1e-6


def test_only_so_many_are_remembered() -> None:
    buckets, rate = TokenBuckets(Clock(), most=3), Rate(60, 1)
    for who in "abc":
        assert buckets.take(who, rate).allowed
    assert not buckets.take("a", rate).allowed  # a is now the last one who asked
    assert buckets.take("d", rate).allowed
    assert len(buckets) == 3
    assert not buckets.take("a", rate).allowed
    assert buckets.take("b", rate).allowed, "b was forgotten"


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("a name", "a name", True),
    ],
)
def test_without_keys_an_address_or_a_network_of_ipv6_is_one_client(
    first: str, second: str, same: bool
) -> None:
    reached = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        reached.append(scope["client"][0])

    async def ignored(message: object) -> None: ...

    async def nothing() -> dict[str, object]:
        return {"type": "http.request"}

    limit = RateLimit(app, Rate(60, 1), lambda path: False, TokenBuckets(Clock()))
    for address in (first, second):
        asyncio.run(limit({"type": "http", "path": "/", "client": (address, 5)}, nothing, ignored))
    assert reached == ([first] if same else [first, second])
