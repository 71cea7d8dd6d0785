"""``bioqa explain``."""

import json
from pathlib import Path

import pytest

from tests.app.conftest import Run

BODY = "Is metformin better than placebo?"


@pytest.fixture
def asked(run: Run, index_folder: Path) -> Run:
    return lambda *arguments: run("explain", *arguments, "--index", index_folder)


def test_the_stages_as_text_and_as_json(asked: Run) -> None:
    made = json.loads(asked(BODY, "90000001", "--json").out)
    shown = asked(BODY, "https://pubmed.ncbi.nlm.nih.gov/90000001/")
    assert shown.code == 0
    retrieval, ranker, selection = (made[name] for name in ("retrieval", "ranking", "selection"))
    assert f"1. BM25: number {retrieval['rank']}, score {retrieval['score']:.3f}; a candidate" in shown.out
    for term in retrieval["terms"]:
        assert f"{term['score']:+9.3f}  {term['text']}" in shown.out
    assert f"2. lexical: number {ranker['rank']} of {ranker['candidates']}" in shown.out
    for word in ranker["words"]:
        assert f"{word['word']} (without it number {word['rank']})" in shown.out
    assert "3. Selection: selected" in shown.out
    assert selection["sentences"][0]["text"] in shown.out


def test_articles_that_are_not_there(asked: Run) -> None:
    shown = asked(BODY, "123")
    assert (shown.code, shown.out.splitlines()[0]) == (0, "123: not in the index")
    assert "What would have had to be different" in shown.out
    few = asked(BODY, "90000040", "--candidates", 3)
    assert "1. BM25: not among the best 1,000, score 0.000; no candidate (3 are ranked)" in few.out
    assert "had it been a candidate" in few.out


def test_what_cannot_be_explained(asked: Run) -> None:
    for arguments, words in (
        ((BODY, "x"), "must be a PMID, such as 26023080, or an address of PubMed"),
        ((" ", "1"), "the question is empty"),
        (("90000001[pmid]", "90000001"), "no words to rank by"),
    ):
        result = asked(*arguments)
        assert (result.code, result.out) == (2, "")
        assert words in result.err
