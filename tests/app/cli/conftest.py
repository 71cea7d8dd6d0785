"""Files for the commands, and a ranker without weights."""

import json
from pathlib import Path

import pytest

from bioqa.models.reranker import Reranker
from tests.app.conftest import Run
from tests.app.rankers import LexicalRanker

MEDLINE = """<?xml version="1.0" encoding="UTF-8"?>
<PubmedArticleSet>
<PubmedArticle><MedlineCitation><PMID Version="1">90000901</PMID>
<Article><Journal><JournalIssue><PubDate><Year>2001</Year></PubDate></JournalIssue></Journal>
<ArticleTitle>Zinc &amp; the <i>common</i> cold.</ArticleTitle>
<Abstract><AbstractText Label="RESULTS">Zinc shortened colds. \u03b1-Zinc [did] not.</AbstractText></Abstract>
</Article></MedlineCitation></PubmedArticle>
<PubmedArticle><MedlineCitation><PMID Version="1">0</PMID></MedlineCitation></PubmedArticle>
<DeleteCitation><PMID Version="1">90000902</PMID></DeleteCitation>
</PubmedArticleSet>
"""


TESTSET = {
    "questions": [
        {"id": "a", "type": "yesno", "body": "Is metformin better than placebo?"},
        {"id": "b", "body": "Zebra?"},
    ]
}


@pytest.fixture
def run(command: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command with a ranker without weights."""
    monkeypatch.setattr(Reranker, "load", lambda name, device="auto": LexicalRanker())
    return command


@pytest.fixture
def medline(tmp_path: Path) -> Path:
    path = tmp_path / "medline.xml"
    path.write_text(MEDLINE, encoding="utf-8")
    return path


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "broken.xml"
    path.write_text(MEDLINE[:-30], encoding="utf-8")
    return path


@pytest.fixture
def testset(tmp_path: Path) -> Path:
    path = tmp_path / "testset"
    path.write_text(json.dumps(TESTSET))
    return path


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "submission"
