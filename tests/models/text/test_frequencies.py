import math

import numpy as np

from bioqa.models.text.frequencies import inverse_document_frequencies


def test_by_hand() -> None:
    found = inverse_document_frequencies(np.array([0, 1, 3]), 3)
    expected = [math.log(1 + 3.5 / 0.5), math.log(1 + 2.5 / 1.5), math.log(1 + 0.5 / 3.5)]
    np.testing.assert_allclose(found, expected)


def test_the_rarer_the_higher_and_never_below_zero() -> None:
    found = inverse_document_frequencies(np.arange(101), 100)
    assert (np.diff(found) < 0).all()
    assert found.min() > 0
