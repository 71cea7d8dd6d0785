"""``bioqa synonyms``."""

from pathlib import Path

from bioqa.indexer.search.elastic.address import IndexAddress
from bioqa.indexer.search.elastic.connection import connect
from bioqa.indexer.search.elastic.index import ElasticIndex
from bioqa.indexer.search.synonyms import FILE, FileSynonyms
from tests.app.conftest import Run
from tests.indexer.search.test_synonyms import DESCRIPTORS


def test_it_makes_a_file_beside_the_index(run: Run, tmp_path: Path) -> None:
    result = run("synonyms", DESCRIPTORS, "--index", tmp_path)
    told = f"{tmp_path / FILE}: descriptors 2, terms of those with synonyms 2\n"
    assert (result.code, result.err) == (0, told)
    assert FileSynonyms(tmp_path / FILE)


def test_a_broken_file_is_named_and_nothing_is_written(run: Run, tmp_path: Path) -> None:
    broken = tmp_path / "desc.xml"
    broken.write_bytes(DESCRIPTORS.read_bytes()[:-300])
    result = run("synonyms", broken, "--index", tmp_path)
    assert result.code == 2
    assert "desc.xml: broken XML" in result.err
    assert not (tmp_path / FILE).exists()


def test_it_needs_an_index(run: Run, tmp_path: Path) -> None:
    result = run("synonyms", DESCRIPTORS, "--index", tmp_path / "nowhere")
    assert (result.code, "no such folder" in result.err) == (2, True)
    result = run("synonyms", DESCRIPTORS, "--index", "http://127.0.0.1:9/medline")
    assert (result.code, "cannot be reached" in result.err) == (2, True)


def test_it_makes_an_index_beside_one_in_elasticsearch(run: Run, elastic_url: str, elastic_name: str) -> None:
    url = f"{elastic_url}/{elastic_name}"
    result = run("synonyms", DESCRIPTORS, "--index", url)
    assert (result.code, f"no index {elastic_name}" in result.err) == (2, True)
    address = IndexAddress((elastic_url,), elastic_name)
    with ElasticIndex.create(connect(address), address) as index:
        result = run("synonyms", DESCRIPTORS, "--index", url)
        told = f"the index {elastic_name}-synonyms: descriptors 2, terms of those with synonyms 2\n"
        assert (result.code, result.err) == (0, told)
        assert index.synonyms().narrower("brassy fever") == ("Brassy Fever", "Tamsin Sign")
