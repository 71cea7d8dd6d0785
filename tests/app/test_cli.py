"""The command as people and scripts run it: output, errors, exit codes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bioqa.bioasq.jsonfile import read_json
from bioqa.bioasq.validation import validate
from bioqa.models.reranker import Reranker
from tests.app.conftest import LexicalRanker, Run

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


# parse, index, info


def test_parse_prints_events_as_json_lines_and_counts(run: Run, medline: Path) -> None:
    result = run("parse", medline)
    assert result.code == 0
    upsert, delete = map(json.loads, result.out.splitlines())
    assert (upsert["op"], upsert["pmid"], upsert["version"], upsert["year"]) == (
        "upsert",
        "90000901",
        1,
        2001,
    )
    assert upsert["abstract"] == "RESULTS: Zinc shortened colds. \u03b1-Zinc [did] not."
    assert upsert["sentences"][0] == ["title", 0, len("Zinc & the common cold.")]
    assert delete == {"op": "delete", "pmid": "90000902"}
    assert "records 3: upserts 1, deletions 1, skipped 0, rejected 1" in result.err


def test_parse_prints_nothing_of_a_broken_file_and_all_of_the_others(
    run: Run, medline: Path, broken: Path, tmp_path: Path
) -> None:
    alone = run("parse", medline)
    result = run("parse", broken, medline, tmp_path / "missing.xml")
    assert (result.code, result.out) == (1, alone.out)
    assert "broken.xml" in result.err
    assert "missing.xml" in result.err


def test_index_loads_once_and_info_tells_of_it(run: Run, medline: Path, tmp_path: Path) -> None:
    first = run("index", medline, "--index", tmp_path / "index", "--workers", "1")
    assert first.code == 0
    assert "files loaded: 1 in" in first.err
    assert "rejected 1 (PMID is no positive integer 1)" in first.err
    again = run("index", medline, "--index", tmp_path / "index", "--workers", "1")
    assert again.code == 0
    assert "files loaded before: 1" in again.err
    info = json.loads(run("info", "--index", tmp_path / "index", "--json").out)
    assert (info["name"], info["documents"], info["without_abstract"]) == ("index", 1, 0)
    assert [(f["name"], f["records"], f["upserted"]) for f in info["files"]] == [("medline.xml", 3, 1)]
    shown = run("info", "--index", tmp_path / "index").out
    assert "medline.xml" in shown
    assert "1, 0 of them without abstract" in shown


def test_index_names_a_broken_file_and_loads_the_others(
    run: Run, medline: Path, broken: Path, tmp_path: Path
) -> None:
    result = run("index", broken, medline, "--index", tmp_path / "index", "--workers", "1")
    assert result.code == 1
    assert "broken.xml" in result.err
    assert json.loads(run("info", "--index", tmp_path / "index", "--json").out)["documents"] == 1


def test_the_index_can_be_named_by_the_environment(
    run: Run, index_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "BIOQA_INDEX" in run("info").err
    monkeypatch.setenv("BIOQA_INDEX", str(index_folder))
    assert json.loads(run("info", "--json").out)["documents"] == 41


# validate, evaluate


def test_validate_prints_all_faults_and_exits_1(run: Run, tmp_path: Path, testset: Path) -> None:
    submission = tmp_path / "submission"
    submission.write_text(json.dumps({"questions": [{"id": "a", "documents": ["1"], "snippets": None}]}))
    result = run("validate", submission, "--testset", testset)
    assert result.code == 1
    for line in ("a: documents[0]: ", "a: snippets: ", "b: id: "):
        assert any(shown.startswith(line) for shown in result.out.splitlines())
    faults = json.loads(run("validate", submission, "--json").out)
    assert {fault["field"] for fault in faults} == {"documents[0]", "snippets"}


def test_validate_exits_0_without_faults_and_2_without_a_file(run: Run, tmp_path: Path) -> None:
    submission = tmp_path / "submission"
    submission.write_text(json.dumps({"questions": [{"id": "a", "documents": [], "snippets": []}]}))
    assert run("validate", submission).code == 0
    assert run("validate", submission, "--json").out == "[]\n"
    assert run("validate", tmp_path / "missing").code == 2


def test_what_is_no_json_is_a_fault_of_a_submission(run: Run, tmp_path: Path) -> None:
    submission = tmp_path / "submission"
    submission.write_text("{")
    result = run("validate", submission)
    assert result.code == 1
    assert "not JSON" in result.out


def test_evaluate_prints_the_official_measures(run: Run, tmp_path: Path) -> None:
    golden = tmp_path / "golden"
    url = "http://www.ncbi.nlm.nih.gov/pubmed/1"
    entry = {"id": "a", "type": "list", "body": "?", "documents": [url], "snippets": []}
    golden.write_text(json.dumps({"questions": [entry, {**entry, "id": "b"}]}))
    system = tmp_path / "system"
    system.write_text(json.dumps({"questions": [entry]}))
    result = run("evaluate", golden, system, "--edition", "8", "--json")
    measures = json.loads(result.out)
    assert (result.code, measures["map_documents"], measures["missing"]) == (0, 1.0, ["b"])
    assert "in no mean: 1" in result.err
    shown = run("evaluate", golden, system, "--edition", "5").out
    assert "0.1000" in shown
    assert "edition 5" in shown
    assert run("evaluate", golden, system, "--edition", "7").code == 2
    assert run("evaluate", golden, system).code == 2


# ask, batch


def test_ask_prints_documents_and_snippets_with_scores(run: Run, index_folder: Path) -> None:
    result = run("ask", "Is metformin better?", "--index", index_folder, "--max-documents", "2")
    assert result.code == 0
    assert "Effects of metformin in cohort" in result.out
    assert "<b>& beyond</b>" in result.out
    assert " 2. " in result.out
    assert "ranker lexical" in result.out


def test_ask_prints_what_http_answers(run: Run, index_folder: Path) -> None:
    options = ("--index", index_folder, "--published-before", "1995-01-01", "--max-snippets", "3", "--json")
    answer = json.loads(run("ask", "Is metformin better?", *options).out)
    assert (answer["body"], answer["index"], len(answer["snippets"])) == ("Is metformin better?", "sample", 3)
    assert all(d["published"] is None or d["published"] < "1995" for d in answer["documents"])


def test_ask_without_any_match_says_so(run: Run, index_folder: Path) -> None:
    assert "No document" in run("ask", "zebra", "--index", index_folder).out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ask", " ", "--index", "."], "empty"),
        (["ask", "a\udcff", "--index", "."], "Unicode"),
        (["ask", "a", "--index", "nowhere"], "nowhere"),
        (["ask", "a", "--index", "."], "no bioqa index"),
        (["ask", "a"], "--index DIR"),
        (["ask", "a", "--index", ".", "--candidates", "0"], "BIOQA_CANDIDATES"),
        (["ask", "a", "--published-before", "soon"], "soon"),
        (["batch", "missing", "-o", "x", "--index", "."], "missing"),
        (["serve"], "--index DIR"),
        (["index", "missing.xml", "--index", "x"], "missing.xml"),
        (["vocabulary", "missing.xml", "-o", "x"], "missing.xml"),
        (["experiment", "pappas-2021", "--train", "a"], "--train, --dev and --test"),
        (["nonsense"], "nonsense"),
    ],
)
def test_bad_input_is_told_on_stderr_with_exit_code_2(run: Run, arguments: list[str], said: str) -> None:
    result = run(*arguments)
    assert (result.code, result.out) == (2, "")
    assert said in result.err


def test_batch_writes_a_valid_submission(run: Run, index_folder: Path, testset: Path, tmp_path: Path) -> None:
    result = run("batch", testset, "-o", tmp_path / "submission", "--index", index_folder)
    assert result.code == 0
    assert "answering: 100% 2/2 questions" in result.err
    assert "questions 2, without any document 1" in result.err
    written = read_json(tmp_path / "submission")
    assert validate(written) == []
    assert run("validate", tmp_path / "submission", "--testset", testset).code == 0


def test_demo_indexes_answers_evaluates_and_says_how_to_serve(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    result = run("demo")
    assert result.code == 0
    folder = next((tmp_path / "cache" / "bioqa").iterdir())
    assert f"bioqa serve --index {folder}" in result.out
    assert "Documents" in result.out
    assert "25 questions" in result.out
    assert run("demo").code == 0


def test_version_and_help(run: Run) -> None:
    assert run("--version").out.startswith("bioqa 0.")
    assert "demo" in run("--help").out
    assert run().code == 2


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = "import sys, bioqa.app.cli; sys.exit('torch' in sys.modules or 'fastapi' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
