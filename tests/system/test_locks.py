import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bioqa.system.locks import FileLock, LockTaken

HOLD = """
import sys
from pathlib import Path
from bioqa.system.locks import FileLock

lock = FileLock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("folder", [False, True], ids=["file", "folder"])
def test_one_holder_at_a_time(tmp_path: Path, folder: bool) -> None:
    path = tmp_path if folder else tmp_path / "new.lock"
    with FileLock(path), pytest.raises(LockTaken, match=str(path)):
        FileLock(path)
    FileLock(path).close()


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "update.lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(LockTaken):
            FileLock(path)
        holder.kill()
    FileLock(path).close()


def test_waits_until_the_other_has_let_go(tmp_path: Path) -> None:
    path = tmp_path / "keys.lock"
    order = []
    with ThreadPoolExecutor(1) as pool:
        with FileLock(path):

            def second() -> None:
                with FileLock(path, wait=True):
                    order.append("second")

            waiting = pool.submit(second)
            order.append("first")
        waiting.result()
    assert order == ["first", "second"]


def test_closed_twice_and_after_with(tmp_path: Path) -> None:
    with FileLock(tmp_path / "a.lock") as lock:
        lock.close()
        with FileLock(tmp_path / "a.lock"):
            pass
    lock.close()


def test_the_content_of_a_locked_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "states.index"
    path.write_bytes(b"content")
    with FileLock(path):
        assert path.read_bytes() == b"content"


def test_a_path_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FileLock(tmp_path / "missing" / "a.lock")
