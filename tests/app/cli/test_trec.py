import json
from pathlib import Path

import pytest

from bioqa.bioasq.files import read_golden
from tests.app.conftest import Run
from tests.bioasq.entries import DOCUMENT, entry

GOLDEN = {"questions": [entry(documents=[DOCUMENT, DOCUMENT + "2"]), entry(id="q2", documents=[])]}


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    path = tmp_path / "golden.json"
    path.write_text(json.dumps(GOLDEN))
    return path


def test_a_submission_becomes_a_run_and_comes_back(command: Run, golden: Path, tmp_path: Path) -> None:
    assert command("trec", "run", golden, "-o", "run.txt", "--tag", "mine").err == "run.txt: lines 2\n"
    assert (tmp_path / "run.txt").read_text().splitlines() == [
        "q1 Q0 90000001 1 2.0 mine",
        "q1 Q0 900000012 2 1.0 mine",
    ]
    done = command("trec", "submission", "run.txt", "-o", "back.json", "--testset", golden)
    assert (done.code, done.err) == (0, "back.json: questions 2, without any document 1\n")
    assert read_golden(tmp_path / "back.json").responses == read_golden(golden).responses
    assert command("validate", "back.json", "--testset", golden).code == 0


def test_a_golden_file_becomes_judgements_and_comes_back(command: Run, golden: Path, tmp_path: Path) -> None:
    command("trec", "qrels", golden, "--output", "qrels.txt")
    assert (tmp_path / "qrels.txt").read_text() == "q1 0 90000001 1\nq1 0 900000012 1\n"
    (tmp_path / "qrels.txt").write_text("q1 0 90000001 2\nq1 0 900000012 1\n")
    assert command("trec", "golden", "qrels.txt", "-o", "back.json", "--least", 2).code == 0
    (only,) = read_golden(tmp_path / "back.json").responses
    assert only.documents == (DOCUMENT,)


def test_what_is_wrong_is_told_and_nothing_written(command: Run, golden: Path, tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text("q1 Q0 5 1 1.0 t\nq9 Q0 5\n")
    for arguments in (
        ("trec", "submission", "run.txt", "-o", "new"),
        ("trec", "golden", "run.txt", "-o", "new"),
        ("trec", "run", golden, "-o", "new", "--tag", "a b"),
        ("trec", "run", "run.txt", "-o", "new"),
    ):
        done = command(*arguments)
        assert done.code == 2
        assert done.err.startswith("error: ")
    assert "run.txt, line 2" in command("trec", "submission", "run.txt", "-o", "new").err
    assert not (tmp_path / "new").exists()


def test_documents_in_other_forms_are_converted_and_counted(command: Run, tmp_path: Path) -> None:
    documents = [DOCUMENT, "https://pubmed.ncbi.nlm.nih.gov/7/", "8"]
    (tmp_path / "synergy.json").write_text(json.dumps({"questions": [entry(documents=documents)]}))
    done = command("trec", "qrels", "synergy.json", "-o", "q")
    assert (done.code, done.err.splitlines()[0]) == (
        0,
        "synergy.json: 2 × document not in the form of BioASQ's PubMed URLs",
    )
    assert [line.split()[2] for line in (tmp_path / "q").read_text().splitlines()] == ["90000001", "7", "8"]


def test_an_empty_run_is_an_error(command: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    for kind in ("submission", "golden"):
        done = command("trec", kind, "empty", "-o", "new")
        assert (done.code, done.err) == (2, "error: empty: has no lines\n")
    assert not (tmp_path / "new").exists()
