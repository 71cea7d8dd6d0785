"""The file of keys: changed whole or not at all, and read again when it changes."""

import logging
import threading
from datetime import date
from pathlib import Path

import pytest

from bioqa.app.security import keyfile
from bioqa.app.security.keyfile import KeyRing
from bioqa.app.security.keys import ApiKey, ApiKeyError, digest


def names(path: Path) -> list[str]:
    return [key.name for key in keyfile.read(path)]


def test_a_new_file_is_its_owners_alone_and_an_old_one_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    keyfile.add(path, ApiKey("ada", digest("a")))
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    path.write_text("# staff\n" + path.read_text().rstrip("\n"))
    keyfile.add(path, ApiKey("bob", digest("b"), 60))
    assert path.stat().st_mode & 0o777 == 0o640
    lines = [f"ada sha256:{digest('a').hex()}", f"bob sha256:{digest('b').hex()} per_minute=60"]
    assert path.read_text().splitlines() == ["# staff", *lines]
    keyfile.remove(path, "ada")
    assert path.read_text() == f"# staff\n{lines[1]}\n"
    assert list(tmp_path.iterdir()) == [path]


def test_names_are_given_once_and_only_what_is_there_can_be_revoked(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    keyfile.add(path, ApiKey("ada", digest("a")))
    before = path.read_bytes()
    with pytest.raises(ApiKeyError, match="ada already"):
        keyfile.add(path, ApiKey("ada", digest("other")))
    with pytest.raises(ApiKeyError, match="no key named sha256"):
        keyfile.remove(path, "sha256")
    assert path.read_bytes() == before


def test_a_broken_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text("nonsense\n")
    with pytest.raises(ApiKeyError, match="line 1"):
        keyfile.add(path, ApiKey("ada", digest("a")))
    with pytest.raises(ApiKeyError, match="line 1"):
        keyfile.remove(path, "nonsense")
    assert path.read_text() == "nonsense\n"


def test_many_at_once_lose_none(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    threads = [
        threading.Thread(target=keyfile.add, args=(path, ApiKey(f"n{n}", digest(str(n))))) for n in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(names(path)) == sorted(f"n{n}" for n in range(12))


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "keys"
    link.symlink_to(tmp_path / "real" / "keys")
    keyfile.add(link, ApiKey("ada", digest("a")))
    assert link.is_symlink()
    assert names(tmp_path / "real" / "keys") == ["ada"]


def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(ApiKeyError, match=r"absent.*cannot be read: No such file"):
        KeyRing(tmp_path / "absent")
    with pytest.raises(ApiKeyError, match="cannot be changed"):
        keyfile.add(tmp_path / "absent" / "keys", ApiKey("ada", digest("a")))
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(ApiKeyError, match="not UTF-8"):
        keyfile.read(tmp_path / "binary")


def test_a_change_holds_from_the_next_look_on(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    keyfile.add(path, ApiKey("ada", digest("a")))
    ring = KeyRing(path)
    assert ring.find("b") is None
    keyfile.add(path, ApiKey("bob", digest("b")))
    assert ring.find("b") == ApiKey("bob", digest("b"))
    keyfile.remove(path, "bob")
    assert ring.find("b") is None
    assert ring.find("a") == ApiKey("ada", digest("a"))


def test_a_file_that_becomes_unusable_changes_nothing_and_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "keys"
    keyfile.add(path, ApiKey("ada", digest("a")))
    ring = KeyRing(path)
    with caplog.at_level(logging.INFO, "bioqa"):
        path.write_text("half a li")
        assert [ring.find("a") is not None for _ in range(3)] == [True] * 3
        path.unlink()
        assert ring.find("a") is not None
        assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]
        keyfile.add(path, ApiKey("bob", digest("b")))
        assert ring.find("a") is None
        assert ring.find("b") is not None
    assert caplog.messages[-1] == "API keys read anew: 1"


def test_a_ring_looks_at_the_day(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    keyfile.add(path, ApiKey("ada", digest("a"), expires=date(2027, 1, 1)))
    day = date(2026, 12, 31)
    ring = KeyRing(path, today=lambda: day)
    assert ring.find("a") is not None
    day = date(2027, 1, 1)
    assert ring.find("a") is None
