import subprocess
import sys
from pathlib import Path

import pytest

from bioqa.models.folders import put_back, written_whole
from bioqa.system.errors import BioqaError

KILLED = """
import os, signal, sys
from pathlib import Path
from bioqa.models.folders import written_whole

CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "shutil.rmtree"}

def write(folder, moment):
    left = moment

    def hook(event, arguments):
        nonlocal left
        if event in CHANGES:
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1

    sys.addaudithook(hook)
    with written_whole(folder) as unfinished:
        for name in ("a", "b"):
            (unfinished / name).write_text("new")
    os._exit(0)

killed, moment = True, 0
while killed:
    folder = Path(sys.argv[1], str(moment), "checkpoint")
    folder.mkdir(parents=True)
    for name in ("a", "b"):
        (folder / name).write_text("old")
    child = os.fork()
    if child == 0:
        write(folder, moment)
    killed = os.waitpid(child, 0)[1] != 0
    moment += 1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "checkpoint"
    made.mkdir()
    (made / "a").write_text("old")
    return made


def _contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_killed_before_any_of_its_steps_the_old_or_the_new_one_is_whole(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, tmp_path], check=True)
    moments = sorted(tmp_path.iterdir(), key=lambda path: int(path.name))
    missing, seen = 0, []
    for moment in moments:
        folder = moment / "checkpoint"
        missing += not folder.exists()
        put_back(folder)
        (content,) = set(_contents(folder).values())
        assert set(_contents(folder)) == {"a", "b"}
        seen.append(content)
        with written_whole(folder) as unfinished:
            (unfinished / "a").write_text("newer")
        assert _contents(folder) == {"a": "newer"}
        assert not (moment / ".checkpoint.old").exists()
    assert missing == 1
    assert seen == sorted(seen, reverse=True)
    assert set(seen) == {"old", "new"}


def test_the_next_write_puts_back_what_it_might_fail_to_replace(folder: Path) -> None:
    folder.rename(folder.with_name(".checkpoint.old"))
    with pytest.raises(KeyError), written_whole(folder):
        raise KeyError
    assert _contents(folder) == {"a": "old"}


def test_a_half_deleted_folder_is_not_put_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.rmtree", lambda *_, **__: None)
    with written_whole(folder) as unfinished:
        (unfinished / "a").write_text("new")
    folder.rename(folder.with_name("moved"))
    put_back(folder)
    assert not folder.exists()


def test_a_reader_may_come_between_the_renames(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = Path.rename
    readers = 0

    def renamed(path: Path, target: Path) -> Path:
        nonlocal readers
        done = rename(path, target)
        if target.name == ".checkpoint.old" and readers < 2:
            readers += 1
            put_back(folder)
        return done

    monkeypatch.setattr(Path, "rename", renamed)
    with written_whole(folder) as unfinished:
        (unfinished / "a").write_text("new")
    assert readers == 2
    assert _contents(folder) == {"a": "new"}
    assert [path.name for path in folder.parent.iterdir()] == ["checkpoint"]


def test_where_it_cannot_be_put_back_its_place_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.rename(folder.with_name(".checkpoint.old"))

    def refuse(path: Path, target: Path) -> Path:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(BioqaError, match=r"checkpoint: .*left as \.checkpoint\.old"):
        put_back(folder)


def test_a_failure_while_filling_keeps_the_old_one(folder: Path) -> None:
    with pytest.raises(OSError, match="no space left"), written_whole(folder):
        raise OSError("no space left")
    assert _contents(folder) == {"a": "old"}
    assert [path.name for path in folder.parent.iterdir()] == ["checkpoint"]


def test_parents_are_made_and_others_may_read(tmp_path: Path) -> None:
    with written_whole(tmp_path / "a" / "b") as unfinished:
        (unfinished / "in").mkdir(0o700)
        (unfinished / "in" / "file").touch(0o600)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "a").rglob("*")}
    assert modes == {"b": 0o755, "in": 0o755, "file": 0o644}
