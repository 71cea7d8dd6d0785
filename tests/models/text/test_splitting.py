"""Texts are cut as ``str.split`` cuts them."""

import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bioqa.models.text.splitting import KEY_BYTES, split

SPACES = [character for code in range(sys.maxunicode + 1) if (character := chr(code)).isspace()]


def _expected(text: str) -> list[str]:
    return text.replace("\0", " ").split()


@given(st.lists(st.text(st.one_of(st.characters(), st.sampled_from([*SPACES, "\0", "\ud800", "\x01"])))))
def test_any_texts(texts: list[str]) -> None:
    found = split(texts)
    assert found.texts(np.arange(len(found.starts))) == [s for text in texts for s in _expected(text)]
    assert found.counts.tolist() == [len(_expected(text)) for text in texts]


def test_all_white_space_separates() -> None:
    for space in SPACES:
        found = split([f"{space}a{space}{space}b", f"c{space}", "d"])
        assert found.texts(np.arange(4)) == ["a", "b", "c", "d"]
        assert found.counts.tolist() == [2, 1, 1]


def test_a_key_is_the_string_and_zeros() -> None:
    texts = ["a", "12345678", "123456789", "\u03b1" * 8, "x" * 16, "y" * 40]
    keys = split([" ".join(texts)]).keys()
    as_bytes = [key.astype("<u8").tobytes() for key in keys]
    assert as_bytes == [text.encode()[:KEY_BYTES].ljust(KEY_BYTES, b"\0") for text in texts]


def test_no_texts() -> None:
    for texts in ([], [""], [" ", "\u2003"]):
        found = split(texts)
        assert (found.texts(found.starts), found.counts.tolist()) == ([], [0] * len(texts))
        assert found.keys().shape == (0, 2)
