"""``bioqa demo --only-index``: what a container runs once to have something to search."""

import json
from pathlib import Path

import pytest

from bioqa.app.cli import demo
from bioqa.indexer.loading.folder_target import FolderTarget
from bioqa.indexer.search.base import Applied, Rejection
from bioqa.models.reranker import Reranker
from tests.app.conftest import Run


@pytest.fixture
def indexing(command: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command where no ranker can be loaded: indexing needs none."""

    def load(name: str) -> None:
        raise AssertionError("a ranker was loaded")

    monkeypatch.setattr(Reranker, "load", load)
    return command


def indexed(indexing: Run, where: str) -> tuple[int, list[str]]:
    told = json.loads(indexing("info", "--index", where, "--json").out)
    return told["documents"], [file["name"] for file in told["files"]]


def test_the_sample_is_indexed_and_nothing_else_is_done(indexing: Run, tmp_path: Path) -> None:
    where = str(tmp_path / "sample")
    for _ in range(2):
        result = indexing("demo", "--only-index", "--index", where)
        assert (result.code, result.out) == (0, "")
        assert indexed(indexing, where) == (168, ["medline.xml"])


def test_the_sample_is_indexed_in_elasticsearch(indexing: Run, elastic_url: str, elastic_name: str) -> None:
    where = f"{elastic_url}/{elastic_name}"
    for _ in range(2):
        result = indexing("demo", "--only-index", "--index", where)
        assert (result.code, result.out) == (0, "")
        assert f"into {where}" in result.err
        assert indexed(indexing, where) == (168, ["medline.xml"])


def test_a_sample_that_is_not_wholly_taken_is_an_error(
    indexing: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rejected = (Rejection("90000007", "the mapping has no such field"),)
    monkeypatch.setattr(FolderTarget, "commit", lambda self: Applied(upserted=167, rejected=rejected))
    result = indexing("demo", "--only-index", "--index", tmp_path / "sample")
    assert result.code == 2
    assert "rejected citation 90000007: the mapping has no such field" in result.err


def test_an_address_that_is_none_is_named(indexing: Run) -> None:
    result = indexing("demo", "--only-index", "--index", "http://user:secret@search:9200/sample")
    assert result.code == 2
    assert "secret" not in result.err


def test_demo_indexes_answers_evaluates_and_says_how_to_serve(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    result = run("demo")
    assert result.code == 0
    folder = next((tmp_path / "cache" / "bioqa").iterdir())
    assert f"bioqa serve --index {folder}" in result.out
    assert "Documents" in result.out
    assert "25 questions" in result.out
    assert run("demo").code == 0


def test_without_a_home_folder_the_demo_says_what_to_give(
    indexing: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(demo, "home", lambda: None)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    result = indexing("demo", "--only-index")
    assert (result.code, result.out) == (2, "")
    assert (
        result.err
        == "error: no home folder for the sample's index: give --index DIR, or set XDG_CACHE_HOME\n"
    )
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert indexing("demo", "--only-index").code == 0
