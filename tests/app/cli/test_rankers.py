"""`bioqa ranker`: what a ranker is, what its scores mean, how reliable that is."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bioqa.models.bundled import DEFAULT, WEIGHTS
from bioqa.models.cascade import files as cascade_files
from bioqa.models.cascade.ranker import Speed
from bioqa.models.cascade.speed import read_speed
from tests.app.conftest import SAMPLE, Run

QUESTIONS = SAMPLE / "questions.json"
CURVE = [
    {"epoch": 1, "loss": 2.0, "document_map": 0.5, "seconds": 1.0},
    {"epoch": 2, "loss": 1.0, "document_map": 0.75, "seconds": 1.0},
]


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return Path(shutil.copytree(WEIGHTS / "bm25", tmp_path / "mine"))


def change(folder: Path, **changes: object) -> None:
    config = json.loads((folder / "config.json").read_text())
    config = {name: value for name, value in (config | changes).items() if value is not None}
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")


@pytest.mark.parametrize("name", ["bm25", "jpdrmm", DEFAULT])
def test_bundled_rankers_are_shown(command: Run, name: str) -> None:
    shown = command("ranker", "show", name)
    assert shown.code == 0
    for heading in ("Settings", "Training", "Scores on dev", "Selection", "Learning curve", "Scale"):
        assert f"\n{heading}\n" in shown.out
    assert "file dev.json.gz" in shown.out
    assert "document's score" in shown.out


def test_a_learning_curve_is_drawn(command: Run, copied: Path, tmp_path: Path) -> None:
    change(copied, curve=CURVE)
    shown = command("ranker", "show", copied, "--svg", tmp_path / "curve.svg")
    assert shown.code == 0
    assert "  loss by epoch\n" in shown.out
    assert "  document_map by epoch\n" in shown.out
    assert shown.out.count("*") == 4
    assert "seconds by" not in shown.out
    ElementTree.parse(tmp_path / "curve.svg")
    assert json.loads(command("ranker", "show", copied, "--json").out)["curve"] == CURVE


def test_older_checkpoints_have_neither_curve_nor_scale(command: Run, copied: Path) -> None:
    change(copied, scale=None)
    shown = command("ranker", "show", copied)
    assert shown.code == 0
    assert "Learning curve\n  none was kept\n" in shown.out
    assert "none: scores are comparable within one answer only" in shown.out
    refused = command("ranker", "show", copied, "--svg", "x.svg")
    assert refused.code == 2
    assert "nothing to draw" in refused.err


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"curve": [3]}, "learning curve"),
        ({"scale": {"documents": 3}}, "scale"),
        ({"format": None}, "not the config"),
    ],
)
def test_damaged_configs_are_told(command: Run, copied: Path, changes: dict[str, object], said: str) -> None:
    change(copied, **changes)
    refused = command("ranker", "show", copied)
    assert refused.code == 2
    assert said in refused.err


def test_no_ranker_of_that_name(command: Run) -> None:
    refused = command("ranker", "show", "nowhere")
    assert refused.code == 2
    assert "no ranker 'nowhere'" in refused.err
    assert "bm25, deep, jpdrmm, soft" in refused.err


def test_a_scale_is_fitted_and_used(command: Run, copied: Path, sample_index: Path, tmp_path: Path) -> None:
    change(copied, scale=None)
    agreement = json.loads((copied / "config.json").read_text())["calibration"]["agreement"]
    asked = ("ask", "Which drugs inhibit PCSK9?", "--index", sample_index, "--ranker", copied, "--json")
    before = json.loads(command(*asked).out)
    assert not before["calibrated"]
    measured = ("ranker", "reliability", copied, "--golden", QUESTIONS, "--index", sample_index)
    refused = command(*measured)
    assert refused.code == 2
    assert "no probabilities yet" in refused.err
    fitted = command("ranker", "calibrate", copied, "--dev", QUESTIONS, "--index", sample_index)
    assert fitted.code == 0, fitted.err
    assert "scale fitted; expected calibration error of answers" in fitted.err
    after = json.loads(command(*asked).out)
    assert after["calibrated"]
    weights = [json.loads((copied / "config.json").read_text())["calibration"]["agreement"], agreement]
    assert (after["ranker_hash"] == before["ranker_hash"]) == (len({*weights}) == 1)
    assert [each["pmid"] for each in after["documents"]] == [each["pmid"] for each in before["documents"]]
    for unit in ("documents", "snippets"):
        scores = [each["score"] for each in after[unit]]
        assert all(0 < score < 1 for score in scores)
        assert scores == sorted(scores, reverse=True)
    config = json.loads((copied / "config.json").read_text())
    assert config["training"]["scale"]["file"] == "questions.json"
    drawn = json.loads(command(*measured, "--svg", tmp_path / "reliability.svg", "--json").out)
    assert set(drawn) == {
        f"{unit} of {of}" for unit in ("documents", "sentences") for of in ("answers", "candidates")
    }
    # Fitted on the same questions: means agree.
    assert drawn["documents of answers"]["expected_calibration_error"] < 0.2
    assert sum(each["count"] for each in drawn["documents of answers"]["bins"]) == 250
    ElementTree.parse(tmp_path / "reliability.svg")
    assert "expected calibration error" in command(*measured).out


def test_nothing_to_fit_on(command: Run, copied: Path, sample_index: Path, tmp_path: Path) -> None:
    golden = json.loads(QUESTIONS.read_text())
    for question in golden["questions"]:
        question |= {"documents": [], "snippets": []}
    (tmp_path / "empty.json").write_text(json.dumps(golden))
    refused = command(
        "ranker", "calibrate", copied, "--dev", tmp_path / "empty.json", "--index", sample_index
    )
    assert refused.code == 2
    assert "no scale fits" in refused.err


def test_the_speed_of_this_machine_is_kept(
    command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("BIOQA_TORCH_THREADS", "1")
    measured = Speed(20.0, 5.0, 1, True)
    monkeypatch.setattr("bioqa.models.cascade.speed.best_speed", lambda load, asked: measured)
    tuned = command("ranker", "tune")
    assert tuned.code == 0, tuned.err
    assert "1 thread: 5,000 word pieces a second in bfloat16; 4,900 in 1000 ms" in tuned.out
    assert str(tmp_path / "bioqa" / "speed.json") in tuned.err
    assert read_speed(cascade_files.load(WEIGHTS / "deep").fingerprint, 1) == measured
    refused = command("ranker", "tune", "soft")
    assert refused.code == 2
    assert "soft: not a cascade" in refused.err


def test_the_deep_rankers_curve_is_shown(command: Run) -> None:
    shown = command("ranker", "show", "deep")
    assert shown.code == 0
    assert "loss by questions" in shown.out
    assert "pieces_per_ms" in shown.out
