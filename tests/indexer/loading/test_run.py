"""Loading: what ends up in the index, whatever happens on the way."""

import gzip
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bioqa.bioasq.domain import Document
from bioqa.indexer.loading import parsing
from bioqa.indexer.loading import run as module
from bioqa.indexer.loading.ledger import LEDGER_FILE, Ledger, order
from bioqa.indexer.loading.run import LoadProgress, LoadReport, load
from bioqa.indexer.search.base import Applied, Rejection
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.system.errors import BioqaError
from tests.indexer.medline_xml import citation, deletion, write
from tests.indexer.targets import MemoryTarget

MANY = 3 * parsing.EVENTS_PER_MESSAGE
"""Citations enough that some are written before the file's end is seen."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Three files in which later ones revise and delete what earlier ones hold."""
    return [
        write(tmp_path / "n1.xml", *(citation(n, f"First {n}.") for n in range(1, MANY + 1))),
        write(
            tmp_path / "n2.xml",
            *(citation(n, f"Second {n}.") for n in range(1, 2 * MANY, 2)),
            citation(7, "Newer version.", version=2),
            deletion(3, 4),
        ),
        write(
            tmp_path / "n3.xml",
            citation(3, "Back again."),
            citation(7, "Older version."),
            *(citation(n, f"Third {n}.") for n in range(10_000, 10_000 + MANY)),
            deletion(10_005, 99_999),
        ),
    ]


def expected_titles() -> dict[str, str]:
    titles = {str(n): f"First {n}." for n in range(1, MANY + 1)}
    titles |= {str(n): f"Second {n}." for n in range(1, 2 * MANY, 2)}
    titles |= {"7": "Newer version.", "3": "Back again."}
    titles |= {str(n): f"Third {n}." for n in range(10_000, 10_000 + MANY)}
    del titles["4"], titles["10005"]
    return titles


def content(folder: Path) -> dict[str, Document]:
    with TantivyIndex.open(folder) as index:
        found = dict(index.get([str(n) for n in range(1, 11_000)]))
        assert len(found) == index.stats().documents
    return found


def titles(folder: Path) -> dict[str, str]:
    return {pmid: document.title for pmid, document in content(folder).items()}


def names(report: LoadReport) -> list[str]:
    return [entry.name for entry in report.loaded]


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_the_index_is_the_fold_of_the_files_in_order(files: list[Path], folder: Path, workers: int) -> None:
    report = load(files, folder, workers=workers)
    assert names(report) == ["n1.xml", "n2.xml", "n3.xml"]
    assert (report.known, report.refused) == ((), ())
    assert titles(folder) == expected_titles()


def test_documents_come_complete(tmp_path: Path, folder: Path) -> None:
    load([write(tmp_path / "a.xml", citation(5, "Title.", "One thing. Another thing."))], folder, workers=1)
    document = content(folder)["5"]
    assert [document.sentence_text(s) for s in document.sentences] == [
        "Title.",
        "One thing.",
        "Another thing.",
    ]
    assert document.published is not None
    assert document.published.isoformat() == "2001-01-01"


def test_counts_add_up(tmp_path: Path, folder: Path) -> None:
    file = write(
        tmp_path / "a.xml",
        citation(1, version=2),
        citation(1, version=1),
        citation(2),
        citation(0),
        deletion(2, 3),
        "<PubmedBookArticle><BookDocument/></PubmedBookArticle>",
    )
    report = load([file], folder, workers=1)
    (entry,) = report.loaded
    assert report.applied == Applied(upserted=2, deleted=1, stale=2)
    assert (sum(entry.skipped.values()), sum(entry.rejected.values())) == (1, 1)
    assert entry.records == 7
    assert entry.size_bytes == file.stat().st_size
    assert Ledger.open(folder).entries == report.loaded


def test_the_joiner_reaches_the_parser(tmp_path: Path, folder: Path) -> None:
    record = citation(1, abstract="One.").replace(
        "</Abstract>", "<AbstractText>Two.</AbstractText></Abstract>"
    )
    load([write(tmp_path / "a.xml", record)], folder, workers=1, joiner=" ")
    assert content(folder)["1"].abstract == "One. Two."


def test_loading_again_does_nothing(files: list[Path], folder: Path) -> None:
    load(files, folder, workers=1)
    before = (folder / "meta.json").read_bytes(), (folder / LEDGER_FILE).read_bytes()
    report = load(files, folder, workers=1)
    assert (report.loaded, report.known) == ((), ("n1.xml", "n2.xml", "n3.xml"))
    assert ((folder / "meta.json").read_bytes(), (folder / LEDGER_FILE).read_bytes()) == before


def test_the_same_content_under_another_name_is_known(tmp_path: Path, folder: Path) -> None:
    first = write(tmp_path / "a.xml", citation(1, "Old."))
    revision = write(tmp_path / "b.xml", citation(1, "New."))
    copy = write(tmp_path / "c.xml", citation(1, "Old."))
    report = load([first, revision, copy], folder, workers=1)
    assert (names(report), report.known) == (["a.xml", "b.xml"], ("c.xml",))
    assert titles(folder) == {"1": "New."}


def test_further_files_are_added(files: list[Path], folder: Path) -> None:
    load(files[:1], folder, workers=1)
    report = load(files, folder, workers=2)
    assert (names(report), report.known) == (["n2.xml", "n3.xml"], ("n1.xml",))
    assert titles(folder) == expected_titles()


def test_nothing_of_a_refused_file_is_kept(files: list[Path], folder: Path, tmp_path: Path) -> None:
    whole = files[1].read_text()
    files[1].write_text(whole[: len(whole) // 2 * 2 - 100])
    report = load(files, folder, workers=2)
    assert names(report) == ["n1.xml", "n3.xml"]
    (refused,) = report.refused
    assert refused.name == "n2.xml"
    assert "n2.xml" in refused.reason
    held = titles(folder)
    assert not [title for title in held.values() if title.startswith(("Second", "Newer"))]
    assert {"4", "7"} <= held.keys()

    files[1].write_text(whole)
    report = load(files, folder, workers=1)
    assert (names(report), report.refused) == (["n2.xml"], ())


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, folder: Path) -> None:
    file = tmp_path / "noise.xml"
    file.write_bytes(b"\x00\x01\x02" * 100)
    good = write(tmp_path / "z.xml", citation(1))
    report = load([file, good], folder, workers=1)
    assert [r.name for r in report.refused] == ["noise.xml"]
    assert titles(folder) == {"1": "A title."}


def test_missing_files_are_told_before_anything_is_made(
    files: list[Path], folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(BioqaError, match=r"no such file: .*x\.xml, .*y\.xml"):
        load([files[0], tmp_path / "x.xml", tmp_path / "y.xml"], folder)
    assert not folder.exists()


@pytest.mark.parametrize("workers", [0, -1, 65])
def test_workers_out_of_range(files: list[Path], folder: Path, workers: int) -> None:
    with pytest.raises(BioqaError, match=f"workers is {workers}"):
        load(files, folder, workers=workers)


def test_no_files_make_an_empty_index(folder: Path) -> None:
    assert load([], folder).loaded == ()
    assert content(folder) == {}


def test_while_another_process_writes(files: list[Path], folder: Path) -> None:
    with TantivyIndex.create(folder) as index:
        index.lock()
        with pytest.raises(BioqaError, match="being written by another process"):
            load(files, folder)


def test_progress_grows_to_the_end(files: list[Path], folder: Path) -> None:
    seen: list[LoadProgress] = []
    load(files, folder, workers=1, progress=seen.append)
    assert [p.events for p in seen] == sorted(p.events for p in seen)
    assert [p.bytes_done for p in seen] == sorted(p.bytes_done for p in seen)
    assert len(seen) > 9
    within = [p.bytes_done for p in seen if p.files_done == 0]
    assert len(set(within)) >= 3  # it grows within a file too
    assert all(0 < done <= files[0].stat().st_size for done in within)
    last = seen[-1]
    assert (
        (last.files_done, last.bytes_done)
        == (last.files, last.bytes)
        == (3, sum(f.stat().st_size for f in files))
    )
    assert last.events == 3 * MANY + 7


def test_progress_is_told_in_bytes_on_disk(tmp_path: Path, folder: Path) -> None:
    plain = write(tmp_path / "a.xml", *(citation(n, f"Title {n}.") for n in range(1, 5 * MANY)))
    file = tmp_path / "a.xml.gz"
    file.write_bytes(gzip.compress(plain.read_bytes()))
    seen: list[LoadProgress] = []
    load([file], folder, workers=1, progress=seen.append)
    done = [p.bytes_done for p in seen]
    assert done == sorted(done)
    assert 0 < done[0] < done[len(done) // 2] < done[-1] == file.stat().st_size


# Targets


def test_a_target_is_used_and_left_open(files: list[Path]) -> None:
    target = MemoryTarget()
    report = load(files, target, workers=2)
    assert {str(pmid): title for pmid, title in target.titles().items()} == expected_titles()
    assert target.calls == [
        "commit",
        "note n1.xml",
        "commit",
        "note n2.xml",
        "commit",
        "note n3.xml",
        "finish",
    ]
    assert target.loaded == report.loaded


def test_events_are_numbered_by_file_and_record(files: list[Path]) -> None:
    target = MemoryTarget()
    load(files, target, workers=2)
    records = [MANY, MANY + 3, MANY + 4]
    assert [entry.number for entry in target.loaded] == [1, 2, 3]
    assert target.orders == [order(n, r) for n, count in enumerate(records, 1) for r in range(count)]


def test_nothing_of_a_broken_file_is_written_where_it_cannot_be_taken_back(files: list[Path]) -> None:
    whole = files[1].read_text()
    files[1].write_text(whole[:-30])
    target = MemoryTarget(whole_files=True, orders_itself=True)
    report = load(files, target, workers=2)
    assert [r.name for r in report.refused] == ["n2.xml"]
    assert target.calls == ["commit", "note n1.xml", "commit", "note n3.xml", "finish"]
    assert {n >> 26 for n in target.orders} == {1, 3}
    files[1].write_text(whole)
    load(files, target, workers=2)
    assert {str(pmid): title for pmid, title in target.titles().items()} == expected_titles()


def test_a_run_that_fails_is_not_finished(files: list[Path]) -> None:
    class Full(MemoryTarget):
        def commit(self) -> Applied:
            raise BioqaError("full")

    target = Full()
    with pytest.raises(BioqaError, match="full"):
        load(files, target, workers=1)
    assert target.calls == []
    load([], target, workers=1, finish=False)
    assert target.calls == []


def test_a_target_that_loses_events_is_found_out(files: list[Path]) -> None:
    class Forgetful(MemoryTarget):
        def commit(self) -> Applied:
            return replace(super().commit(), upserted=MANY - 1)

    target = Forgetful()
    with pytest.raises(RuntimeError, match=rf"n1.xml: {MANY} events .* accounts for {MANY - 1}$"):
        load(files, target, workers=1)
    assert target.loaded == ()


def test_what_the_search_engine_rejects_is_counted_and_listed(tmp_path: Path) -> None:
    file = write(tmp_path / "a.xml", *(citation(n) for n in range(1, 8)), citation(0), deletion(3))
    target = MemoryTarget(refuses=[2, 3, 6])
    report = load([file, write(tmp_path / "b.xml", citation(2), citation(9))], target, workers=1)
    first, second = report.loaded
    assert (first.records, first.upserted, first.deleted) == (9, 4, 0)
    assert first.rejected == {"PMID is not a positive integer": 1, "mapping": 4}
    assert (second.records, second.upserted, second.rejected) == (2, 1, {"mapping": 1})
    assert [(name, r.pmid, r.reason) for name, r in report.rejections] == [
        *(("a.xml", pmid, f"mapping: no field for {pmid}") for pmid in ("2", "3", "6", "3")),
        ("b.xml", "2", "mapping: no field for 2"),
    ]
    assert report.rejections_unlisted == 0


def test_a_file_of_which_everything_is_rejected_is_not_noted(tmp_path: Path) -> None:
    many = range(1, module.SUSPICIOUS_REJECTIONS + 1)
    target = MemoryTarget(refuses=many)
    path = write(tmp_path / "a.xml", *(citation(n) for n in many))
    with pytest.raises(
        BioqaError, match=r"the index accepts nothing of .*a\.xml, .* first reason: mapping: no"
    ):
        load([path], target, workers=1)
    assert target.loaded == ()
    few = write(tmp_path / "b.xml", *(citation(n) for n in many[1:]))
    assert len(load([few], target, workers=1).rejections) == len(many) - 1


def test_of_many_rejections_some_are_listed(tmp_path: Path) -> None:
    class Refusing(MemoryTarget):
        def commit(self) -> Applied:
            applied = super().commit()
            reasons = [
                f"{r.pmid} bytes are too many" if int(r.pmid) % 2 else f"kind {'x' * int(r.pmid)}: no"
                for r in applied.rejected
            ]
            return replace(
                applied,
                rejected=tuple(
                    Rejection(r.pmid, reason) for r, reason in zip(applied.rejected, reasons, strict=True)
                ),
            )

    many = range(1, module.MAX_REJECTIONS + 8)
    target = Refusing(refuses=many)
    taken = citation(5000)
    files = [write(tmp_path / f"{part}.xml", *(citation(n) for n in many), taken) for part in "ab"]
    files[1].write_text(files[1].read_text() + "<!-- another content -->")
    report = load(files, target, workers=1)
    assert len(report.rejections) == module.MAX_REJECTIONS
    assert report.rejections_unlisted == module.MAX_REJECTIONS + 14
    for entry in report.loaded:
        assert sum(entry.rejected.values()) == entry.records - 1 == len(many)
        assert entry.rejected["N bytes are too many"] == (len(many) + 1) // 2
        assert len(entry.rejected) == module.MAX_REASONS + 1
        assert max(map(len, entry.rejected)) <= 100


# Crashes

KILLED_WHILE_LOADING = """
import os, signal, sys
from pathlib import Path
from bioqa.indexer.loading import run as module

if __name__ == "__main__":
    moment, folder, *files = sys.argv[1:]

    def die(*_):
        os.kill(os.getpid(), signal.SIGKILL)

    def at_event(progress):
        if moment.isdigit() and progress.events >= int(moment):
            die()

    if moment == "before ledger":
        module.FolderTarget.note = die
    if moment == "before commit":
        module.FolderTarget.commit = die
    module.load([Path(f) for f in files], Path(folder), workers=2, progress=at_event)
"""


@pytest.mark.parametrize(
    ("moment", "files_kept"),
    [
        ("before commit", 0),
        ("before ledger", 0),
        ("1", 0),
        (str(MANY), 0),
        (str(MANY + 250), 1),
        (str(2 * MANY + 250), 2),
    ],
)
def test_killed_at_any_moment_it_goes_on(
    files: list[Path], folder: Path, tmp_path: Path, moment: str, files_kept: int
) -> None:
    script = tmp_path / "killed.py"
    script.write_text(KILLED_WHILE_LOADING)
    root = Path(__file__).resolve().parents[3]
    killed = subprocess.run(
        [sys.executable, str(script), moment, str(folder), *map(str, files)],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    held = titles(folder)
    in_ledger = [entry.name for entry in Ledger.open(folder).entries]
    assert in_ledger == [f.name for f in files[:files_kept]]
    assert bool(held) == (files_kept > 0 or moment == "before ledger")

    report = load(files, folder, workers=2)
    assert list(report.known) == in_ledger
    assert titles(folder) == expected_titles()
    whole = folder.with_name("uninterrupted")
    load(files, whole, workers=1)
    assert content(folder) == content(whole)


@pytest.fixture
def parsers(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The parsing processes that are started from here on."""
    started: list[subprocess.Popen[bytes]] = []

    class Recorded(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    return started


def test_interrupted_it_stops_cleanly_and_goes_on(
    files: list[Path], folder: Path, parsers: list[subprocess.Popen[bytes]]
) -> None:
    def interrupt(progress: LoadProgress) -> None:
        if progress.events > MANY:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load(files, folder, workers=2, progress=interrupt)
    assert len(parsers) == 2
    assert all(process.poll() is not None for process in parsers)
    assert len(titles(folder)) == MANY
    assert names(load(files, folder, workers=2)) == ["n2.xml", "n3.xml"]
    assert titles(folder) == expected_titles()


def test_a_parser_that_dies_is_noticed(
    files: list[Path],
    folder: Path,
    parsers: list[subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parsing, "MESSAGES_AHEAD", 1)

    def kill_parsers(progress: LoadProgress) -> None:
        for process in parsers:
            process.kill()

    with pytest.raises(BioqaError, match=r"the process that parsed .*xml ended with code -9"):
        load(files, folder, workers=1, progress=kill_parsers)
    load(files, folder, workers=1)
    assert titles(folder) == expected_titles()


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from bioqa.system.errors import BioqaError
from bioqa.indexer.loading.run import load

if __name__ == "__main__":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, 4_000))
    try:
        load([Path(f) for f in sys.argv[2:]], Path(sys.argv[1]), workers=1)
    except BioqaError as error:
        sys.exit(f"told: {error}")
"""


def test_a_write_that_fails_is_told_and_the_run_resumes(
    files: list[Path], folder: Path, tmp_path: Path
) -> None:
    script = tmp_path / "full.py"
    script.write_text(FULL_DISK)
    root = Path(__file__).resolve().parents[3]
    failed = subprocess.run(
        [sys.executable, str(script), str(folder), *map(str, files)],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "told: " in failed.stderr, failed.stderr
    assert failed.returncode == 1
    load(files, folder, workers=1)
    assert titles(folder) == expected_titles()


# Ledger


def test_a_torn_last_line_is_loaded_again(files: list[Path], folder: Path) -> None:
    load(files, folder, workers=1)
    ledger = folder / LEDGER_FILE
    whole = ledger.read_bytes()
    ledger.write_bytes(whole[:-20])
    assert [entry.name for entry in Ledger.open(folder).entries] == ["n1.xml", "n2.xml"]
    assert names(load(files, folder, workers=1)) == ["n3.xml"]
    assert [json.loads(line)["name"] for line in ledger.read_text().splitlines()] == [
        "n1.xml",
        "n2.xml",
        "n3.xml",
    ]
    assert titles(folder) == expected_titles()


# The pool


def test_the_whole_pool(pool_index: Path) -> None:
    entries = Ledger.open(pool_index).entries
    assert [(e.name, e.records, e.upserted) for e in entries] == [
        ("pool0001.xml.gz", 30_000, 30_000),
        ("pool0002.xml.gz", 14_448, 14_448),
    ]
    with TantivyIndex.open(pool_index) as index:
        assert index.stats().documents == 44_448


# What a user may give


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.xml"))
    write(path, citation(1))
    folder = tmp_path / "index"
    assert [entry.name for entry in load([path], folder, workers=1).loaded] == [r"caf\xe9.xml"]
    assert load([path], folder, workers=1).known == (r"caf\xe9.xml",)
    write(path, citation(1, "Anew."))
    assert [entry.name for entry in load([path], folder, workers=1).loaded] == [r"caf\xe9.xml"]


def test_a_folder_a_pipe_and_standard_input_are_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, words in (
        (tmp_path, rf"{tmp_path} is a folder; give its files: {tmp_path}/\*\.xml\.gz"),
        (tmp_path / "pipe", "pipe cannot be loaded, because a file is read twice"),
        (Path("-"), "standard input cannot be loaded"),
        (tmp_path / "absent", "no such file: .*absent"),
    ):
        with pytest.raises(BioqaError, match=words):
            load([path], tmp_path / "index")
    assert not (tmp_path / "index").exists()
