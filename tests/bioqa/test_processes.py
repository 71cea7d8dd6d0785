"""Answers in processes of the user's program: forked and spawned ones."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import bioqa
from bioqa.app.answers import opening

FORKED = """
import multiprocessing, sys
import bioqa

index, ranker = bioqa.open_index(sys.argv[1]), bioqa.load_ranker(sys.argv[2], threads=2)
question = "Which genes influence the dose of warfarin?"

def ask(pmids):
    # A ranker that is loaded in the child must not bring the threads back.
    for each in (ranker, bioqa.load_ranker(sys.argv[2], threads=2)):
        pmids.put([document.pmid for document in bioqa.ask(question, index, each).documents])

expected = [document.pmid for document in bioqa.ask(question, index, ranker).documents]
context = multiprocessing.get_context("fork")
pmids = context.Queue()
child = context.Process(target=ask, args=(pmids,), daemon=True)
child.start()
assert [pmids.get(timeout=120) for _ in range(2)] == [expected] * 2
child.join()
"""


@pytest.mark.parametrize("ranker", ["soft", "deep"])
def test_a_forked_child_answers_after_its_parent_has_with_two_threads(folder: Path, ranker: str) -> None:
    subprocess.run(
        [sys.executable, "-c", FORKED, str(folder / "sample-index"), ranker], check=True, timeout=300
    )


def test_an_index_pickles_as_its_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    with bioqa.open_index("sample-index") as index:
        pickled = pickle.dumps(index)
    monkeypatch.chdir("/")
    with pickle.loads(pickled) as again:
        assert again.name == index.name
        assert again.document("90000001") is not None
    assert len(pickled) < 1000


def test_an_index_that_is_gone_cannot_be_unpickled(folder: Path, tmp_path: Path) -> None:
    pickled = pickle.dumps(bioqa.open_index(folder / "sample-index"))
    with pytest.raises(bioqa.BioqaError, match="no such folder"):
        pickle.loads(pickled.replace(b"sample-index", b"nowhere-much"))


@pytest.mark.parametrize(("where", "times"), [("http://host:9200/medline", 2), ("medline", 1)])
def test_only_connections_are_opened_anew_after_a_fork(
    where: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[object] = []

    class BackEnd:
        name = "medline"

        def __init__(self, settings: object) -> None:
            opened.append(settings)

    monkeypatch.setattr(opening, "open_index", BackEnd)
    index = bioqa.open_index(where)
    assert index.name == "medline"
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert [index.name for _ in range(3)] == ["medline"] * 3
    assert len(opened) == times
