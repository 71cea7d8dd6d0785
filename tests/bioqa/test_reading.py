"""MEDLINE files as documents."""

from pathlib import Path

import pytest

import bioqa


def test_the_documents_are_those_of_the_index(index: bioqa.Index) -> None:
    documents = {each.pmid: each for each in bioqa.read_medline(str(bioqa.sample().medline))}
    assert len(documents) == 168
    assert index.documents(documents) == documents


def test_deletions_are_no_documents_but_events(tmp_path: Path) -> None:
    path = tmp_path / "deletions.xml"
    path.write_text("<PubmedArticleSet><DeleteCitation><PMID>7</PMID></DeleteCitation></PubmedArticleSet>")
    assert [*bioqa.read_medline(path)] == []
    assert [*bioqa.MedlineFile(path)] == [bioqa.Delete("7")]


def test_a_broken_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "broken.xml"
    path.write_text("<PubmedArticleSet><PubmedArticle>")
    with pytest.raises(bioqa.BioqaError, match=r"broken\.xml"):
        list(bioqa.read_medline(path))
