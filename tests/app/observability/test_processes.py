"""What a family of processes uses together, from a /proc made up here, and from the real one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bioqa.app.observability.processes import ProcessUsage, usage

TICKS = os.sysconf("SC_CLK_TCK")


def add(
    proc: Path, pid: int, parent: int, name: str = "python", times: str = "0 0 0 0", pss: int = 0
) -> None:
    (proc / str(pid)).mkdir()
    zeros = " ".join(["0"] * 9)
    (proc / str(pid) / "stat").write_text(f"{pid} ({name}) S {parent} {zeros} {times} 20 0 1 0")
    (proc / str(pid) / "smaps_rollup").write_text(f"0-f ---p 0 00:00 0 [rollup]\nRss: 9 kB\nPss: {pss} kB\n")


def test_all_descendants_count_and_nobody_else(tmp_path: Path) -> None:
    add(tmp_path, 1, 0, pss=1000, times="500 500 500 500")
    add(tmp_path, 7, 1, times=f"{TICKS} {TICKS} {TICKS} 0", pss=10)
    add(tmp_path, 8, 7, name="a (strange) name", times=f"{TICKS} 0 0 0", pss=20)
    add(tmp_path, 9, 8, times=f"0 0 0 {TICKS}", pss=30)
    add(tmp_path, 10, 1, pss=5000)
    (tmp_path / "self").mkdir()
    assert usage(7, tmp_path) == ProcessUsage(3, 60 * 1024, 5.0)


def test_one_that_ended_meanwhile_is_left_out(tmp_path: Path) -> None:
    add(tmp_path, 7, 1, pss=10)
    add(tmp_path, 8, 7, pss=20)
    (tmp_path / "8" / "smaps_rollup").unlink()
    (tmp_path / "9").mkdir()
    assert usage(7, tmp_path) == ProcessUsage(2, 10 * 1024, 0.0)


def test_where_there_is_no_proc_nothing_is_known(tmp_path: Path) -> None:
    assert usage(7, tmp_path) is None


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="no /proc")
def test_a_child_of_this_process_counts() -> None:
    alone = usage()
    assert alone is not None
    code = "data = bytearray(b'x' * 50_000_000); print(len(data), flush=True); input()"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout
    assert child.stdout.readline()
    both = usage()
    child.communicate(b"\n")
    after = usage()
    assert both is not None
    assert after is not None
    assert both.processes == alone.processes + 1
    assert both.memory_bytes > alone.memory_bytes + 40_000_000
    assert alone.processor_s < both.processor_s <= after.processor_s
