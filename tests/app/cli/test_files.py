"""``bioqa parse``, ``validate`` and ``evaluate``."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from bioqa.bioasq.files import write_submission
from bioqa.bioasq.measures import per_question
from tests.app.conftest import Run
from tests.bioasq.comparing import golden, system


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
    assert "which the means leave out: 1" in result.err
    shown = run("evaluate", golden, system, "--edition", "5").out
    assert "0.1000" in shown
    assert "edition 5" in shown
    assert run("evaluate", golden, system, "--edition", "7").code == 2
    latest = json.loads(run("evaluate", golden, system, "--json").out)
    assert latest == json.loads(run("evaluate", golden, system, "--edition", "9", "--json").out)


def test_evaluate_prints_each_question_too(run: Run, tmp_path: Path) -> None:
    gold = golden(6)
    for name, responses in (("golden", gold), ("system", system(gold, 0.4, 1))):
        write_submission(tmp_path / name, responses)
    result = run("evaluate", "golden", "system", "--per-question", "--json")
    rows = json.loads(result.out)["per_question"]
    assert [row["question"] for row in rows] == [each.question.id for each in gold]
    measured = per_question(gold, system(gold, 0.4, 1), 9)
    assert [row["ap_documents"] for row in rows] == [each.documents.average_precision for each in measured]
    lines = run("evaluate", "golden", "system", "--per-question").out.splitlines()
    (line,) = (line for line in lines if line.startswith("| q3 "))
    assert line.split(" | ")[4].strip() == f"{measured[3].documents.f1:.4f}"


def test_files_in_the_wrong_place_are_named(run: Run, tmp_path: Path, testset: Path) -> None:
    gold = golden(12)
    for name, responses in (("golden", gold), ("system", system(gold, 0.4, 1))):
        write_submission(tmp_path / name, responses)
    for command in ("evaluate", "compare"):
        for files, words in (
            ((testset, "system"), f"{testset}: is a test set, not a golden file"),
            (("golden", testset), f"{testset}: is a test set, not a submission"),
            (("system", "golden"), "system and golden: are swapped"),
        ):
            result = run(command, *files)
            assert (result.code, result.out) == (2, "")
            assert result.err.startswith(f"error: {words}")
        assert run(command, "golden", "golden").code == 0


def test_parse_reads_standard_input_and_names_a_folder(run: Run, medline: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from bioqa.app.cli import main; main()", "parse"]
    for packed in (medline.read_bytes(), gzip.compress(medline.read_bytes())):
        done = subprocess.run([*command, "-"], input=packed, capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert done.stdout.decode() == run("parse", medline).out
    told = run("parse", tmp_path)
    assert (told.code, told.err) == (
        1,
        f"error: {tmp_path} is a folder; give its files: {tmp_path}/*.xml.gz\n",
    )


def test_a_golden_file_without_questions_is_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text('{"questions": []}')
    done = run("evaluate", tmp_path / "empty.json", tmp_path / "empty.json", "--edition", 9)
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("empty.json: has no questions, so there is nothing to measure\n")


@pytest.mark.parametrize("columns", [20, 40, 57, 58, 200])
def test_no_figure_is_cut_on_a_narrow_terminal(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    golden = tmp_path / "golden"
    entry = {"id": "a", "type": "list", "body": "?", "documents": ["http://www.ncbi.nlm.nih.gov/pubmed/1"]}
    golden.write_text(json.dumps({"questions": [{**entry, "snippets": []}]}))
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = run("evaluate", golden, golden, "--edition", "9").out
    assert shown.count("1.0000") == 5
    assert "…" not in shown
