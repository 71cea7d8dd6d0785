import json
from pathlib import Path

import pytest

from bioqa.bioasq.files import read_golden
from bioqa.models.bundled import WEIGHTS
from bioqa.models.rankers.registry import settings_from, settings_of
from bioqa.models.training.recipes import recipe_settings, split_golden
from bioqa.system.errors import BioqaError


def test_the_recipe_is_that_of_the_bundled_ranker() -> None:
    config = json.loads((WEIGHTS / "soft" / "config.json").read_text())
    assert recipe_settings("soft") == settings_from(config["settings"], config["format"])


def test_changes_and_other_architectures() -> None:
    assert recipe_settings("soft", epochs=2, dimensions=4).as_dict()["epochs"] == 2
    assert recipe_settings("jpdrmm") == settings_of("jpdrmm")


def golden(path: Path, *ids: str) -> Path:
    questions = [{"id": name, "body": f"What is {name}?", "documents": [], "snippets": []} for name in ids]
    path.write_text(json.dumps({"questions": questions}))
    return path


def names(path: Path) -> list[str]:
    return [response.question.id for response in read_golden(path).responses]


def test_a_fifth_is_held_out_and_the_same_every_time(tmp_path: Path) -> None:
    first = golden(tmp_path / "a.json", *(f"a{n}" for n in range(7)))
    second = golden(tmp_path / "b.json", "a0", "b1", "b2", "b3")
    train, dev = map(names, split_golden([first, second], tmp_path / "made"))
    assert len(dev) == 2
    assert sorted([*train, *dev]) == sorted({f"a{n}" for n in range(7)} | {"b1", "b2", "b3"})
    assert [*map(names, split_golden([first, second], tmp_path / "again"))] == [train, dev]
    assert names(split_golden([first, second], tmp_path / "other", seed=2)[1]) != dev


def test_without_dev_none_is_held_out(tmp_path: Path) -> None:
    train, dev = split_golden([golden(tmp_path / "a.json", "a")], tmp_path / "made", dev=False)
    assert names(train) == ["a"]
    assert not dev.exists()


def test_too_few_questions_and_places_that_cannot_be_written(tmp_path: Path) -> None:
    one = golden(tmp_path / "a.json", "a")
    with pytest.raises(BioqaError, match=r"a\.json: 1 questions are too few"):
        split_golden([one], tmp_path / "made")
    with pytest.raises(BioqaError, match=r"a\.json.*cannot be written"):
        split_golden([golden(tmp_path / "b.json", "a", "b")], one / "made")
    (tmp_path / "c.json").write_text('{"questions": [{"id": 3}]}')
    with pytest.raises(BioqaError, match=r"c\.json"):
        split_golden([tmp_path / "c.json"], tmp_path / "made")
