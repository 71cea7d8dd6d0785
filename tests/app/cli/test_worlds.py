"""Every command in worlds that went wrong: one line that says what, exit code 2, and never a secret."""

import io
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.app.cli.conftest import MEDLINE, TESTSET
from tests.app.conftest import Run
from tests.app.test_documentation import COMMANDS

ROOT = Path(__file__).parents[3]
needs_mcp = pytest.mark.skipif(find_spec("mcp") is None, reason="needs the extra mcp")
WITH_MCP = pytest.param("mcp", marks=needs_mcp)
ARTICLE = "http://www.ncbi.nlm.nih.gov/pubmed/1"
GOLDEN = {"questions": [{"id": "a", "type": "list", "body": "?", "documents": [ARTICLE], "snippets": []}]}
FILES = {
    "golden": json.dumps(GOLDEN),
    "testset": json.dumps(TESTSET),
    "medline.xml": MEDLINE,
    "run": "a Q0 1 1 2.5 x\n",
    "qrels": "a 0 1 1\n",
    "descriptors": (Path(__file__).parents[2] / "indexer" / "search" / "descriptors.xml").read_text("utf-8"),
}
MARKER = "M4rker-of-a-secret"

ARGUMENTS: dict[str, list[object]] = {
    "demo": ["--only-index"],
    "index": ["medline.xml", "--workers", 1],
    "update": ["--from", "releases"],
    "info": [],
    "ask": ["Zinc?"],
    "explain": ["Is metformin better than placebo?", "90000001"],
    "batch": ["testset", "-o", "submission"],
    "serve": ["--port", 0],
    "mcp": [],
    "validate": ["golden"],
    "evaluate": ["golden", "golden", "--edition", 9],
    "compare": ["golden", "golden", "run"],
    "parse": ["medline.xml"],
    "vocabulary": ["medline.xml", "-o", "vocabulary", "--min-count", 1, "--dimensions", 2],
    "train": ["features", "--train", "golden", "--dev", "golden", "-o", "checkpoint"],
    "train-cascade": ["encoder", "--train", "golden", "--dev", "golden", "-o", "cascade"],
    "experiment pappas-2021": [],
    "experiment mcdonald-2018": [],
    "experiment hui-2018": [],
    "experiment mohan-2017": [],
    "experiment all": [],
    "keys new": ["ada", "--file", "keys"],
    "keys list": ["--file", "keys"],
    "keys revoke": ["ada", "--file", "keys"],
    "trec run": ["golden", "-o", "run.txt"],
    "trec qrels": ["golden", "-o", "qrels.txt"],
    "trec submission": ["run", "-o", "from-run"],
    "trec golden": ["qrels", "-o", "from-qrels"],
    "cite": [90000001],
    "synonyms": ["descriptors"],
    "tokens": [],
    "ranker show": ["soft"],
    "ranker tune": ["deep"],
    "ranker calibrate": ["checkpoint", "--dev", "golden"],
    "ranker reliability": ["soft", "--golden", "golden"],
    "judge pool": ["testset", "-o", "sheet.json", "--ranker", "soft"],
}


def line(name: str) -> list[object]:
    return [*name.split(), *ARGUMENTS[name]]


def fails(result: Any, words: str = "") -> None:
    """One line, which names what is wrong; and 2, for a script must not take it for faults of its files."""
    errors = [each for each in result.err.splitlines() if each.startswith("error: ")]
    assert (result.code, len(errors)) == (2, 1), result.err
    assert words in errors[0]
    assert "Traceback" not in result.err
    assert "unexpected" not in errors[0], errors[0]
    assert MARKER not in result.out + result.err


@pytest.fixture
def world(run: Run, tmp_path: Path, index_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A folder with a file of each kind, and the index of the tests."""
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    monkeypatch.setenv("BIOQA_INDEX", str(index_folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run("keys", "new", "ada", "--file", "keys")
    return run


ELSEWHERE = {
    # It would write beside the index that all tests share, and change its answers: test_vectors.py.
    "bioqa vectors",
    # They need a sheet: test_judging.py.
    *(f"bioqa judge {name}" for name in ("serve", "agreement", "export", "import")),
}


def test_every_command_is_here() -> None:
    assert {f"bioqa {name}" for name in ARGUMENTS} | ELSEWHERE == set(COMMANDS)


PRINTING = (
    "info", "ask", "explain", "cite", "evaluate", "compare", "parse", "keys list", "experiment pappas-2021",
    "experiment mcdonald-2018", "experiment hui-2018", "experiment mohan-2017", "experiment all",
    "ranker show",
)  # fmt: skip
"""Commands that print to stdout here."""


@pytest.mark.parametrize("name", [*PRINTING, "keys new"])
def test_a_full_disk_behind_stdout(
    world: Run, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with open("/dev/full", "w", encoding="utf-8") as full:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdout", full)
        arguments = [*line(name)[:2], "bob", "--file", "keys"] if name == "keys new" else line(name)
        fails(world(*arguments), "cannot write the result: No space left on device")


@pytest.mark.parametrize("name", ["parse", "experiment pappas-2021"])
def test_a_reader_that_has_enough_is_no_fault_and_nothing_is_said(
    world: Run, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    with os.fdopen(theirs, "w", encoding="utf-8") as nobody:
        monkeypatch.setattr(sys, "stdout", nobody)
        result = world(*line(name))
    assert (result.code, result.err) == (2, "")


SEARCHING = ("info", "ask", "explain", "cite", "batch", "index", "demo")
"""Commands that use the settings of Elasticsearch."""


@pytest.mark.parametrize(
    "name", [*PRINTING, *SEARCHING[4:], "validate", "synonyms", "trec run", "trec golden", "keys revoke"]
)
def test_settings_that_are_not_used_end_nothing(
    world: Run, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BIOQA_PORT", "http")
    monkeypatch.setenv("BIOQA_QUEUE_CAPACITY", "many")
    if name not in SEARCHING:
        monkeypatch.setenv("BIOQA_ELASTIC_API_KEY", f"{MARKER}\u2014")
    if name == "index":
        monkeypatch.setenv("BIOQA_INDEX", str(tmp_path / "new"))
    if name == "synonyms":  # writes into the folder, which is the session's
        (tmp_path / "folder").mkdir()
        monkeypatch.setenv("BIOQA_INDEX", str(tmp_path / "folder"))
    result = world(*line(name))
    assert result.code == 0, result.err
    assert MARKER not in result.out + result.err


@pytest.mark.parametrize("name", ["ranker show", "ranker tune", "ranker calibrate"])
@pytest.mark.parametrize("ranker", ["nowhere", "medline.xml", "."])
def test_rankers_that_are_none(world: Run, name: str, ranker: str) -> None:
    fails(world(*name.split(), ranker, *ARGUMENTS[name][1:]))


@pytest.mark.parametrize("name", ["serve", WITH_MCP])
def test_servers_check_every_setting(world: Run, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIOQA_QUEUE_CAPACITY", "many")
    fails(world(*line(name)), "BIOQA_QUEUE_CAPACITY")


def test_misspelt_settings_are_named_and_what_kubernetes_sets_is_ignored(
    world: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIOQA_CANDIDATE", MARKER)
    monkeypatch.setenv("BIOQA_PORT", "tcp://10.96.0.12:8000")
    monkeypatch.setenv("BIOQA_SERVICE_HOST", "10.96.0.12")
    result = world("info")
    assert (result.code, MARKER in result.err) == (0, False)
    assert result.err == "warning: BIOQA_CANDIDATE is no setting: is BIOQA_CANDIDATES meant?\n"


SECRETS = {
    "BIOQA_ELASTIC_API_KEY": f"{MARKER}\u2014",
    "BIOQA_ELASTIC_PASSWORD": f"{MARKER}\n",
}


@pytest.mark.parametrize("variable", SECRETS)
@pytest.mark.parametrize(
    "name", ["info", "ask", "explain", "cite", "batch", "index", "update", "demo", "serve", WITH_MCP, "train"]
)
@pytest.mark.parametrize("log_format", ["text", "json"])
def test_a_secret_that_cannot_be_sent_is_not_shown(
    world: Run, name: str, variable: str, log_format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIOQA_LOG_FORMAT", log_format)
    monkeypatch.setenv("BIOQA_ELASTIC_USER", "ada")
    monkeypatch.setenv("BIOQA_INDEX", "http://127.0.0.1:1/medline")
    monkeypatch.setenv(variable, SECRETS[variable])
    arguments = [*line(name), "--index", "http://127.0.0.1:1/sample"] if name == "demo" else line(name)
    fails(world(*arguments), f"{variable}: character {len(MARKER) + 1} is ")


@pytest.mark.parametrize(
    "name", ["info", "ask", "explain", "cite", "batch", "index", "update", "demo", "train"]
)
def test_a_secret_is_not_shown_where_the_server_is_away(
    world: Run, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIOQA_ELASTIC_API_KEY", MARKER)
    monkeypatch.setenv("BIOQA_ELASTIC_PATIENCE_S", "0")
    monkeypatch.setenv("BIOQA_INDEX", "http://127.0.0.1:1/medline")
    arguments = [*line(name), "--index", "http://127.0.0.1:1/sample"] if name == "demo" else line(name)
    fails(world(*arguments), "cannot be reached")


@needs_mcp
@pytest.mark.parametrize("key", [f"{MARKER}\u2014", f"{MARKER} {MARKER}", f"\udcff{MARKER}"])
def test_the_key_of_a_service_is_not_shown(world: Run, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIOQA_API_KEY", key)
    fails(world("mcp", "--url", "http://127.0.0.1:1"), "BIOQA_API_KEY (--api-key): character ")
    monkeypatch.delenv("BIOQA_API_KEY")
    fails(world("mcp", "--url", f"http://ada:{MARKER}@127.0.0.1:1"), "user or password")


ADDRESSES = [
    "http://",
    "https://",
    "http://[",
    "http://host:99999/x",
    "http://host:x/x",
    "http://host:9200/UPPER",
    "http://host:9200/a?b",
    "http://a b:9200/x",
    "http://host:9200/.",
    f"http://ada:{MARKER}@host:9200/x",
    "http://host:9200/a\udcff",
]


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("name", ["info", "index", "update"])
def test_broken_addresses(world: Run, name: str, address: str) -> None:
    fails(world(*line(name), "--index", address))


@pytest.mark.parametrize("name", ["info", "index", "update", "ask", "explain"])
def test_a_host_without_address(world: Run, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    monkeypatch.setenv("BIOQA_ELASTIC_PATIENCE_S", "0")
    fails(world(*line(name), "--index", "http://no-such-host.test:9200/medline"), "no-such-host.test")


@pytest.fixture
def plain_server() -> Iterator[int]:
    """A port at which somebody answers who speaks no TLS."""

    def answer() -> None:
        with suppress(OSError):
            while True:
                with listening.accept()[0] as connection:
                    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=answer)
        thread.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.parametrize("name", ["info", "update"])
def test_tls_that_is_none(world: Run, name: str, plain_server: int) -> None:
    fails(world(*line(name), "--index", f"https://127.0.0.1:{plain_server}/medline"), "TLS")


@pytest.mark.parametrize("content", [None, "", "no certificate"])
def test_certificates_that_are_none(
    world: Run, content: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "ca.pem").write_text(content)
    monkeypatch.setenv("BIOQA_ELASTIC_CA_FILE", "ca.pem")
    fails(world("info", "--index", "https://127.0.0.1:1/medline"), "ca.pem")


PROXIES = [
    "127.0.0.1:1",
    "socks5://127.0.0.1:1",
    "what://127.0.0.1:1",
    f"http://ada:{MARKER}@127.0.0.1:1",
    "http://",
    "http://[",
    ":",
]


@pytest.mark.parametrize("proxy", PROXIES)
def test_proxies_before_the_site_of_releases(
    world: Run, proxy: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from bioqa.indexer.releases import site

    monkeypatch.setattr(site, "MAX_TRIES", 1)
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    monkeypatch.delenv("https_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("BIOQA_INDEX", str(tmp_path / "shelf"))
    fails(world("update", "--from", "https://site.test/pubmed/", "--cache", "cache"))


@pytest.mark.parametrize(
    "url", [f"https://ada:{MARKER}@site.test/", "https://[", "https://site.test:x/", "ftp://site.test/"]
)
def test_sites_that_are_none(world: Run, url: str) -> None:
    fails(world("update", "--index", "shelf", "--from", url, "--cache", "cache"))


@pytest.mark.parametrize("endpoint", [f"http://ada:{MARKER}@collector:4318", "http://[", "collector:4318"])
def test_collectors_that_are_none(world: Run, endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIOQA_OTLP_ENDPOINT", endpoint)
    fails(world(*line("serve")), "BIOQA_OTLP_ENDPOINT")


@pytest.mark.parametrize(
    ("name", "option"),
    [
        *((name, "--index") for name in ("demo", "index", "update", *SEARCHING[:5], "serve", "mcp", "train")),
        *((name, "-o") for name in ("batch", "vocabulary", "train", "train-cascade")),
        *((name, "--file") for name in ("keys new", "keys list", "keys revoke")),
        ("update", "--cache"),
        ("experiment pappas-2021", "--runs"),
        ("experiment mohan-2017", "--runs"),
        ("experiment all", "--results"),
    ],
)
def test_standard_input_and_output_are_no_folders(world: Run, tmp_path: Path, name: str, option: str) -> None:
    fails(world(*line(name), option, "-"), "-")
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize(
    ("name", "argument"), [("validate", "golden"), ("trec run", "golden"), ("trec golden", "qrels")]
)
def test_standard_input_in_place_of_a_file(
    world: Run, name: str, argument: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def given(content: str | None) -> Any:
        stream = None if content is None else io.TextIOWrapper(io.BytesIO(content.encode()))
        monkeypatch.setattr(sys, "stdin", stream)
        return world(*("-" if each == argument else each for each in line(name)))

    assert given(FILES[argument]).code == 0
    for nothing in ("", None):
        fails(given(nothing), "standard input is empty")
    if name == "validate":  # what is no JSON is a fault of the submission, wherever it comes from
        assert given("{").code == 1


@pytest.mark.parametrize("name", PRINTING)
def test_a_standard_output_that_is_closed(world: Run, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert world(*line(name)).code == 2


NAMES = ["missing", ".", "un\udcffdecodable", "x" * 300, "medline.xml/below"]


@pytest.mark.parametrize("path", NAMES, ids=ascii)
@pytest.mark.parametrize("name", [name for name in ARGUMENTS if set(FILES) & {*map(str, ARGUMENTS[name])}])
def test_files_that_cannot_be_read(world: Run, name: str, path: str) -> None:
    result = world(*name.split(), *(path if each in FILES else each for each in ARGUMENTS[name]))
    # Of several files, the one that is refused is a fault, and the others are printed.
    assert result.code == (1 if name == "parse" else 2), result.err
    assert "error" in result.err.lower()
    assert "unexpected" not in result.err


NO_HOME = """
import pwd
def unknown(uid): raise KeyError(f"getpwuid(): uid not found: {uid}")
pwd.getpwuid = unknown
from bioqa.app.cli import main
main()
"""


@pytest.mark.parametrize("arguments", [["ask", "metformin"], ["parse", "medline.xml"]])
def test_a_user_without_home(arguments: list[str], world: Run, tmp_path: Path) -> None:
    environment = {
        name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")
    }
    done = subprocess.run(
        [sys.executable, "-c", NO_HOME, *arguments],
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
