"""From MEDLINE files to a ranker that answers, by commands alone, at toy size."""

import json
from pathlib import Path

import pytest

from tests.app.conftest import SAMPLE, Run
from tests.models.encoders.tiny import write_tiny

pytest.importorskip("gensim", reason="needs the extra train")

CITATIONS = SAMPLE / "medline.xml"
QUESTIONS = SAMPLE / "questions.json"


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """Four of the sample's questions."""
    path = tmp_path / "few.json"
    path.write_text(json.dumps({"questions": json.loads(QUESTIONS.read_text())["questions"][:4]}))
    return path


@pytest.fixture
def words(command: Run, tmp_path: Path) -> Path:
    folder = tmp_path / "words"
    result = command("vocabulary", CITATIONS, "-o", folder, "--dimensions", 4, "--min-count", 3)
    assert result.code == 0
    assert "168 documents" in result.err
    return folder


def test_a_vocabulary_and_a_ranker_are_trained_and_used(
    command: Run, words: Path, few: Path, sample_index: Path, tmp_path: Path
) -> None:
    files = ("--train", few, "--dev", few, "--index", sample_index, "--vocabulary", words)
    settings = ("--set", "epochs=2", "--set", "dimensions=4")
    result = command("train", "jpdrmm", *files, *settings, "-o", tmp_path / "mine")
    assert result.code == 0, result.err
    assert "preparing few.json: 100% 4/4 questions" in result.err
    assert "epoch 2: loss" in result.err
    config = json.loads((tmp_path / "mine" / "config.json").read_text())
    assert config["settings"]["epochs"] == 2
    options = ("--index", sample_index, "--ranker", tmp_path / "mine", "--json")
    answer = json.loads(command("ask", "Which drugs inhibit PCSK9?", *options).out)
    assert answer["ranker"] == "mine"
    assert len(answer["ranker_hash"]) == 64
    assert len(answer["documents"]) == 10


def test_a_ranker_over_an_encoder(
    command: Run, words: Path, few: Path, sample_index: Path, tmp_path: Path
) -> None:
    encoder = write_tiny(tmp_path / "encoder")
    files = ("--train", few, "--dev", few, "--index", sample_index, "--vocabulary", words)
    options = ("--encoder", encoder, "--device", "cpu", "--states", tmp_path / "states")
    settings = ("--set", "epochs=1", "--set", "dimensions=4")
    result = command("train", "jbert-nf", *files, *options, *settings, "-o", tmp_path / "mine")
    assert result.code == 0, result.err
    assert list((tmp_path / "states").glob("*.states"))
    asked = ("ask", "Which drugs inhibit PCSK9?", "--index", sample_index, "--json")
    answer = json.loads(command(*asked, "--ranker", tmp_path / "mine").out)
    assert answer["ranker"] == "mine"
    refused = command("train", "jbert-nf", *files, *settings, "-o", tmp_path / "other")
    assert refused.code != 0
    assert "jbert-nf reads through an encoder" in refused.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "jpdrmm"),
        (["jpdrmm", "--set", "epochz=3"], "epochz"),
        (["jpdrmm", "--set", "epochs"], "NAME=VALUE"),
        (["jpdrmm", "--set", "dimensions=4", "--vocabulary", "nowhere"], "nowhere"),
    ],
)
def test_wrong_names_and_settings_are_told(
    command: Run, few: Path, sample_index: Path, arguments: list[str], said: str
) -> None:
    files = ("--train", few, "--dev", few, "--index", sample_index, "-o", "mine")
    result = command("train", *arguments, *files)
    assert result.code == 2
    assert said in result.err


def test_a_cascade_is_trained_and_used(command: Run, few: Path, sample_index: Path, tmp_path: Path) -> None:
    encoder = write_tiny(tmp_path / "encoder", ["drug", "gene"])
    files = ("--train", few, "--dev", few, "--index", sample_index)
    settings = ("--frozen-layers", 1, "--dev-questions", 2, "--device", "cpu")
    result = command("train-cascade", encoder, *files, *settings, "-o", tmp_path / "both")
    assert result.code == 0, result.err
    assert "questions: loss" in result.err
    assert "both: document_map" in result.err
    options = ("--index", sample_index, "--ranker", tmp_path / "both", "--json")
    answer = json.loads(command("ask", "Which drugs inhibit PCSK9?", *options).out)
    assert answer["ranker"] == "both"
    assert len(answer["documents"]) == 10


def test_a_cascade_of_no_encoder(command: Run, few: Path, sample_index: Path, tmp_path: Path) -> None:
    files = ("--train", few, "--dev", few, "--index", sample_index)
    result = command("train-cascade", tmp_path / "nowhere", *files, "-o", tmp_path / "both")
    assert result.code == 2
    assert "nowhere" in result.err
