"""Opening an index by its location, whichever back end it is in."""

import os
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from bioqa.indexer.loading.elastic_target import ElasticTarget
from bioqa.indexer.loading.folder_target import FolderTarget
from bioqa.indexer.loading.run import load
from bioqa.indexer.opening import check, ledger, open_index, open_target
from bioqa.indexer.releases.folder_shelf import FolderShelf
from bioqa.indexer.releases.serving import ServingIndex
from bioqa.indexer.search.elastic.index import ElasticIndex
from bioqa.indexer.search.elastic.mapping import Shape
from bioqa.indexer.search.synonyms import FILE, build
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.system.arrayfile import write_arrays
from bioqa.system.errors import BioqaError
from tests.indexer.medline_xml import citation, write

DESCRIPTORS = Path(__file__).with_name("search") / "descriptors.xml"


def test_a_folder_is_an_embedded_index(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    with closing(open_target(where, joiner=" ")) as target:
        assert isinstance(target, FolderTarget)
        load([write(tmp_path / "a.xml", citation(1))], target, workers=1)
    with closing(open_index(where)) as index:
        assert isinstance(index, TantivyIndex)
        assert (index.stats().documents, index.stats().joiner) == (1, " ")
    assert [entry.name for entry in ledger(where)] == ["a.xml"]


def test_a_folder_of_releases_is_the_one_that_serves(tmp_path: Path) -> None:
    folder = tmp_path / "releases"
    shelf = FolderShelf(folder)
    with shelf.lock():
        shelf.target("medline-2026", "").close()
        shelf.serve("medline-2026", None)
    load([write(tmp_path / "a.xml", citation(1))], folder / "medline-2026", workers=1)
    with closing(open_index(str(folder))) as index:
        assert isinstance(index, ServingIndex)
        assert (index.name, index.stats().documents) == ("medline-2026", 1)
    assert [entry.name for entry in ledger(str(folder))] == ["a.xml"]


def test_a_url_is_an_index_of_elasticsearch(elastic_url: str, elastic_name: str, tmp_path: Path) -> None:
    where = f"{elastic_url}/{elastic_name}"
    with pytest.raises(BioqaError, match=f"no index {elastic_name} at"):
        open_index(where)
    with closing(open_target(where, shape=Shape(shards=2))) as target:
        assert isinstance(target, ElasticTarget)
        load([write(tmp_path / "a.xml", citation(1))], target, workers=1)
    with closing(open_index(where)) as index:
        assert isinstance(index, ElasticIndex)
        assert index.stats().documents == 1
    assert [entry.name for entry in ledger(where)] == ["a.xml"]


def test_the_checksums_of_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    load([write(tmp_path / "a.xml", citation(1))], folder, workers=1)
    assert check(str(folder)) == len([p for p in folder.iterdir() if len(p.stem) == 32])
    (store, *_) = folder.glob("*.store")
    store.write_bytes(b"?" + store.read_bytes()[1:])
    with pytest.raises(BioqaError, match=f"{store.name} has not the content"):
        check(str(folder))
    with pytest.raises(BioqaError, match="no such folder"):
        check(str(tmp_path / "none"))
    with pytest.raises(BioqaError, match="Elasticsearch checks its files itself"):
        check("http://localhost:9200/medline")


def test_an_index_named_dot_has_the_name_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load([write(tmp_path / "a.xml", citation(1))], tmp_path / "index", workers=1)
    monkeypatch.chdir(tmp_path / "index")
    with closing(open_index(".")) as index:
        assert (index.name, index.stats().name) == ("index", "index")


def test_what_is_not_there_is_not_made_for_reading(tmp_path: Path) -> None:
    with pytest.raises(BioqaError, match="no such folder"):
        open_index(str(tmp_path / "index"))
    assert ledger(str(tmp_path / "index")) == ()
    assert not (tmp_path / "index").exists()


def test_the_files_beside_an_index_are_checked_too(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    load([write(tmp_path / "a.xml", citation(1))], folder, workers=1)
    alone = check(str(folder))
    build(DESCRIPTORS, folder / FILE)
    tokens = folder / "tokens-12345678.bin"
    with tokens.open("wb") as file:
        write_arrays(file, {}, {"numbers": ("U16", [np.array([1, 2, 3])])})
    assert check(str(folder)) == alone + 2
    for path in (folder / FILE, tokens):
        whole = path.read_bytes()
        path.write_bytes(whole[:-2] + bytes([whole[-2] ^ 1]) + whole[-1:])
        with pytest.raises(BioqaError, match=f"{path.name}.* damaged"):
            check(str(folder))
        path.write_bytes(whole)


def test_pipes_in_place_of_its_lists_are_not_waited_for(tmp_path: Path) -> None:
    for name in ("ledger.jsonl", "releases.json"):
        folder = tmp_path / name
        folder.mkdir()
        os.mkfifo(folder / name)
        with pytest.raises(BioqaError, match=f"{name} is no plain file"):
            ledger(str(folder))
