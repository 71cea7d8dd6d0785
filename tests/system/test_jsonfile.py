"""JSON files: strict in, whole or not at all out."""

import bz2
import gzip
import json
import lzma
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import has_lone_surrogate, parse_json, read_json, show, write_json


@pytest.mark.parametrize("name", ["plain", "plain.json", "packed.json.gz", "packed"])
def test_plain_and_gzip_are_told_by_content(tmp_path: Path, name: str) -> None:
    raw = '{"a": "β\u2009"}'.encode()
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.startswith("packed") else raw)
    assert read_json(tmp_path / name) == {"a": "β\u2009"}


def test_a_byte_order_mark_is_no_content() -> None:
    assert parse_json(b"\xef\xbb\xbf[1]", "x") == [1]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "not JSON"),
        (b'{"questions": [', "not JSON: .*line 1"),
        (b"[NaN]", "not JSON: NaN is not a JSON value"),
        (b"[-Infinity]", "not JSON: -Infinity"),
        (b'["\xff"]', "not UTF-8: byte 2"),
        (b"[" * 200_000, "not usable JSON: nested too deeply"),
        (b"1" * 5000, "not JSON"),
        (gzip.compress(b'{"a": "' + os.urandom(999))[:-100], "broken gzip file"),
        (b"\x1f\x8bno gzip", "broken gzip file"),
    ],
    ids=["empty", "cut", "nan", "infinity", "latin-1", "deep", "digits", "gzip cut", "gzip bad"],
)
def test_what_is_not_json_is_refused_by_name(tmp_path: Path, raw: bytes, message: str) -> None:
    path = tmp_path / "batch-1"
    path.write_bytes(raw)
    with pytest.raises(BioqaError, match=f"batch-1: {message}"):
        read_json(path)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(BioqaError, match="absent: cannot be read: No such file"):
        read_json(tmp_path / "absent")
    with pytest.raises(BioqaError, match=f"{tmp_path.name}: cannot be read: Is a directory"):
        read_json(tmp_path)


def test_writing_leaves_the_file_and_nothing_else(tmp_path: Path) -> None:
    write_json(tmp_path / "out", {"a": "α"})
    write_json(tmp_path / "out", {"a": "β"})
    assert (tmp_path / "out").read_bytes().decode() == '{\n  "a": "β"\n}\n'
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out"
    write_json(path, ["old"])

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(BioqaError, match="out: cannot be written: No space left on device"):
        write_json(path, ["new"])
    assert json.loads(path.read_text()) == ["old"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_no_reader_accepts_is_not_written(tmp_path: Path) -> None:
    for value in (float("nan"), float("inf"), "\ud800"):
        with pytest.raises(ValueError):
            write_json(tmp_path / "out", [value])
    assert list(tmp_path.iterdir()) == []


def test_no_folder_or_a_folder_in_the_way(tmp_path: Path) -> None:
    with pytest.raises(BioqaError, match="cannot be written: No such file"):
        write_json(tmp_path / "absent" / "out", [])
    with pytest.raises(BioqaError, match="cannot be written: not a regular file"):
        write_json(tmp_path, [])


def test_the_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").write_text("")
    write_json(tmp_path / "out", [])
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_an_existing_files_permissions_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    path.chmod(0o640)
    write_json(path, [])
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    real, link, chained = tmp_path / "store" / "real", tmp_path / "link", tmp_path / "chained"
    link.symlink_to("store/real")
    chained.symlink_to(link)
    write_json(link, [1])  # its target does not exist yet
    assert (link.is_symlink(), json.loads(real.read_text())) == (True, [1])
    write_json(chained, [2])
    assert (chained.is_symlink(), link.is_symlink(), json.loads(real.read_text())) == (True, True, [2])
    assert [path.name for path in real.parent.iterdir()] == ["real"]


def test_links_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(BioqaError, match="a: cannot be written: "):
        write_json(tmp_path / "a", [])


def run(code: str, *arguments: str, **more: Any) -> subprocess.CompletedProcess[bytes]:
    prelude = "import sys; from bioqa.system.jsonfile import *\n"
    command = [sys.executable, "-c", prelude + code, *arguments]
    return subprocess.run(command, check=True, stdout=more.pop("stdout", subprocess.PIPE), timeout=60, **more)


def test_standard_output_is_written_to_and_never_replaced(tmp_path: Path) -> None:
    link = tmp_path / "stdout"
    link.symlink_to("/proc/self/fd/1")
    code = "print('before'); write_json(sys.argv[1], [1]); print('after')"
    for named in ("-", "/dev/stdout", str(link)):
        assert run(code, named, cwd=tmp_path).stdout == b"before\n[\n  1\n]\nafter\n"
        with (tmp_path / "redirected").open("wb") as redirected:
            run(code, named, cwd=tmp_path, stdout=redirected)
        assert (tmp_path / "redirected").read_bytes() == b"before\n[\n  1\n]\nafter\n"
        assert link.is_symlink()
    assert not (tmp_path / "-").exists()


def test_pipes_are_written_to_and_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writing = threading.Thread(target=write_json, args=(pipe, ["through"]))
    writing.start()
    assert read_json(pipe) == ["through"]
    writing.join()
    assert pipe.is_fifo()


def test_standard_input_is_read() -> None:
    code = "print(read_json('-'))"
    assert run(code, input=b"[1]").stdout == b"[1]\n"
    assert run(code, input=gzip.compress(b"[1]")).stdout == b"[1]\n"


def test_gzip_of_several_members(tmp_path: Path) -> None:
    (tmp_path / "two").write_bytes(gzip.compress(b"[1,") + gzip.compress(b" 2]") + bytes(100))
    assert read_json(tmp_path / "two") == [1, 2]


@pytest.mark.parametrize(
    ("packed", "kind"),
    [
        (bz2.compress(b"[]"), "a bzip2 file"),
        (lzma.compress(b"[]"), "an xz file"),
        (b"PK\x03\x04 and more", "a zip file"),
        (gzip.compress(gzip.compress(b"[]", mtime=0), mtime=0), "a gzip file within a gzip file"),
    ],
)
def test_other_packed_files_are_named(tmp_path: Path, packed: bytes, kind: str) -> None:
    (tmp_path / "in.json").write_bytes(packed)
    with pytest.raises(BioqaError, match=f"in.json: is {kind}; unpack it first"):
        read_json(tmp_path / "in.json")


def test_lone_surrogates_are_not_pairs() -> None:
    assert has_lone_surrogate(json.loads(r'"a\ud800b"'))
    assert not has_lone_surrogate(json.loads(r'"\ud83e\uddec"'))
    assert not has_lone_surrogate("β\u2009\x00")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("é\ud800", r'"\u00e9\ud800"'),
        ("x" * 99, '"' + "x" * 77 + '..."'),
        (None, "null"),
        (True, "true"),
        (7, "7"),
        (-(10**21), "a huge number"),
        (1.5, "1.5"),
        ([1], "a list"),
        ({}, "an object"),
        ((), "a tuple"),
    ],
)
def test_shown(value: object, words: str) -> None:
    assert show(value) == words


def test_a_number_too_long_to_print_is_shown() -> None:
    assert show(10**5000) == "a huge number"  # int's own str() refuses it
