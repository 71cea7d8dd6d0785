"""Indices opened and built."""

from pathlib import Path

import pytest

import bioqa


def test_an_index_is_closed_by_its_block(folder: Path) -> None:
    with bioqa.open_index(str(folder / "sample-index")) as index:
        assert repr(index) == f"Index({index.name!r})"
        assert index.documents(["90000001", "1"]).keys() == {"90000001"}
        assert index.document("1") is None
        assert index.similar("1") == []


def test_the_environment_names_the_index(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(bioqa.BioqaError, match="no index is named"):
        bioqa.open_index()
    monkeypatch.setenv("BIOQA_INDEX", str(folder / "sample-index"))
    assert bioqa.open_index().stats().documents == 168


def test_building_again_loads_nothing_more(tmp_path: Path) -> None:
    done: list[int] = []
    files = [str(bioqa.sample().medline)]
    first = bioqa.build_index(
        files, tmp_path / "new", workers=1, progress=lambda p: done.append(p.files_done)
    )
    second = bioqa.build_index(files, tmp_path / "new", workers=1)
    assert (len(first.loaded), len(second.loaded), len(second.known)) == (1, 0, 1)
    assert done[-1] == 1


def test_what_is_missing_or_broken_is_named(tmp_path: Path) -> None:
    with pytest.raises(bioqa.BioqaError, match=r"no such file: .*none\.xml"):
        bioqa.build_index([tmp_path / "none.xml"], tmp_path / "new")
    broken = tmp_path / "broken.xml"
    broken.write_text("<PubmedArticleSet><PubmedArticle>")
    report = bioqa.build_index([broken], tmp_path / "new", workers=1)
    assert [each.name for each in report.refused] == ["broken.xml"]
