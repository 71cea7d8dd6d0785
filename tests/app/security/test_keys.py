"""API keys: what a line says, who is let in, and that comparing takes no short cut."""

import hashlib
import hmac
import string
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.app.security.keys import NAME, ApiKey, ApiKeyError, digest, find, new_secret, parse

TODAY = date(2026, 5, 4)
HASH = "ab" * 32

limits = st.none() | st.integers(1, 1_000_000)
api_keys = st.builds(
    ApiKey,
    st.text(string.ascii_letters + string.digits + "._-", min_size=1, max_size=64).filter(NAME.fullmatch),
    st.binary(min_size=32, max_size=32),
    limits,
    limits,
    st.none() | st.dates(),
)


@given(st.lists(api_keys, unique_by=lambda key: key.name, max_size=10))
def test_what_is_written_is_what_is_read(known: list[ApiKey]) -> None:
    text = "\n# a comment\n\n".join(key.line() for key in known)
    assert parse(text, "keys") == tuple(known)


def test_a_line_as_documented() -> None:
    text = f"# who: Ada\nada sha256:{HASH} per_minute=60 burst=5 expires=2027-01-31\n\nbob  sha256:{HASH}\n"
    ada, bob = parse(text, "keys")
    assert ada == ApiKey("ada", bytes.fromhex(HASH), 60, 5, date(2027, 1, 31))
    assert bob == ApiKey("bob", bytes.fromhex(HASH))
    assert ada.line() == f"ada sha256:{HASH} per_minute=60 burst=5 expires=2027-01-31"


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("ada", "sha256"),
        (f"ada {HASH}", "sha256"),
        ("ada sha256:abc", "sha256"),
        (f"ada sha256:{HASH.upper()}", "sha256"),
        (f"a/b sha256:{HASH}", "name"),
        (f"ada sha256:{HASH} per_hour=5", "unknown"),
        (f"ada sha256:{HASH} per_minute=many", "whole numbers"),
        (f"ada sha256:{HASH} per_minute=0", "per_minute must be from 1"),
        (f"ada sha256:{HASH} burst=-1", "burst must be from 1"),
        (f"ada sha256:{HASH} expires=31.1.2027", "YYYY-MM-DD"),
        (f"bob sha256:{HASH}", "same name, bob"),
        ("bioqa_by-mistake-the-key-itself", "sha256"),
    ],
)
def test_a_line_that_says_something_else_is_named_and_not_shown(line: str, fault: str) -> None:
    with pytest.raises(ApiKeyError) as caught:
        parse(f"bob sha256:{HASH}\n\n{line}\n", "the/file")
    message = str(caught.value)
    assert message.startswith("the/file: line 3: ")
    assert fault in message
    assert "mistake" not in message


def test_new_keys_are_256_random_bits_with_a_prefix_that_can_be_searched_for() -> None:
    made = {new_secret() for _ in range(100)}
    assert len(made) == 100
    assert {len(secret) for secret in made} == {len("bioqa_") + 43}  # 43 digits of 6 bits
    assert all(secret.startswith("bioqa_") for secret in made)


def test_the_hash_is_plain_sha256_of_the_key() -> None:
    assert digest("bioqa_x") == hashlib.sha256(b"bioqa_x").digest()
    assert len(digest("\ud800")) == 32  # whatever a header holds


def test_a_key_is_found_among_others() -> None:
    known = [ApiKey(name, digest(name)) for name in "abc"]
    assert [find(known, secret, TODAY) for secret in ("a", "c", "d", "")] == [known[0], known[2], None, None]
    assert find([], "a", TODAY) is None


@pytest.mark.parametrize(("expires", "lets_in"), [(date(2026, 5, 5), True), (TODAY, False)])
def test_a_key_lets_in_until_the_day_that_it_expires(expires: date, lets_in: bool) -> None:
    key = ApiKey("ada", digest("a"), expires=expires)
    assert find([key], "a", TODAY) == (key if lets_in else None)


@pytest.mark.parametrize("secret", ["first", "last", "none"])
def test_every_key_is_compared_in_constant_time_wherever_the_right_one_stands(
    monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    compared = []
    compare_digest = hmac.compare_digest

    def compare(kept: bytes, presented: bytes) -> bool:
        compared.append((kept, presented))
        return compare_digest(kept, presented)

    monkeypatch.setattr("bioqa.app.security.keys.hmac.compare_digest", compare)
    known = [ApiKey(name, digest(name)) for name in ("first", "middle", "last")]
    find(known, secret, TODAY)
    assert compared == [(key.digest, digest(secret)) for key in known]
