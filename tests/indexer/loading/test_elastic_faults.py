"""Loading into Elasticsearch, and asking it, while it fails: on real servers, most of them the test's own.

A server takes a gigabyte of memory, so one test at a time has its own. The others share the session's.
"""

import signal
import subprocess
import sys
import threading
import time
import urllib.error
from collections.abc import Callable, Sequence
from contextlib import closing
from copy import deepcopy
from pathlib import Path

import pytest

from bioqa.indexer.loading.run import LoadProgress, LoadReport, load
from bioqa.indexer.opening import open_index, open_target
from bioqa.indexer.search.elastic.address import Access
from bioqa.indexer.search.elastic.mapping import DEFAULT_SHAPE, FORMAT, Shape, index_body
from bioqa.system.errors import BioqaError
from bioqa.system.secret import Secret
from tests.elastic_server import ElasticServer, call, settle
from tests.indexer.medline_xml import citation, deletion, write
from tests.proxies import Proxy

MANY = 700
LONG = "of insulin and glucose in the blood of mice " * 200
"""With so long abstracts a file fills several requests."""

PATIENT = Access(timeout_s=10, patience_s=120)
QUICK = Access(timeout_s=10, patience_s=1)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Three files in which later ones revise and delete what earlier ones hold."""
    numbers = range(1, MANY + 1)
    return [
        write(tmp_path / "n1.xml", *(citation(n, f"First {n}.", LONG) for n in numbers)),
        write(
            tmp_path / "n2.xml",
            *(citation(n, f"Second {n}.", LONG) for n in numbers if n % 2),
            deletion(3, 4),
            *(citation(n, f"Second {n}.", LONG) for n in range(2 * MANY, 3 * MANY)),
        ),
        write(
            tmp_path / "n3.xml",
            citation(3, "Back again."),
            *(citation(n, f"Third {n}.", LONG) for n in numbers if n % 3 == 0 and n > 3),
            deletion(7, 99_999),
        ),
    ]


def expected_titles() -> dict[str, str]:
    titles = {n: f"{'Second' if n % 2 else 'First'} {n}." for n in range(1, MANY + 1)}
    titles |= {n: f"Second {n}." for n in range(2 * MANY, 3 * MANY)}
    titles |= {n: f"Third {n}." for n in range(1, MANY + 1) if n % 3 == 0}
    titles[3] = "Back again."
    del titles[4], titles[7]
    return {str(n): title for n, title in titles.items()}


def load_into(
    where: str,
    files: Sequence[Path],
    progress: Callable[[LoadProgress], None] | None = None,
    access: Access = PATIENT,
    shape: Shape = DEFAULT_SHAPE,
) -> LoadReport:
    with closing(open_target(where, access=access, shape=shape)) as target:
        return load(files, target, progress=progress, workers=1)


def titles(where: str) -> dict[str, str]:
    with closing(open_index(where)) as index:
        found = index.get([str(n) for n in range(1, 4 * MANY)])
        assert index.stats().documents == len(found)
    return {pmid: document.title for pmid, document in found.items()}


def check_all_is_there(where: str, *reports: LoadReport, resumed: bool = False) -> None:
    """Nothing lost, nothing counted twice: in = indexed + rejected.

    In a file that was ``resumed``, what was done before the interruption can count as stale.
    """
    assert titles(where) == expected_titles()
    entries = [entry for report in reports for entry in report.loaded]
    counts = [(e.name, e.records, e.upserted, e.deleted, e.stale) for e in entries]
    second, third = MANY // 2 + MANY, MANY // 3
    expected = [
        ("n1.xml", MANY, MANY, 0, 0),
        ("n2.xml", second + 2, second, 2, 0),
        ("n3.xml", third + 2, third, 1, 1),
    ]
    if resumed:
        assert [sum(numbers) for _, _, *numbers in counts] == [records for _, records, *_ in expected]
        counts[1] = expected[1]
    assert counts == expected
    assert [entry.rejected for entry in entries] == [{}, {}, {}]


class Once:
    """Does something at one moment of loading: when ``events`` have been handed over."""

    def __init__(self, events: int, what: Callable[[], None]) -> None:
        self.done = False
        self._events = events
        self._what = what

    def __call__(self, progress: LoadProgress) -> None:
        if not self.done and progress.events >= self._events:
            self.done = True
            self._what()


# A node crashes


def test_a_crashed_node_is_waited_for(
    own_server: None, files: list[Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "server"
    servers = [ElasticServer(folder)]
    where = f"{servers[0].url}/pool"

    def restart() -> None:
        time.sleep(1)
        servers[0].stop()
        port = int(servers[0].url.rsplit(":", 1)[1])
        servers.append(ElasticServer(folder, port=port))

    restarting = threading.Thread(target=restart)

    def crash() -> None:
        servers[0].kill_node()
        with pytest.raises(BioqaError, match=f"^Elasticsearch at {servers[0].url} cannot be reached"):
            reader.search("insulin")
        restarting.start()

    try:
        load_into(where, files[:1])
        with closing(open_index(where, QUICK)) as reader:
            assert len(reader.search("insulin", 10)) == 10
            report = load_into(where, files, Once(MANY, crash))
            restarting.join()
            assert "cannot be reached" in caplog.text
            assert "retrying for up to" in caplog.text
            assert [c.document.title for c in reader.search("back again", 1)] == ["Back again."]
        assert report.known == ("n1.xml",)
        assert [(e.name, e.records, e.stale) for e in report.loaded] == [
            ("n2.xml", MANY // 2 + MANY + 2, 0),
            ("n3.xml", MANY // 3 + 2, 1),
        ]
        assert titles(where) == expected_titles()
    finally:
        if restarting.ident:
            restarting.join()
        servers[-1].stop()


def test_of_three_nodes_one_crashes(own_server: None, files: list[Path], tmp_path: Path) -> None:
    with ElasticServer(tmp_path / "server", nodes=3) as server:
        where = f"{','.join(server.urls)}/pool"
        shape = Shape(shards=2, replicas=1)
        first = load_into(where, files[:1], shape=shape)
        settle(server.url, "green")
        (primary,) = [
            shard["node"]
            for shard in call(f"{server.url}/_cat/shards/pool?format=json")
            if shard["prirep"] == "p" and shard["shard"] == "0"
        ]
        number = int(primary.removeprefix("node-")) - 1

        def crash() -> None:
            server.kill_node(number)
            assert len(reader.search("insulin", 10)) == 10

        with closing(open_index(where)) as reader:
            rest = load_into(where, files, Once(MANY, crash), shape=shape)
        check_all_is_there(where, first, rest)
        alive = server.urls[(number + 1) % 3]
        assert call(f"{alive}/_cluster/health")["number_of_nodes"] == 2


# The server is overloaded, or has too little room


def noise(url: str, stop: threading.Event, refused: list[int]) -> None:
    """Write into another index, more than the server can take."""
    lines = b'{"index":{}}\n{"text":"%s"}\n' % (b"words of no use " * 1000) * 20
    while not stop.is_set():
        try:
            answer = call(f"{url}/noise/_bulk", "POST", lines)
            refused += [item["index"]["status"] for item in answer["items"] if item["index"]["status"] == 429]
        except urllib.error.HTTPError as error:
            with error:
                refused.append(error.code)


def test_a_server_that_can_take_little(
    own_server: None, files: list[Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A write queue of one request, of a megabyte at most, which others keep full for some seconds."""
    settings = ["thread_pool.write.size=1", "thread_pool.write.queue_size=1", "http.max_content_length=1mb"]
    stop, refused = threading.Event(), list[int]()
    with ElasticServer(tmp_path / "server", *settings) as server:
        where = f"{server.url}/pool"
        noises = [threading.Thread(target=noise, args=(server.url, stop, refused)) for _ in range(6)]
        noises.append(threading.Timer(4, stop.set))

        def storm() -> None:
            for thread in noises:
                thread.start()

        try:
            report = load_into(where, files, Once(1, storm))
        finally:
            stop.set()
            for thread in noises:
                thread.join()
        assert 429 in refused
        assert f"Elasticsearch at {server.url} is overloaded (429): rejected execution" in caplog.text
        assert max(len(record.getMessage()) for record in caplog.records if record.name == "bioqa") < 300
        check_all_is_there(where, report)
        check_what_is_too_large(where, tmp_path)


def check_what_is_too_large(where: str, folder: Path) -> None:
    huge = write(folder / "n4.xml", citation(5000, "Huge.", LONG * 150), citation(5001, "Small."))
    report = load_into(where, [huge])
    (entry,) = report.loaded
    assert (entry.records, entry.upserted, sum(entry.rejected.values())) == (2, 1, 1)
    ((name, rejection),) = report.rejections
    assert (name, rejection.pmid) == ("n4.xml", "5000")
    assert "more than the server accepts" in rejection.reason
    with closing(open_index(where)) as index:
        assert list(index.get(["5000", "5001"])) == ["5001"]


def watermarks(url: str, percent: str | None) -> None:
    names = ("low", "high", "flood_stage")
    prefix = "cluster.routing.allocation.disk.watermark"
    call(f"{url}/_cluster/settings", "PUT", {"persistent": {f"{prefix}.{name}": percent for name in names}})


def wait_for_block(url: str, blocked: bool) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = call(f"{url}/pool/_settings/index.blocks.read_only_allow_delete?flat_settings=true")
        if bool(found) == blocked:
            return
        time.sleep(0.3)
    raise AssertionError(f"blocked is not {blocked} after a minute")


def test_a_full_disk(own_server: None, files: list[Path], tmp_path: Path) -> None:
    settings = [
        "cluster.routing.allocation.disk.threshold_enabled=true",
        "cluster.routing.allocation.disk.watermark.low=100%",
        "cluster.routing.allocation.disk.watermark.high=100%",
        "cluster.routing.allocation.disk.watermark.flood_stage=100%",
        "cluster.info.update.interval=10s",
    ]
    with ElasticServer(tmp_path / "server", *settings) as server:
        where = f"{server.url}/pool"
        first = load_into(where, files[:1])
        watermarks(server.url, "0.01%")
        wait_for_block(server.url, True)
        begun = time.monotonic()
        with pytest.raises(BioqaError) as raised:
            load_into(where, files)
        assert time.monotonic() - begun < 20  # at once, not after all the patience
        assert "Elasticsearch takes no writes into pool: its disk is almost full" in str(raised.value)
        with closing(open_index(where)) as index:
            assert len(index.search("insulin", 10)) == 10
        watermarks(server.url, None)
        wait_for_block(server.url, False)
        rest = load_into(where, files)
        assert rest.known == ("n1.xml",)
        check_all_is_there(where, first, rest, resumed=True)


# The shared server, and what stands between


def test_the_server_is_away_at_the_start(files: list[Path]) -> None:
    for ask in (open_index, open_target):
        with pytest.raises(BioqaError, match=r"^Elasticsearch at http://127.0.0.1:1 cannot be reached"):
            ask("http://127.0.0.1:1/pool", access=QUICK)


def test_a_red_index_is_told_and_waited_for(elastic_url: str, elastic_name: str, files: list[Path]) -> None:
    where = f"{elastic_url}/{elastic_name}"
    body = index_body(DEFAULT_SHAPE, {"format": FORMAT, "joiner": "", "replicas": 0})
    body["settings"]["index.routing.allocation.require._name"] = "nobody"
    call(f"{where}?wait_for_active_shards=0", "PUT", body)

    def mend() -> None:
        time.sleep(2)
        call(f"{where}/_settings", "PUT", {"index.routing.allocation.require._name": None})

    with closing(open_index(where, QUICK)) as index:
        for ask in (
            lambda: index.search("insulin"),
            lambda: index.search_many(["insulin"]),
            lambda: index.get(["1"]),
            index.stats,
        ):
            with pytest.raises(
                BioqaError, match=rf"{elastic_name} at .* not available \(the cluster is red\)"
            ):
                ask()
    mending = threading.Thread(target=mend)
    mending.start()
    report = load_into(where, files)
    mending.join()
    check_all_is_there(where, report)


def test_what_the_mapping_refuses_is_listed(elastic_url: str, elastic_name: str, tmp_path: Path) -> None:
    """As if somebody had changed the mapping, so that titles must be numbers."""
    where = f"{elastic_url}/{elastic_name}"
    body = deepcopy(index_body(DEFAULT_SHAPE, {"format": FORMAT, "joiner": "", "replicas": 0}))
    body["mappings"]["properties"]["title"] = {"type": "long"}
    del body["mappings"]["properties"]["abstract"]["copy_to"]
    call(where, "PUT", body)
    path = write(tmp_path / "n1.xml", *(citation(n, f"{n}" if n % 2 else "Words.") for n in range(1, 11)))
    report = load_into(where, [path])
    (entry,) = report.loaded
    assert (entry.records, entry.upserted, sum(entry.rejected.values())) == (10, 5, 5)
    assert [rejection.pmid for _, rejection in report.rejections] == ["2", "4", "6", "8", "10"]
    for _, rejection in report.rejections:
        assert "document_parsing_exception" in rejection.reason
        assert "[title]" in rejection.reason


def test_a_file_under_another_name(elastic_url: str, elastic_name: str, files: list[Path]) -> None:
    where = f"{elastic_url}/{elastic_name}"
    report = load_into(where, files)
    twin = files[0].rename(files[0].with_name("copy.xml"))
    again = load_into(where, [twin, *files[1:]])
    assert (again.known, again.loaded) == (("copy.xml", "n2.xml", "n3.xml"), ())
    check_all_is_there(where, report)


@pytest.mark.parametrize(
    ("status", "answered"), [(429, False), (502, True), (503, False), (None, False), (None, True)]
)
def test_passing_faults_while_loading(
    elastic_url: str, elastic_name: str, files: list[Path], status: int | None, answered: bool
) -> None:
    """Between the loader and the server; ``answered``: the server has done its work, its answer is lost."""
    with Proxy(elastic_url) as proxy:
        where = f"{proxy.url}/{elastic_name}"
        with closing(open_target(where, access=Access(patience_s=30))) as target:
            for pattern in ("_bulk", "_mget", "_refresh", "_settings", "_create"):
                proxy.fail(pattern, times=2, status=status, drop=status is None, answered=answered)
            report = load(files, target, workers=1)
        assert len(proxy.paths("_bulk")) >= 5
    check_all_is_there(f"{elastic_url}/{elastic_name}", report)


def test_patience_ends_and_loading_goes_on_later(
    elastic_url: str, elastic_name: str, files: list[Path]
) -> None:
    with Proxy(elastic_url) as proxy:
        where = f"{proxy.url}/{elastic_name}"
        first = load_into(where, files[:1])
        with pytest.raises(BioqaError, match=r"^gave up after \d+ s: .* run it again to resume"):
            load_into(where, files, Once(MANY, proxy.stop), QUICK)
    rest = load_into(f"{elastic_url}/{elastic_name}", files)
    assert rest.known == ("n1.xml",)
    check_all_is_there(f"{elastic_url}/{elastic_name}", first, rest, resumed=True)


def test_a_loader_killed_in_the_middle_is_resumed(
    elastic_url: str, elastic_name: str, files: list[Path]
) -> None:
    where = f"{elastic_url}/{elastic_name}"
    first = load_into(where, files[:1])
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from bioqa.indexer.loading.run import load\n"
        "from bioqa.indexer.opening import open_target\n"
        "def progress(p):\n"
        f"    if p.events >= {MANY}: os.kill(os.getpid(), signal.SIGKILL)\n"
        "if __name__ == '__main__':\n"
        "    load([Path(a) for a in sys.argv[2:]], open_target(sys.argv[1]), workers=1, progress=progress)\n"
    )
    command = [sys.executable, "-c", script, where, *map(str, files)]
    killed = subprocess.run(command, check=False, cwd=Path(__file__).parents[3], timeout=120)
    assert killed.returncode == -signal.SIGKILL
    rest = load_into(where, files)
    assert rest.known == ("n1.xml",)
    check_all_is_there(where, first, rest, resumed=True)


def test_two_loaders_at_once(elastic_url: str, elastic_name: str, files: list[Path]) -> None:
    where = f"{elastic_url}/{elastic_name}"
    with closing(open_target(where)) as late:
        load_into(where, files[:1])
        with pytest.raises(BioqaError, match=f"{elastic_name} is being loaded by another process"):
            load(files[1:2], late, workers=1)
    load_into(where, files)
    assert titles(where) == expected_titles()


BLOCKS = {
    "write": ("index.blocks.write", "by index.blocks.write, which does not go away by itself"),
    "read only": ("index.blocks.read_only", "by index.blocks.read_only, which does not go away by itself"),
    "flood": ("index.blocks.read_only_allow_delete", "its disk is almost full"),
}


@pytest.mark.parametrize("kind", [*BLOCKS, "closed"])
@pytest.mark.parametrize("begun", [False, True], ids=["before", "meanwhile"])
def test_a_blocked_index_is_no_fault_of_a_file(
    elastic_url: str, elastic_name: str, files: list[Path], kind: str, begun: bool
) -> None:
    """Nothing is noted, so that the same command loads the file when the index takes writes again."""
    where = f"{elastic_url}/{elastic_name}"
    first = load_into(where, files[:1])
    setting, words = BLOCKS.get(kind, ("", "is closed: open it"))

    def block() -> None:
        if setting:
            call(f"{where}/_settings", "PUT", {setting: True})
        else:
            call(f"{where}/_close", "POST")

    def lift() -> None:
        if setting:
            call(f"{where}/_settings", "PUT", {setting: None})
        else:
            call(f"{where}/_open", "POST")
            settle(elastic_url)

    started = time.monotonic()
    if begun:
        with pytest.raises(BioqaError, match=words):
            load_into(where, files, Once(1, block))
    else:
        with closing(open_target(where)) as target:
            block()
            with pytest.raises(BioqaError, match=words):
                load(files, target, workers=1)
    assert time.monotonic() - started < PATIENT.patience_s / 2  # at once, not after all the patience
    lift()
    rest = load_into(where, files)
    assert rest.known == ("n1.xml",)
    check_all_is_there(where, first, rest, resumed=True)


def test_an_index_that_refuses_everything(elastic_url: str, elastic_name: str, files: list[Path]) -> None:
    """As if its mapping had been changed."""
    where = f"{elastic_url}/{elastic_name}"
    body = deepcopy(index_body(DEFAULT_SHAPE, {"format": FORMAT, "joiner": "", "replicas": 0}))
    body["mappings"]["properties"]["title"] = {"type": "long"}
    call(where, "PUT", body)
    for _ in range(2):
        with pytest.raises(BioqaError, match=r"accepts nothing of .*n1\.xml.*document_parsing_exception"):
            load_into(where, files)
    assert call(f"{where}-files/_count")["count"] == 0


def test_credentials_that_may_not_write(elastic_url: str, elastic_name: str, files: list[Path]) -> None:
    allowed = {"ApiKey reader": r"^(?!\w+ \S*_bulk)"}
    access = Access(api_key=Secret("reader"), patience_s=60)
    refused = pytest.raises(BioqaError, match="these credentials do not allow it")
    with Proxy(elastic_url, allowed=allowed) as proxy, refused:
        load_into(f"{proxy.url}/{elastic_name}", files, access=access)
    check_all_is_there(f"{elastic_url}/{elastic_name}", load_into(f"{elastic_url}/{elastic_name}", files))
