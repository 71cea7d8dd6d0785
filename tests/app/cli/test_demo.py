"""``bioqa demo --only-index``: what a container runs once to have something to search."""

import json
from pathlib import Path

import pytest

from bioqa.indexer.loading.folder_target import FolderTarget
from bioqa.indexer.search.base import Applied, Rejection
from bioqa.models.reranker import Reranker
from tests.app.conftest import Run


@pytest.fixture
def run(command: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command where no ranker can be loaded: indexing needs none."""

    def load(name: str) -> None:
        raise AssertionError("a ranker was loaded")

    monkeypatch.setattr(Reranker, "load", load)
    return command


def indexed(run: Run, where: str) -> tuple[int, list[str]]:
    told = json.loads(run("info", "--index", where, "--json").out)
    return told["documents"], [file["name"] for file in told["files"]]


def test_the_sample_is_indexed_and_nothing_else_is_done(run: Run, tmp_path: Path) -> None:
    where = str(tmp_path / "sample")
    for _ in range(2):
        result = run("demo", "--only-index", "--index", where)
        assert (result.code, result.out) == (0, "")
        assert indexed(run, where) == (165, ["medline.xml"])


def test_the_sample_is_indexed_in_elasticsearch(run: Run, elastic_url: str, elastic_name: str) -> None:
    where = f"{elastic_url}/{elastic_name}"
    for _ in range(2):
        result = run("demo", "--only-index", "--index", where)
        assert (result.code, result.out) == (0, "")
        assert f"into {where}" in result.err
        assert indexed(run, where) == (165, ["medline.xml"])


def test_a_sample_that_is_not_wholly_taken_is_an_error(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rejected = (Rejection("90000007", "the mapping has no such field"),)
    monkeypatch.setattr(FolderTarget, "commit", lambda self: Applied(upserted=164, rejected=rejected))
    result = run("demo", "--only-index", "--index", tmp_path / "sample")
    assert result.code == 2
    assert "did not take citation 90000007: the mapping has no such field" in result.err


def test_an_address_that_is_none_is_named(run: Run) -> None:
    result = run("demo", "--only-index", "--index", "http://user:secret@search:9200/sample")
    assert result.code == 2
    assert "secret" not in result.err
