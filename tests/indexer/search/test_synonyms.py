"""Synonyms of MeSH's descriptors, from a file in NLM's form with invented terms."""

import gzip
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from elasticsearch import Elasticsearch

from bioqa.indexer.search.defined import long_key
from bioqa.indexer.search.elastic import synonyms as elastic_synonyms
from bioqa.indexer.search.elastic.address import IndexAddress
from bioqa.indexer.search.questions.reading import SYNONYM_WEIGHT, Expansion, read
from bioqa.indexer.search.synonyms import (
    FILE,
    NO_SYNONYMS,
    Built,
    FileSynonyms,
    Synonyms,
    SynonymsError,
    SynonymsFile,
    build,
    descriptors,
)
from bioqa.indexer.search.wording import Best, Words
from tests.indexer.search.evidence import TextEvidence

DESCRIPTORS = Path(__file__).with_name("descriptors.xml")


Make = Callable[[Path], Synonyms]
"""Makes synonyms of a descriptor file."""


@pytest.fixture(params=["file", "elasticsearch"])
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    if request.param == "elasticsearch":
        url, name = request.getfixturevalue("elastic_url"), request.getfixturevalue("elastic_name")
        with Elasticsearch(url, request_timeout=60) as client:
            yield lambda path: made_in_elastic(path, client, IndexAddress((url,), name))
        return
    target = request.getfixturevalue("tmp_path") / FILE

    def made_in_file(path: Path) -> Synonyms:
        build(path, target)
        return FileSynonyms(target)

    yield made_in_file


def made_in_elastic(path: Path, client: Elasticsearch, address: IndexAddress) -> Synonyms:
    elastic_synonyms.build(path, client, address)
    return elastic_synonyms.SynonymsAlias(client, address).current()


@pytest.fixture
def synonyms(make: Make) -> Synonyms:
    return make(DESCRIPTORS)


def test_terms_of_the_preferred_concept_are_read() -> None:
    first, second = descriptors(DESCRIPTORS)
    assert first.ui == "D900001"
    assert first.terms == ("Brassy Fever", "Tinsmith's Ague", "Brassy Fevers")
    assert first.trees == ("C98.100", "C99.200.300")
    assert second.terms == ("Tamsin Sign",)


def test_what_was_written_is_told(tmp_path: Path) -> None:
    assert build(DESCRIPTORS, tmp_path / FILE) == Built(descriptors=2, terms=2)


def test_gzip_is_read(tmp_path: Path) -> None:
    packed = tmp_path / "desc.gz"
    packed.write_bytes(gzip.compress(DESCRIPTORS.read_bytes(), mtime=0))
    assert [*descriptors(packed)] == [*descriptors(DESCRIPTORS)]


@pytest.mark.parametrize("asked", ["Brassy Fever", "brassy fevers", "Brassy-Fever"])
def test_a_term_has_the_others(synonyms: Synonyms, asked: str) -> None:
    assert synonyms.of([long_key(asked)]) == {long_key(asked): ["Tinsmith's Ague"]}


def test_other_phrases_have_none(synonyms: Synonyms) -> None:
    assert synonyms.of([long_key("Tamsin sign"), long_key("fever"), long_key("Fever, Brassy"), ""]) == {}
    assert synonyms.of([]) == {}


@pytest.mark.parametrize("asked", ["Brassy Fever", "brassy fevers", "Tinsmith's ague"])
def test_what_is_below_a_heading_in_the_trees_is_narrower(synonyms: Synonyms, asked: str) -> None:
    assert sorted(synonyms.narrower(asked)) == ["Brassy Fever", "Tamsin Sign"]
    assert synonyms.narrower("Tamsin sign") == ("Tamsin Sign",)
    assert synonyms.narrower("Fever") == ()


def test_places_that_only_begin_alike_are_not_narrower(make: Make, tmp_path: Path) -> None:
    beside = WHOLE.replace(b"C98.100.050", b"C98.1000")
    (tmp_path / "desc.xml").write_bytes(beside)
    assert make(tmp_path / "desc.xml").narrower("Brassy Fever") == ("Brassy Fever",)


def test_a_heading_is_looked_up_once(tmp_path: Path) -> None:
    build(DESCRIPTORS, tmp_path / FILE)
    synonyms = FileSynonyms(tmp_path / FILE)
    found = synonyms.narrower("Brassy Fever")
    synonyms.close()
    assert synonyms.narrower("brassy fever") == found
    with pytest.raises(SynonymsError, match="cannot be read"):
        synonyms.narrower("Tamsin sign")


def test_without_a_file_there_are_none(tmp_path: Path) -> None:
    assert not NO_SYNONYMS
    assert not FileSynonyms(tmp_path / FILE)
    assert NO_SYNONYMS.of(["x"]) == {}
    assert NO_SYNONYMS.narrower("x") == ()


def test_threads_share_it(synonyms: Synonyms) -> None:
    found: list[int] = []
    keys = [long_key("Brassy Fever")]
    threads = [threading.Thread(target=lambda: found.append(len(synonyms.of(keys)))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1] * 8


def test_a_file_that_appears_is_used_and_a_new_one_taken(tmp_path: Path) -> None:
    file = SynonymsFile(tmp_path / FILE)
    assert not file.current()
    build(DESCRIPTORS, tmp_path / FILE)
    first = file.current()
    assert first
    assert file.current() is first
    build(DESCRIPTORS, tmp_path / FILE)
    assert file.current() is not first
    (tmp_path / FILE).unlink()
    assert not file.current()


def test_a_question_is_searched_for_with_them_for_less_weight(synonyms: Synonyms) -> None:
    evidence = TextEvidence("Brassy fever of the young", "Tinsmith's ague")
    reading = read("Who gets brassy fever?", evidence, synonyms)
    assert reading.expansions == (Expansion("brassy fever", ("Tinsmith's Ague",), "synonym"),)
    assert reading.wording.parts[-1] == Best((Words("Tinsmith's Ague", SYNONYM_WEIGHT),))


def test_a_synonym_that_no_document_has_is_not_searched_for(synonyms: Synonyms) -> None:
    assert read("brassy fever", TextEvidence("brassy fever"), synonyms).expansions == ()


WHOLE = DESCRIPTORS.read_bytes()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "broken XML"),
        (b"not XML", "broken XML"),
        (WHOLE[:-500], "broken XML"),
        (b"<PubmedArticleSet/>", "its root is PubmedArticleSet, not DescriptorRecordSet"),
        (b"<DescriptorRecordSet/>", "has no descriptor"),
        (
            WHOLE.replace(b"<DescriptorUI>D900001</DescriptorUI>", b""),
            r"line \d+: the record has no DescriptorUI",
        ),
        (gzip.compress(WHOLE)[:-20], "broken gzip"),
        (b"PK\x03\x04" + b"\0" * 600, "zip"),
        (
            b'<!DOCTYPE a [<!ENTITY b "c">]><DescriptorRecordSet><x>&b;</x></DescriptorRecordSet>',
            "line 1: declares entities before its root",
        ),
        (WHOLE.replace(b"<String>", b"<String>Acetyl&salicylic; ", 1), "salicylic"),
        (
            b"<!DOCTYPE a SYSTEM 'a.dtd'>\n"
            + WHOLE[WHOLE.index(b"<DescriptorRecordSet") :].replace(
                b"<String>", b"<String>Acetyl&salicylic; ", 1
            ),
            r"line \d+: entity &salicylic; within a term",
        ),
        (WHOLE.replace(b"<String>", b"<String>Vitamin B<sub>12</sub> ", 1), r"line \d+: <sub> within a term"),
    ],
)
def test_a_broken_file_is_refused_and_the_old_one_stays(tmp_path: Path, content: bytes, message: str) -> None:
    target = tmp_path / FILE
    build(DESCRIPTORS, target)
    before = target.read_bytes()
    broken = tmp_path / "desc.xml"
    broken.write_bytes(content)
    with pytest.raises(SynonymsError, match=message) as caught:
        build(broken, target)
    assert "desc.xml" in str(caught.value)
    assert target.read_bytes() == before


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SynonymsError, match=r"nowhere\.xml: cannot be read"):
        build(tmp_path / "nowhere.xml", tmp_path / FILE)


@pytest.mark.parametrize("content", [b"", b"no database", WHOLE])
def test_a_file_that_is_none_of_synonyms_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(SynonymsError, match="not a file of synonyms"):
        FileSynonyms(tmp_path / FILE)


def test_one_bit_is_noticed_wherever_it_is(tmp_path: Path) -> None:
    target = tmp_path / FILE
    build(DESCRIPTORS, target)
    whole = target.read_bytes()
    for at in range(0, len(whole), 97):
        target.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :])
        with pytest.raises(SynonymsError, match="make it anew"):
            FileSynonyms(target)


def test_a_file_of_a_former_version_is_made_anew(tmp_path: Path) -> None:
    build(DESCRIPTORS, tmp_path / FILE)
    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        database.execute("PRAGMA user_version = 2")
    with pytest.raises(SynonymsError, match="has format 2, and this bioqa reads 3; make it anew"):
        FileSynonyms(tmp_path / FILE)


def test_comments_within_a_term_are_nothing(tmp_path: Path) -> None:
    (tmp_path / "desc.xml").write_bytes(WHOLE.replace(b"</String>", b"<!-- or so --></String>"))
    assert [*descriptors(tmp_path / "desc.xml")] == [*descriptors(DESCRIPTORS)]
