"""Experiments of documents alone: the results that are kept, one's own at toy size, and all systems."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bioqa.app.cli.experiments import PAPERS
from bioqa.app.reports.all_systems import chart, read_all
from bioqa.app.reports.svg import as_file
from bioqa.models.experiments import published
from bioqa.models.experiments.papers import EXPERIMENTS, list_counted
from tests.app.conftest import SAMPLE, Run

DOCS = Path(__file__).resolve().parents[3] / "docs"
SYSTEMS = (DOCS / "systems.md").read_text(encoding="utf-8")


def cells(text: str) -> list[list[str]]:
    return [[c.strip() for c in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]


@pytest.mark.parametrize("name", ["all", *PAPERS])
def test_the_documentation_has_what_is_printed(command: Run, name: str) -> None:
    printed = command("experiment", name).out
    assert printed.strip() in SYSTEMS


def test_the_documentation_has_the_chart(command: Run, tmp_path: Path) -> None:
    path = tmp_path / "systems.svg"
    assert command("experiment", "all", "--svg", path).code == 0
    kept = DOCS / "pictures" / "systems.svg"
    assert path.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8") == as_file(chart(read_all()))
    assert "(pictures/systems.svg)" in SYSTEMS


def test_the_commands_are_the_papers() -> None:
    of_documents = {name: each.title for name, each in EXPERIMENTS.items() if each.documents_only}
    assert of_documents == PAPERS


@pytest.mark.parametrize("name", PAPERS)
def test_the_kept_results_are_whole(name: str) -> None:
    results = published.read(name)
    experiment = EXPERIMENTS[name]
    stored = json.loads((published.FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert json.loads(json.dumps(results.as_dict())) == stored
    assert stored["experiment"] == name
    assert len(results.data["files"]) == 4
    assert [s.name for s in experiment.systems if s.name in {row.system for row in results.rows}] == [
        row.system for row in results.rows
    ]
    for row in results.rows:
        assert row.seeds == len(row.parts)
        assert set(row.collections) == {"test", "scifact-test"}
        for part in row.parts:
            # Orders of documents that need no ranker have neither.
            assert ("settings" in part) == ("weights" in part) == ("code" in part)


def test_every_system_of_the_papers_is_in_the_table(command: Run) -> None:
    rows = json.loads(command("experiment", "all", "--json").out)
    numbered = [(row["experiment"], row["system"]) for row in rows if row["number"] is not None]
    assert numbered == list_counted()
    assert Counter(row["experiment"] for row in rows) == {n: len(e.systems) for n, e in EXPERIMENTS.items()}


def test_results_of_ones_own(command: Run, tmp_path: Path) -> None:
    rows = json.loads(command("experiment", "all", "--results", tmp_path, "--json").out)
    assert {row["map"] for row in rows} == {None}
    (tmp_path / "hui-2018.json").write_text("[]", encoding="utf-8")
    wrong = command("experiment", "all", "--results", tmp_path)
    assert wrong.code == 2
    assert "hui-2018.json: not the results" in wrong.err


@pytest.fixture
def few(tmp_path: Path) -> Path:
    path = tmp_path / "few.json"
    questions = json.loads((SAMPLE / "questions.json").read_text())["questions"][:3]
    path.write_text(json.dumps({"questions": questions}))
    return path


def test_ones_own_experiment(command: Run, few: Path, sample_index: Path, tmp_path: Path) -> None:
    pytest.importorskip("ir_measures", reason="needs the extra train")
    files: tuple[Any, ...] = ("--train", few, "--dev", few, "--test", few, "--index", sample_index)
    options: tuple[Any, ...] = ("--runs", tmp_path / "runs", "--seeds", "1,2", "--workers", 1)
    some = ("--only", "UQLM", "--only", "BM25*", "--share", "train_questions=2")
    result = command("experiment", "mohan-2017", *files, *options, *some)
    assert result.code == 0, result.err
    by_name = {line[0]: line for line in cells(result.out.split("best seed")[0])}
    assert by_name["UQLM"][1] == "1"
    assert by_name["Delta"][3] == "not trained here"
    assert float(by_name["BM25 on titles"][3]) > 0
    stored = json.loads(command("experiment", "mohan-2017", *files, *options, *some, "--json").out)
    assert [row["system"] for row in stored["rows"]] == ["Reverse document id", "BM25 on titles", "UQLM"]
    assert [file["file"] for file in stored["data"]["files"]] == ["few.json"] * 3
    missing = command("experiment", "mohan-2017", "--train", few)
    assert missing.code == 2
    assert "--train, --dev and --test are needed together" in missing.err
