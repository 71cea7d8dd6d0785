"""What tests of every package share."""

import fcntl
import os
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the checkout; tests on real data skip where it is missing."""
    if not SHARED.is_dir():
        pytest.skip(f"no real data at {SHARED}")
    return SHARED


@pytest.fixture(scope="session")
def pool_index(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pool's index, loaded once a test session however many processes it has. Only to be read."""
    from indexer.load import load  # here, so that a fault in it fails the tests that need it and no others

    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # each process has its own folder in the session's
        base = base.parent
    folder = base / "pool-index"
    with (base / "pool-index.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Whoever comes second finds every file in the ledger.
        load(sorted((shared / "data" / "medline").glob("*.xml.gz")), folder)
    return folder
