"""Damaged files of an embedded index: a clear error, never the end of the process."""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bioqa.indexer.medline.events import Delete, Upsert
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.indexer.search.tantivy.segments import check_checksums, check_footers
from bioqa.system.errors import BioqaError
from tests.indexer.documents import document

SUFFIXES = ("idx", "pos", "term", "store", "fast", "fieldnorm", "del")

USE = """
import sys
from pathlib import Path
from bioqa.system.errors import BioqaError
from bioqa.indexer.medline.events import Delete, Upsert
from bioqa.indexer.search.tantivy.index import TantivyIndex
from tests.indexer.documents import document

folder, when = Path(sys.argv[1]), sys.argv[2]
damages = [p for p in folder.with_name("bad").iterdir()]

def damage():
    for path in damages:  # in place, as a failing disk does: what is mapped changes
        (folder / path.name).open("r+b").write(path.read_bytes())

def attempt(name, what):
    try:
        what()
        print(name, "done")
    except BioqaError as error:
        print(name, "error:", error)

def use():
    index = TantivyIndex.open(folder)
    if when == "opened":
        damage()
    attempt("search", lambda: index.search("insulin"))
    attempt("get", lambda: index.get(["1", "200"]))
    attempt("stats", index.stats)
    attempt("documents", lambda: list(index.documents()))
    attempt("write", lambda: index.apply([Upsert(document(1)), Delete("5")]))
    attempt("commit", index.commit)
    attempt("check", index.check)
    attempt("close", index.close)

if when == "before":
    damage()
attempt("use", use)
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("segments") / "whole"
    with TantivyIndex.create(folder) as index:
        index.apply(Upsert(document(n, f"Insulin {n}.", "Of mice and men.")) for n in range(1, 300))
        index.commit()
    with TantivyIndex.open(folder) as index:
        index.apply([Delete("7")])
        index.commit()
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "index"))


def files(folder: Path, suffix: str) -> list[Path]:
    found = sorted(folder.glob(f"*.{suffix}"))
    assert found
    return found


def test_a_whole_index_passes(folder: Path) -> None:
    check_footers(folder)
    assert check_checksums(folder) >= len(SUFFIXES)
    with TantivyIndex.open(folder) as index:
        assert index.check() == check_checksums(folder)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("kept", [0, 5, 0.5, -1, -90])
def test_a_truncated_file_is_named_before_it_is_mapped(folder: Path, suffix: str, kept: float) -> None:
    path = files(folder, suffix)[0]
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content)) if 0 < kept < 1 else int(kept)])
    for open_it in (TantivyIndex.open, TantivyIndex.create):
        with pytest.raises(BioqaError, match=rf"damaged: {path.name} is truncated .*; restore the folder"):
            open_it(folder)
    with pytest.raises(BioqaError, match=path.name):
        check_checksums(folder)


def test_a_file_truncated_before_a_commit_is_seen_when_the_commit_is(folder: Path) -> None:
    with TantivyIndex.open(folder) as reader:
        with TantivyIndex.open(folder) as writer:
            writer.apply([Upsert(document(1000, "Insulin."))])
            writer.commit()
        new = max(folder.glob("*.store"), key=lambda path: path.stat().st_mtime_ns)
        new.write_bytes(new.read_bytes()[:10])
        for _ in range(2):
            with pytest.raises(BioqaError, match=f"{new.name} is truncated"):
                reader.search("insulin")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_truncated_while_it_is_mapped_is_not_read(folder: Path, suffix: str) -> None:
    path = files(folder, suffix)[0]
    content = path.read_bytes()
    with TantivyIndex.open(folder) as index:
        os.truncate(path, 10)
        for ask in (lambda: index.search("insulin"), lambda: index.get(["1"]), index.stats):
            with pytest.raises(BioqaError, match=f"{path.name} was truncated to 10 bytes while in use"):
                ask()
        path.write_bytes(content)
        assert len(index.search("insulin")) == 100


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_changed_byte_is_found_by_the_checksum(folder: Path, suffix: str) -> None:
    path = files(folder, suffix)[-1]
    content = bytearray(path.read_bytes())
    content[0] ^= 1
    path.write_bytes(content)
    check_footers(folder)
    with pytest.raises(BioqaError, match=f"{path.name} has not the content that was written"):
        check_checksums(folder)


@pytest.mark.parametrize("meta", [b"{", b"{}", b'{"segments": [{}]}', b'{"segments": 5}', b"\xff"])
def test_a_damaged_meta_file(folder: Path, meta: bytes) -> None:
    (folder / "meta.json").write_bytes(meta)
    with pytest.raises(BioqaError, match=r"cannot be used: meta\.json is damaged"):
        TantivyIndex.open(folder)


def test_files_of_no_segment_do_not_matter(folder: Path) -> None:
    (folder / f"{'0' * 32}.store").write_bytes(b"left by a crash")
    with TantivyIndex.open(folder) as index:
        assert len(index.search("insulin")) == 100


@pytest.mark.parametrize("when", ["before", "opened"])
@pytest.mark.parametrize("suffix", ["idx", "term", "store", "fast", "fieldnorm"])
def test_random_bytes_never_end_the_process(folder: Path, suffix: str, when: str) -> None:
    """In a process of its own, for it may end. The footers stay whole."""
    chance = random.Random(suffix)
    bad = folder.with_name("bad")
    bad.mkdir()
    for path in files(folder, suffix):
        size = path.stat().st_size - 100
        (bad / path.name).write_bytes(chance.randbytes(max(size, 1)))
    result = subprocess.run(
        [sys.executable, "-c", USE, str(folder), when],
        cwd=Path(__file__).resolve().parents[4],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert len(lines) == (1 if lines[0].startswith("use error") else 9)
    errors = [line for line in lines if "error:" in line]
    assert any("damaged" in line or "cannot be used" in line for line in errors), json.dumps(lines)
