"""The table beside a dict."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.models.text import table
from bioqa.models.text.splitting import Keys
from bioqa.models.text.table import UNKNOWN, Table

_PAIRS = st.tuples(st.integers(1, 40), st.integers(0, 3))


def _keys(pairs: list[tuple[int, int]]) -> Keys:
    return np.array(pairs, dtype=np.uint64).reshape(-1, 2)


@given(st.lists(st.lists(_PAIRS, max_size=40), max_size=6))
def test_as_a_dict(batches: list[list[tuple[int, int]]]) -> None:
    found, expected = Table(), dict[tuple[int, int], int]()
    for batch in batches:
        assert found.find(_keys(batch)).tolist() == [expected.get(pair, UNKNOWN) for pair in batch]
        new = [pair for pair in dict.fromkeys(batch) if pair not in expected]
        found.add(_keys(new))
        expected |= {pair: number for number, pair in enumerate(new, len(expected))}
        assert len(found) == len(expected)
        assert found.find(_keys(batch)).tolist() == [expected[pair] for pair in batch]


def test_many_keys_that_differ_in_few_bits() -> None:
    keys = _keys([(1 << 62 | n << 40, (n & 7) << 59) for n in range(1, 20_001)])
    found = Table()
    for begin in range(0, len(keys), 777):
        found.add(keys[begin : begin + 777])
    assert found.find(keys).tolist() == [*range(len(keys))]
    assert set(found.find(keys + np.uint64(1)).tolist()) == {UNKNOWN}


def test_keys_whose_hashes_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "randbits", lambda bits: 1)  # then only sums count
    pairs = [(n, 1000 - n) for n in range(1, 1000)]
    found = Table()
    found.add(_keys(pairs))
    assert found.find(_keys([*pairs, (1000, 0)])).tolist() == [*range(999), UNKNOWN]
