from pathlib import Path

import pytest

from bioqa.app.cli.preparing import preparing, vocabulary_of
from bioqa.models.text.vocabulary import VocabularyError
from tests.models.toys import vocabulary_of as toy_vocabulary


def test_a_bar_for_every_file(capsys: pytest.CaptureFixture[str]) -> None:
    with preparing() as report:
        for name, total in (("train.json", 2), ("dev.json", 1)):
            for done in range(1, total + 1):
                report(name, done, total)
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if "100%" in line] == [
        "preparing train.json: 100% 2/2 questions",
        "preparing dev.json: 100% 1/1 questions",
    ]


def test_the_vocabulary_is_that_of_the_folder_or_none(tmp_path: Path) -> None:
    assert vocabulary_of(None) is None
    made = toy_vocabulary(["drug", "gene"])
    made.save(tmp_path)
    loaded = vocabulary_of(tmp_path)
    assert loaded is not None
    assert loaded.fingerprint == made.fingerprint
    with pytest.raises(VocabularyError, match="nowhere"):
        vocabulary_of(tmp_path / "nowhere")
