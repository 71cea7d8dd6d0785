"""``bioqa keys``: a key is shown once; the file holds hashes only."""

import json
from pathlib import Path

import pytest

from bioqa.app.security import keyfile
from bioqa.app.security.keys import ApiKey, digest
from tests.app.conftest import Run


def test_a_new_key_is_printed_once_and_its_hash_kept(command: Run, tmp_path: Path) -> None:
    path = tmp_path / "keys"
    made = command(
        "keys", "new", "ada", "--file", path, "--per-minute", 60, "--burst", 5, "--expires", "2030-01-31"
    )
    assert made.code == 0
    secret = made.out.strip()
    assert secret.startswith("bioqa_")
    text = path.read_text()
    assert text == f"ada sha256:{digest(secret).hex()} per_minute=60 burst=5 expires=2030-01-31\n"
    assert secret not in text + made.err
    listed = command("keys", "list", "--file", path)
    assert listed.out == "ada per_minute=60 burst=5 expires=2030-01-31\n"
    assert digest(secret).hex() not in listed.out


def test_the_setting_names_the_file_and_expired_keys_are_told(
    command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIOQA_API_KEYS_FILE", str(tmp_path / "keys"))
    assert command("keys", "new", "ada").code == 0
    assert command("keys", "new", "old", "--expires", "2020-01-01").code == 0
    assert command("keys", "list").out == "ada\nold expires=2020-01-01 (expired)\n"
    lines = [json.loads(line) for line in command("keys", "list", "--json").out.splitlines()]
    assert lines == [
        {"name": "ada", "expired": False},
        {"name": "old", "expires": "2020-01-01", "expired": True},
    ]
    assert command("keys", "revoke", "ada").code == 0
    assert [key.name for key in keyfile.read(tmp_path / "keys")] == ["old"]


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("new", "ada"), "ada already"),
        (("new", "a b"), "letters, digits"),
        (("new", "bob", "--per-minute", "0"), "per_minute must be from 1"),
        (("revoke", "bob"), "no key named bob"),
    ],
)
def test_what_cannot_be_done_is_told_and_changes_nothing(
    command: Run, tmp_path: Path, arguments: tuple[str, ...], fault: str
) -> None:
    path = tmp_path / "keys"
    keyfile.add(path, ApiKey("ada", digest("a")))
    before = path.read_bytes()
    result = command("keys", *arguments, "--file", path)
    assert (result.code, result.out) == (2, "")
    assert fault in result.err
    assert path.read_bytes() == before


def test_an_administrators_key_is_known_as_one(command: Run, tmp_path: Path) -> None:
    path = tmp_path / "keys"
    assert command("keys", "new", "root", "--file", path, "--admin").code == 0
    assert path.read_text().endswith(" role=admin\n")
    assert [key.is_admin for key in keyfile.read(path)] == [True]
    assert command("keys", "list", "--file", path).out == "root role=admin\n"


def test_without_a_file_the_commands_ask_for_one(command: Run) -> None:
    result = command("keys", "list")
    assert result.code == 2
    assert "BIOQA_API_KEYS_FILE" in result.err


def test_an_empty_file_lets_nobody_in(command: Run, tmp_path: Path) -> None:
    (tmp_path / "keys").touch()
    result = command("keys", "list", "--file", tmp_path / "keys")
    assert (result.code, result.out) == (0, "")
    assert "every request is refused" in result.err
