"""``bioqa index`` on what goes wrong: every citation that is not in the index is told."""

import json
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
    assert "files applied again, after one that was loaded late: 1" in result.err
    assert (
        "documents        1, 0 of them without abstract, 0 without title"
        in command("info", "--index", tmp_path / "index").out
    )


def test_a_missing_file_makes_no_index(command: Run, tmp_path: Path) -> None:
    result = command("index", tmp_path / "missing.xml", "--index", tmp_path / "index")
    assert result.code == 2
    assert "no such file" in result.err
    assert not (tmp_path / "index").exists()


def test_index_loads_once_and_info_tells_of_it(run: Run, medline: Path, tmp_path: Path) -> None:
    first = run("index", medline, "--index", tmp_path / "index", "--workers", "1")
    assert first.code == 0
    assert "files loaded: 1 in" in first.err
    assert "rejected 1 (PMID is not a positive integer 1)" in first.err
    again = run("index", medline, "--index", tmp_path / "index", "--workers", "1")
    assert again.code == 0
    assert "files loaded before: 1" in again.err
    info = json.loads(run("info", "--index", tmp_path / "index", "--json").out)
    assert (info["name"], info["documents"], info["without_abstract"]) == ("index", 1, 0)
    assert [(f["name"], f["records"], f["upserted"]) for f in info["files"]] == [("medline.xml", 3, 1)]
    shown = run("info", "--index", tmp_path / "index").out
    assert "medline.xml" in shown
    assert "1, 0 of them without abstract" in shown


def test_index_names_a_broken_file_and_loads_the_others(
    run: Run, medline: Path, broken: Path, tmp_path: Path
) -> None:
    result = run("index", broken, medline, "--index", tmp_path / "index", "--workers", "1")
    assert result.code == 1
    assert "broken.xml" in result.err
    assert json.loads(run("info", "--index", tmp_path / "index", "--json").out)["documents"] == 1


def test_the_index_can_be_named_by_the_environment(
    run: Run, index_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "BIOQA_INDEX" in run("info").err
    monkeypatch.setenv("BIOQA_INDEX", str(index_folder))
    assert json.loads(run("info", "--json").out)["documents"] == 41
