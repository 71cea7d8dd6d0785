"""Settings of all rankers: stored, restored, changed and refused by name."""

import math
import re
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from bioqa.models.rankers.registry import ARCHITECTURES, settings_from, settings_of
from bioqa.models.rankers.settings import RankerSettingsError, SentenceTraining


@pytest.mark.parametrize("name", list(ARCHITECTURES))
def test_settings_come_back_from_their_dictionary(name: str) -> None:
    settings = settings_of(name, dimensions=7)
    assert settings_from(settings.as_dict(), 2) == settings
    assert settings_from(settings.as_dict(), 1) == settings


@pytest.mark.parametrize("name", list(ARCHITECTURES))
def test_no_two_sections_have_a_setting_of_the_same_name(name: str) -> None:
    sections = settings_of(name).sections.values()
    names = Counter(field.name for section in sections for field in fields(section))
    assert set(names.values()) == {1}
    assert "ranker" not in names


@pytest.mark.parametrize("name", list(ARCHITECTURES))
def test_an_architecture_fits_together(name: str) -> None:
    kind = ARCHITECTURES[name]
    assert (kind.encoding is None) == (kind.reads == "vectors")
    if kind.training is not None:
        assert isinstance(kind.training, SentenceTraining) == (kind.units == "sentences")


def test_published_settings() -> None:
    jpdrmm = settings_of("jpdrmm").as_dict()
    published = {"learning_rate": 0.01, "pairs_per_step": 32, "epochs": 30, "patience": 4}
    assert jpdrmm.items() >= published.items()
    assert settings_of("sentence-pdrmm").as_dict()["document_weight"] == 0.0
    assert {"pdrmm", "sentence-pdrmm", "jpdrmm"} <= set(ARCHITECTURES)


def test_format_1_stored_settings_that_the_architecture_does_not_have() -> None:
    stored = settings_of("jpdrmm", epochs=7).as_dict() | {"encoder": "", "fine_tune": True}
    assert settings_from(stored, 1) == settings_of("jpdrmm", epochs=7)
    with pytest.raises(
        RankerSettingsError, match="unknown settings: encoder, fine_tune; jpdrmm has dimensions, "
    ):
        settings_from(stored, 2)
    with pytest.raises(RankerSettingsError, match="unknown settings: colour"):
        settings_from(stored | {"colour": 1}, 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": "all"}, "features 'all' is not one of paper, extended"),
        ({"epochs": 0}, "epochs 0 is not above 0"),
        ({"learning_rate": -0.1}, "learning_rate -0.1 is not above 0"),
        ({"dimensions": 0}, "dimensions 0 is not above 0"),
        ({"pairs_per_step": 0}, "pairs_per_step 0 is not above 0"),
        ({"patience": 0}, "patience 0 is not above 0"),
        ({"sentence_weight": -1}, "sentence_weight -1 is not 0 or above"),
        ({"learning_rate": math.nan}, "learning_rate nan is not above 0"),
        ({"document_weight": math.inf}, "document_weight inf is not 0 or above"),
        ({"epochs": "many"}, "epochs 'many' is not a whole number"),
        ({"epochs": 2.5}, "epochs 2.5 is not a whole number"),
        ({"patience": True}, "patience True is not a whole number"),
        ({"learning_rate": None}, "learning_rate None is not a number"),
        ({"last_layer": "no"}, "last_layer 'no' is not true or false"),
        ({"features": 1}, "features 1 is not a text"),
        ({"colour": 1, "Epochs": 3}, "unknown settings: Epochs, colour"),
    ],
)
def test_wrong_settings_are_named_with_their_value(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RankerSettingsError, match=message):
        settings_of("jpdrmm", **changes)


def test_a_ranker_that_does_not_exist() -> None:
    message = "architecture 'nosuch' is not one of pdrmm, sentence-pdrmm"
    with pytest.raises(RankerSettingsError, match=message):
        settings_of("nosuch")
    with pytest.raises(RankerSettingsError, match=message):
        settings_from({"ranker": "nosuch"}, 2)
    with pytest.raises(RankerSettingsError, match="no ranker is named"):
        settings_from({"epochs": 3}, 2)


def test_every_architecture_is_in_the_documentation() -> None:
    page = (Path(__file__).parents[3] / "docs" / "rankers.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:5] for line in page.splitlines() if line.startswith("| `")]
    documented = {
        name: (paper.strip(), units.strip())
        for names, _, paper, units in rows
        for name in re.findall(r"`([^`]+)`", names)
    }
    assert documented == {name: (kind.paper, kind.units) for name, kind in ARCHITECTURES.items()}


@pytest.mark.parametrize(
    ("ranker", "changes", "message"),
    [
        ("drmm", {"bins": 1}, "bins 1 is not 2 or above"),
        ("delta", {"dropout": 1.0}, "dropout 1.0 is not from 0 to below 1"),
        ("knrm", {"hidden": -1}, "hidden -1 is not 0 or above"),
        ("pacrr", {"unknown_words": "zero"}, "unknown_words 'zero' is not one of drop, mean, random"),
        ("pacrr", {"unit_words": -1}, "unit_words -1 is not 0 or above"),
        ("pdrmm", {"optimiser": "sgd"}, "optimiser 'sgd' is not one of adam, adadelta"),
        ("posit", {"sentence_weight": 0.1}, "unknown settings: sentence_weight; posit has dimensions, "),
    ],
)
def test_each_ranker_checks_its_own(ranker: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RankerSettingsError, match=message):
        settings_of(ranker, **changes)
