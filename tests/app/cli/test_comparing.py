"""``bioqa compare``."""

import csv
import io
import json
from pathlib import Path

import pytest

from bioqa.bioasq.files import write_submission
from bioqa.bioasq.trec import judgements, submission_run
from tests.app.conftest import Run
from tests.bioasq.comparing import golden, system

GOLD = golden(12)


@pytest.fixture
def files(tmp_path: Path) -> None:
    write_submission(tmp_path / "gold.json", GOLD)
    for seed, name in enumerate(("ours.json", "theirs.json")):
        write_submission(tmp_path / name, system(GOLD, 0.3 + 0.1 * seed, seed))
    run = submission_run(system(GOLD, 0.5, 7), "x")
    (tmp_path / "old.run").write_text("".join(f"{line}\n" for line in run))
    (tmp_path / "qrels").write_text("".join(f"{line}\n" for line in judgements(GOLD)))


@pytest.mark.usefixtures("files")
def test_values_are_those_that_evaluate_prints(command: Run) -> None:
    for edition in (5, 8):
        options = ("--edition", edition, "--json")
        made = json.loads(command("compare", "gold.json", "ours.json", "theirs.json", *options).out)
        for name in ("ours", "theirs"):
            printed = json.loads(command("evaluate", "gold.json", f"{name}.json", *options).out)
            values = {row["measure"]: row["value"] for row in made["measures"] if row["system"] == name}
            assert values == {key: printed[key] for key in values}
            assert len(values) == 10
    assert json.loads(command("compare", "gold.json", "ours.json", "--json").out)["edition"] == 9


@pytest.mark.usefixtures("files")
def test_table_csv_json_and_report(command: Run, tmp_path: Path) -> None:
    files = ("gold.json", "ours.json", "theirs.json", "old.run")
    result = command("compare", *files, "--html", "report.html")
    assert result.code == 0
    assert "report.html: report written" in result.err
    assert "| documents MAP " in result.out
    assert "old has no snippets." in result.out
    assert "Questions that differ most" in result.out
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "gold.json: ours, theirs, old" in report
    again = command("compare", *files, "--html", "again.html")
    assert again.out == result.out
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == report
    rows = [*csv.DictReader(io.StringIO(command("compare", *files, "--csv").out))]
    made = json.loads(command("compare", *files, "--json", "--questions", 2).out)
    assert [float(row["value"]) for row in rows] == [row["value"] for row in made["measures"]]
    assert len(made["most_different"]) == 2
    assert "per_question" not in made


@pytest.mark.usefixtures("files")
def test_each_question(command: Run) -> None:
    files = ("gold.json", "ours.json", "theirs.json", "--per-question")
    made = json.loads(command("compare", *files, "--json").out)
    assert len(made["per_question"]) == 2 * len(GOLD)
    rows = [*csv.DictReader(io.StringIO(command("compare", *files, "--csv").out))]
    assert [row["question"] for row in rows] == [row["question"] for row in made["per_question"]]
    shown = command("compare", *files).out
    assert all(f"| {each.question.id} " in shown for each in GOLD)


@pytest.mark.usefixtures("files")
def test_the_baseline_is_named_by_system_or_file(command: Run) -> None:
    for name in ("theirs", "theirs.json"):
        made = json.loads(
            command("compare", "gold.json", "ours.json", "theirs.json", "--baseline", name, "--json").out
        )
        assert made["baseline"] == "theirs"
    result = command("compare", "gold.json", "ours.json", "--baseline", "nobody")
    assert (result.code, result.out) == (2, "")
    assert "is none of the systems: ours" in result.err


@pytest.mark.usefixtures("files")
def test_judgements_are_gold(command: Run) -> None:
    made = json.loads(command("compare", "qrels", "old.run", "ours.json", "--json").out)
    assert {row["measure"].partition("_")[2] for row in made["measures"]} == {"documents"}


@pytest.mark.usefixtures("files")
def test_systems_of_one_name_go_by_their_files(command: Run, tmp_path: Path) -> None:
    (tmp_path / "ours.gz").write_bytes((tmp_path / "theirs.json").read_bytes())
    made = json.loads(command("compare", "gold.json", "ours.json", "ours.gz", "--json").out)
    assert [each["system"] for each in made["systems"]] == ["ours.json", "ours.gz"]
    twice = command("compare", "gold.json", "ours.json", "ours.json")
    assert (twice.code, "given twice" in twice.err) == (2, True)
    both = command("compare", "gold.json", "ours.json", "--csv", "--json")
    assert (both.code, "choose one" in both.err) == (2, True)
