"""The file of keys: changed whole or not at all, and read again when it changes."""

import errno
import logging
import os
import threading
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from bioqa.app.security import keyfile
from bioqa.app.security.keyfile import GRACE_S, RETRY_S, SETTLED_S, KeyRing, KeysUnavailable
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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_root_changes_stays_its_owners(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    keyfile.add(path, ApiKey("ada", digest("a")))
    os.chown(path, 4321, 4322)
    path.chmod(0o640)
    keyfile.remove(path, "ada")
    keyfile.add(path, ApiKey("bob", digest("b")))
    state = path.stat()
    assert (state.st_uid, state.st_gid, state.st_mode & 0o777) == (4321, 4322, 0o640)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_who_could_not_keep_the_owner_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "keys"
    keyfile.add(path, ApiKey("ada", digest("a")))
    os.chown(path, 4321, 4322)
    before = path.read_bytes()

    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refused)
    with pytest.raises(ApiKeyError, match="belongs to user 4321 and group 4322"):
        keyfile.remove(path, "ada")
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_all_names_of_a_file_show_the_change(tmp_path: Path) -> None:
    path, other = tmp_path / "keys", tmp_path / "other"
    keyfile.add(path, ApiKey("ada", digest("a")))
    other.hardlink_to(path)
    keyfile.add(path, ApiKey("bob", digest("b")))
    keyfile.remove(path, "ada")
    assert names(other) == names(path) == ["bob"]


def test_a_file_that_is_mounted_alone_is_written_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "keys"
    keyfile.add(path, ApiKey("ada", digest("a")))

    def busy(*_: object) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(Path, "replace", busy)
    keyfile.remove(path, "ada")
    assert names(path) == []
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(ApiKeyError, match=r"absent.*cannot be read: No such file"):
        KeyRing(tmp_path / "absent")
    with pytest.raises(ApiKeyError, match="cannot be changed"):
        keyfile.add(tmp_path / "absent" / "keys", ApiKey("ada", digest("a")))
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(ApiKeyError, match="not UTF-8"):
        keyfile.read(tmp_path / "binary")


class Clock:
    """The time now, and as much later as a test wants."""

    def __init__(self) -> None:
        self.later = 0.0

    def __call__(self) -> float:
        return time.time() + self.later


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
    assert ring.trouble is None


def _delete(path: Path) -> None:
    path.unlink()


def _break(path: Path) -> None:
    path.write_text("half a li")


def _replace_by_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _make_unreadable_text(path: Path) -> None:
    path.write_bytes(b"\xff\xfe")


UNUSABLE = (_delete, _break, _replace_by_a_folder, _make_unreadable_text)


@pytest.mark.parametrize("spoil", UNUSABLE)
def test_keys_of_a_file_that_became_unusable_work_for_a_stated_time_and_no_longer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, spoil: Callable[[Path], None]
) -> None:
    path, clock = tmp_path / "keys", Clock()
    keyfile.add(path, ApiKey("ada", digest("a")))
    ring = KeyRing(path, clock=clock)
    with caplog.at_level(logging.INFO, "bioqa"):
        spoil(path)
        clock.later = SETTLED_S + 0.1
        assert [ring.find("a") is not None for _ in range(3)] == [True] * 3
        assert "soon all refused" in str(ring.trouble)
        assert str(tmp_path) not in str(ring.trouble)
        assert [record.levelname for record in caplog.records] == ["ERROR"]
        clock.later = GRACE_S + 0.1
        for _ in range(3):
            with pytest.raises(KeysUnavailable):
                ring.find("a")
        assert "every key is refused" in str(ring.trouble)
        assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]
        if path.is_dir():
            path.rmdir()
        path.unlink(missing_ok=True)
        keyfile.add(path, ApiKey("bob", digest("b")))
        clock.later += SETTLED_S
        assert ring.find("a") is None
        assert ring.find("b") is not None
        assert ring.trouble is None
    assert caplog.messages[-1] == "API keys read anew: 1"
    assert ring.failures == 1


def test_nobody_who_asks_late_is_let_in_by_the_last_keys(tmp_path: Path) -> None:
    path, clock = tmp_path / "keys", Clock()
    keyfile.add(path, ApiKey("ada", digest("a")))
    ring = KeyRing(path, clock=clock)
    path.unlink()
    clock.later = 2 * GRACE_S  # the first request since
    with pytest.raises(KeysUnavailable):
        ring.find("a")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_permissions_given_back_are_seen(tmp_path: Path) -> None:
    path, clock = tmp_path / "keys", Clock()
    keyfile.add(path, ApiKey("ada", digest("a")))
    ring = KeyRing(path, clock=clock)
    path.chmod(0)
    assert ring.find("a") is not None
    assert ring.trouble
    path.chmod(0o600)
    clock.later = RETRY_S
    assert ring.trouble is None


@pytest.mark.parametrize("half", ["", "ada sha2", "# staff\n"])
def test_a_key_is_let_in_while_its_file_is_rewritten_in_place(tmp_path: Path, half: str) -> None:
    path, clock = tmp_path / "keys", Clock()
    keyfile.add(path, ApiKey("ada", digest("a")))
    keyfile.add(path, ApiKey("bob", digest("b")))
    ring = KeyRing(path, clock=clock)
    path.write_text(half)
    assert ring.find("a") is not None
    assert ring.trouble is None
    path.write_text(ApiKey("ada", digest("a")).line())
    clock.later = SETTLED_S + 0.1
    assert ring.find("a") is not None
    assert ring.find("b") is None, "revoked by hand"


def test_an_empty_file_that_stays_so_lets_nobody_in(tmp_path: Path) -> None:
    path, clock = tmp_path / "keys", Clock()
    keyfile.add(path, ApiKey("ada", digest("a")))
    ring = KeyRing(path, clock=clock)
    path.write_text("")
    clock.later = SETTLED_S + 0.1
    assert ring.find("a") is None
    assert ring.trouble is None


def test_a_ring_looks_at_the_day(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    keyfile.add(path, ApiKey("ada", digest("a"), expires=date(2027, 1, 1)))
    day = date(2026, 12, 31)
    ring = KeyRing(path, today=lambda: day)
    assert ring.find("a") is not None
    day = date(2027, 1, 1)
    assert ring.find("a") is None
