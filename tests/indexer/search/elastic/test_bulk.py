"""How long a loader goes on trying."""

import time

import pytest

from bioqa.indexer.search.elastic.bulk import _Patience
from bioqa.system.errors import BioqaError


def test_patience_is_counted_from_the_first_failure() -> None:
    patience = _Patience(0.2)
    time.sleep(0.3)  # nothing was asked
    patience.wait(1, "away")
    patience.progress()
    time.sleep(0.3)
    patience.wait(1, "away")


def test_patience_ends() -> None:
    patience = _Patience(0.05)
    patience.wait(1, "away")
    with pytest.raises(BioqaError, match=r"gave up after 0 s: away; run it again to resume"):
        patience.wait(2, "away")


def test_a_loader_that_is_stopped_does_not_wait() -> None:
    patience = _Patience(60)
    patience.stop()
    with pytest.raises(BioqaError, match="gave up"):
        patience.wait(1, "away")
