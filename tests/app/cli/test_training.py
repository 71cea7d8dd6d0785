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
    settings = ("--frozen-layers", 1, "--dev-questions", 2, "--sentences", 3, "--device", "cpu")
    result = command("train-cascade", encoder, *files, *settings, "-o", tmp_path / "both")
    assert result.code == 0, result.err
    assert "questions: loss" in result.err
    assert "both: document_map" in result.err
    config = json.loads((tmp_path / "both" / "config.json").read_text())
    assert config["combination"]["most_sentences"] == 3
    options = ("--index", sample_index, "--ranker", tmp_path / "both", "--json")
    answer = json.loads(command("ask", "Which drugs inhibit PCSK9?", *options).out)
    assert answer["ranker"] == "both"
    assert len(answer["documents"]) == 10


def test_a_cascade_of_no_encoder(command: Run, few: Path, sample_index: Path, tmp_path: Path) -> None:
    files = ("--train", few, "--dev", few, "--index", sample_index)
    result = command("train-cascade", tmp_path / "nowhere", *files, "-o", tmp_path / "both")
    assert result.code == 2
    assert "nowhere" in result.err


def test_the_default_ranker_is_made_anew_from_ones_own_questions(
    command: Run, sample_index: Path, tmp_path: Path
) -> None:
    made = tmp_path / "mine"
    files = ("--golden", QUESTIONS, "--index", sample_index, "-o", made)
    result = command("train", "soft", "--from-scratch", *files, "--set", "epochs=2")
    assert result.code == 0, result.err
    assert "a fifth of the questions is held out for tuning" in result.err
    parts = [
        json.loads((tmp_path / "mine.questions" / f"{name}.json").read_text()) for name in ("train", "dev")
    ]
    assert [len(part["questions"]) for part in parts] == [20, 5]
    config = json.loads((made / "config.json").read_text())
    assert config["settings"]["sentence_hidden"] == 24
    assert [point["epoch"] for point in config["curve"]] == [1, 2]
    assert set(config["curve"][0]) == {
        "epoch",
        "loss",
        "document_map",
        "snippet_f1",
        "sentence_auc",
        "seconds",
    }
    shown = command("ranker", "show", made)
    assert "loss by epoch" in shown.out
    asked = ("ask", "Which drugs inhibit PCSK9?", "--index", sample_index, "--ranker", made, "--json")
    assert json.loads(command(*asked).out)["calibrated"]


def test_the_default_ranker_is_trained_further(command: Run, sample_index: Path, tmp_path: Path) -> None:
    made = tmp_path / "mine"
    files = ("--golden", QUESTIONS, "--index", sample_index, "-o", made)
    result = command("train", "soft", *files, "--set", "epochs=1")
    assert result.code == 0, result.err
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in result.out.splitlines() if "|" in line
    ]
    assert rows[0] == ["", "questions", "MAP of documents", "difference", "F1 of snippets", "difference"]
    assert [row[0] for row in rows[2:]] == ["shipped", "trained further", "BM25"]
    assert "fold 5/5" in result.err
    kept = "does not beat soft" in result.err
    assert (f"{made}: a copy of soft (--anyway" in result.err) == kept
    asked = ("ask", "Which drugs inhibit PCSK9?", "--index", sample_index, "--ranker", made, "--json")
    answer = json.loads(command(*asked).out)
    assert answer["ranker"] == "mine"
    assert answer["calibrated"]
    if kept:
        shipped = json.loads(command(*asked[:-2], "soft", "--json").out)
        assert answer["documents"] == shipped["documents"]
    anyway = command("train", "soft", *files, "--set", "epochs=1", "--anyway")
    assert f"{made}: what was trained" in anyway.err
    assert json.loads((made / "config.json").read_text())["training"]["start"]["name"] == "soft"


def test_five_questions_are_too_few_to_train_further(
    command: Run, few: Path, sample_index: Path, tmp_path: Path
) -> None:
    result = command("train", "soft", "--golden", few, "--index", sample_index, "-o", tmp_path / "mine")
    assert result.code == 2
    assert "at least 10 are needed" in result.err
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("soft", "--golden", QUESTIONS, "--dev", QUESTIONS), "need --from-scratch"),
        (("soft", "--golden", QUESTIONS, "--anyway", "--from-scratch"), "choose one"),
        (("soft", "--golden", QUESTIONS, "--set", "dimensions=4"), "--from-scratch can change all"),
        (("soft", "--golden", QUESTIONS, "--set", "learning_rate=-1"), "learning_rate"),
        (("bm25", "--golden", QUESTIONS, "--anyway"), "alone is trained further"),
    ],
)
def test_options_that_do_not_go_together(
    command: Run, sample_index: Path, arguments: tuple[str, ...], said: str
) -> None:
    refused = command("train", *arguments, "--index", sample_index, "-o", "mine")
    assert refused.code == 2
    assert said in refused.err


def test_the_baseline_is_tuned_on_all_questions(
    command: Run, few: Path, sample_index: Path, tmp_path: Path
) -> None:
    options = ("--index", sample_index, "-o", tmp_path / "mine")
    result = command("train", "bm25", "--golden", few, *options)
    assert result.code == 0, result.err
    assert "mine: document_map" in result.err
    config = json.loads((tmp_path / "mine" / "config.json").read_text())
    assert config["training"]["dev"]["file"] == "few.json"
    asked = (
        "ask",
        "Which drugs inhibit PCSK9?",
        "--index",
        sample_index,
        "--ranker",
        tmp_path / "mine",
        "--json",
    )
    answer = json.loads(command(*asked).out)
    assert answer["ranker"] == "mine"
    assert answer["calibrated"]
    refused = command("train", "bm25", "--golden", few, "--set", "k1=1", *options)
    assert refused.code == 2
    assert "neither settings" in refused.err


def test_a_deep_ranker_from_ones_own_questions(command: Run, sample_index: Path, tmp_path: Path) -> None:
    encoder = write_tiny(tmp_path / "encoder", ["drug", "gene"])
    golden = tmp_path / "six.json"
    golden.write_text(json.dumps({"questions": json.loads(QUESTIONS.read_text())["questions"][:6]}))
    options = ("--golden", golden, "--index", sample_index, "--device", "cpu", "-o", tmp_path / "both")
    result = command("train", "deep", *options, "--encoder", encoder, "--set", "frozen_layers=1")
    assert result.code == 0, result.err
    assert "both: scale fitted" in result.err
    config = json.loads((tmp_path / "both" / "config.json").read_text())
    assert config["kind"] == "cascade"
    assert {"documents", "sentences"} == {*config["scale"]} - {"margin"}
    asked = (
        "ask",
        "Which drugs inhibit PCSK9?",
        "--index",
        sample_index,
        "--ranker",
        tmp_path / "both",
        "--json",
    )
    answer = json.loads(command(*asked).out)
    assert (answer["ranker"], answer["calibrated"]) == ("both", True)
    refused = command("train", "deep", *options, "--encoder", encoder, "--set", "frozen=1")
    assert refused.code == 2
    assert "frozen_layers" in refused.err
    assert command("train", "deep", *options).code == 2  # without an encoder


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ((), "--golden, or --train and --dev"),
        (("--train",), "--golden, or --train and --dev"),
        (("--golden", "--train"), "one too many"),
    ],
)
def test_the_questions_must_be_named(
    command: Run, few: Path, sample_index: Path, files: tuple[str, ...], said: str
) -> None:
    named = [argument for name in files for argument in (name, few)]
    refused = command("train", "soft", "--from-scratch", *named, "--index", sample_index, "-o", "mine")
    assert refused.code == 2
    assert said in refused.err
