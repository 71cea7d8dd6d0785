"""``bioqa index`` on what goes wrong: every citation that is not in the index is told."""

from pathlib import Path

import pytest

from bioqa.app.cli import indexing
from bioqa.indexer.loading.run import load
from tests.app.conftest import Run
from tests.indexer.medline_xml import citation, deletion, write
from tests.indexer.targets import MemoryTarget


def test_rejections_are_listed_and_the_exit_code_is_1(
    command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = MemoryTarget(refuses=[2, 4])
    monkeypatch.setattr(indexing, "open_target", lambda settings, joiner: target)
    file = write(tmp_path / "a.xml", *(citation(n) for n in range(1, 6)))
    result = command("index", file, "--index", "anywhere")
    assert result.code == 1
    assert "upserts 3, deletions 0, stale 0, rejected 2 (mapping 2)" in result.err
    assert "rejected: a.xml: PMID 2: mapping: no field for 2" in result.err
    assert "rejected: a.xml: PMID 4: mapping: no field for 4" in result.err
    assert target.calls[-2:] == ["finish", "close"]


def test_more_rejections_than_are_listed(
    command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bioqa.indexer.loading.run.MAX_REJECTIONS", 2)
    target = MemoryTarget(refuses=[1, 2, 3, 4, 5])
    monkeypatch.setattr(indexing, "open_target", lambda settings, joiner: target)
    result = command("index", write(tmp_path / "a.xml", *(citation(n) for n in range(1, 6))))
    assert result.err.count("PMID") == 2
    assert "rejected: 3 more" in result.err


def test_files_applied_once_more_are_told(command: Run, tmp_path: Path) -> None:
    late = write(tmp_path / "a.xml", citation(1), citation(2))
    file = write(tmp_path / "b.xml", deletion(1))
    load([file], tmp_path / "index", workers=1)
    result = command("index", late, file, "--index", tmp_path / "index", "--workers", 1)
    assert result.code == 0
    assert "files applied once more, behind one that came late: 1" in result.err
    assert (
        "documents        1, 0 of them without abstract, 0 without title"
        in command("info", "--index", tmp_path / "index").out
    )


def test_a_missing_file_makes_no_index(command: Run, tmp_path: Path) -> None:
    result = command("index", tmp_path / "missing.xml", "--index", tmp_path / "index")
    assert result.code == 2
    assert "no such file" in result.err
    assert not (tmp_path / "index").exists()
