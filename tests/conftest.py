"""What tests of every package share."""

import fcntl
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from bioqa.system import secret
from tests import elastic_server

# What a test takes depends on what else the machine does; speed is measured in bench/.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(autouse=True)
def _no_secrets_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test took for a secret may be an ordinary word in the messages of another."""
    monkeypatch.setattr(secret, "_known", set())


@pytest.fixture(autouse=True)
def _no_measured_speed(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """What was measured on this machine (`bioqa ranker tune`) changes no ranking in a test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "no-cache"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the checkout; tests on real data skip where it is missing."""
    if not SHARED.is_dir():
        pytest.skip(f"no real data at {SHARED}")
    return SHARED


@pytest.fixture(scope="session")
def pool_index(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pool's index, loaded once a test session however many processes it has. Only to be read."""
    from bioqa.indexer.loading.run import (
        load,  # here, so that a fault in it fails the tests that need it and no others
    )

    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # each process has its own folder in the session's
        base = base.parent
    folder = base / "pool-index"
    with (base / "pool-index.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Whoever comes second finds every file in the ledger.
        load(sorted((shared / "data" / "medline").glob("*.xml.gz")), folder)
    return folder


@pytest.fixture(scope="session")
def elastic_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A real Elasticsearch: the user's own, or one for all processes of this session, ending with it."""
    if url := os.environ.get("BIOQA_TEST_ELASTICSEARCH"):
        return url.rstrip("/")
    if not elastic_server.SERVE.is_file():
        pytest.skip(f"no Elasticsearch: {elastic_server.SERVE} is missing, BIOQA_TEST_ELASTICSEARCH not set")
    base, owner = tmp_path_factory.getbasetemp(), os.getpid()
    if "PYTEST_XDIST_WORKER" in os.environ:  # started by the process that outlives them all
        base, owner = base.parent, os.getppid()
    address = base / "elastic-url"
    with (base / "elastic.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not address.exists():
            server = elastic_server.ElasticServer(owner=owner, log=base / "elastic.txt")
            address.write_text(server.url)
    return address.read_text()


@pytest.fixture
def elastic_name(elastic_url: str) -> Iterator[str]:
    """A name for an index of the test's own. What begins with it is removed at the end."""
    name = f"test-{uuid.uuid4().hex}"
    yield name
    elastic_server.remove_indices(elastic_url, name)


@pytest.fixture
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The right to start an Elasticsearch, for one test at a time in all processes: each takes a gigabyte."""
    if not elastic_server.SERVE.is_file():
        pytest.skip(f"no Elasticsearch: {elastic_server.SERVE} is missing")
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    with (base / "own-server.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
