"""JSON files: strict in, whole or not at all out."""

import gzip
import json
import os
from pathlib import Path

import pytest

from bioqa.bioasq.errors import BioqaError
from bioqa.bioasq.jsonfile import has_lone_surrogate, parse_json, read_json, shown, write_json


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
    assert shown(value) == words


def test_a_number_too_long_to_print_is_shown() -> None:
    assert shown(10**5000) == "a huge number"  # int's own str() refuses it
