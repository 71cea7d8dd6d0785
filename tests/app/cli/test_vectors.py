"""``bioqa vectors``: from an index and an encoder's folder to a file beside the index."""

import json
import shutil
from pathlib import Path

import pytest

from bioqa.app.answers.vectors import vectors_of
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.indexer.vectors.file import VectorFile
from tests.app.conftest import Run
from tests.models.encoders.tiny import write_tiny


@pytest.fixture
def index(sample_index: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sample_index, tmp_path / "sample"))


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    return write_tiny(tmp_path / "tiny", ["warfarin"], positions=128)


def test_it_encodes_all_citations_and_then_only_new_ones(command: Run, index: Path, encoder: Path) -> None:
    options = ("vectors", "--index", index, "--encoder", encoder, "--pieces", 32, "--threads", 1)
    first = command(*options)
    assert first.code == 0
    (path,) = index.glob("vectors-*.bin")
    assert f"{path}: citations 168, of these new or revised 168; withdrawn 0; 0.0 MB" in first.err
    assert "of these new or revised 0;" in command(*options).err
    opened = VectorFile.open(path)
    assert len(opened) == 168
    assert opened.encoder.name == str(encoder)
    assert opened.encoder.settings["pieces"] == 32


def test_settings_of_the_encoder_are_kept_for_questions(command: Run, index: Path, encoder: Path) -> None:
    command(
        *("vectors", "--index", index, "--encoder", encoder, "--pooling", "cls", "--prompt", "ask: "),
        *("--device", "cpu"),
    )
    with TantivyIndex.open(index) as opened:
        vectors = vectors_of(opened)
        assert vectors is not None
        file = vectors.current()
        assert file is not None
        assert file.encoder.settings["question_prefix"] == "ask: "
        assert vectors.question("warfarin", file).shape == (16,)


def test_an_index_on_a_server_has_no_place_for_them(command: Run) -> None:
    result = command("vectors", "--index", "http://127.0.0.1:1/citations")
    assert result.code == 2
    assert "Elasticsearch has no place for them yet" in result.err


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("--encoder", "no-such-encoder", "neither a folder nor an installed package"),
        ("--pooling", "max", "is not cls, mean"),
        ("--pieces", "3", "3 word pieces"),
        ("--device", "quantum", "should be 'auto', 'cpu' or 'cuda'"),
    ],
)
def test_what_cannot_be_used_is_named(
    command: Run, index: Path, encoder: Path, option: str, value: str, reason: str
) -> None:
    result = command("vectors", "--index", index, "--encoder", encoder, option, value)
    assert result.code == 2
    assert reason in result.err
    assert not [*index.glob("vectors-*.bin")]


def test_info_says_which_vectors_an_index_has(command: Run, index: Path, encoder: Path) -> None:
    assert (
        "vectors          none: questions find by their words alone" in command("info", "--index", index).out
    )
    assert json.loads(command("info", "--index", index, "--json").out)["vectors"] is None
    command("vectors", "--index", index, "--encoder", encoder)
    assert f"vectors          168, of 16 numbers, by {encoder}" in command("info", "--index", index).out
    told = json.loads(command("info", "--index", index, "--json").out)["vectors"]
    assert (told["citations"], told["width"], told["encoder"]) == (168, 16, str(encoder))
    (path,) = index.glob("vectors-*.bin")
    path.write_bytes(b"rubbish")
    assert f"vectors          cannot be used: {path}" in command("info", "--index", index).out
    assert "problem" in json.loads(command("info", "--index", index, "--json").out)["vectors"]
