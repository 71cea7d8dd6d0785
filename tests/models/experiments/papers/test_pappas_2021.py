import json

from bioqa.models.bundled import DEFAULT, WEIGHTS
from bioqa.models.experiments.components import TrainedComponent
from bioqa.models.experiments.papers.pappas_2021 import ablations, with_encoder, without_encoder
from bioqa.models.experiments.shares import Share
from bioqa.models.experiments.systems import change_share
from bioqa.models.rankers.registry import settings_from


def test_the_default_is_trained_as_what_ships() -> None:
    shipped = json.loads((WEIGHTS / DEFAULT / "config.json").read_text(encoding="utf-8"))["settings"]
    row = next(system for system in without_encoder() if "the default" in system.name)
    assert row.name.startswith(DEFAULT)
    assert isinstance(row.sentences, TrainedComponent)
    assert row.sentences.settings == settings_from(shipped, 1)


def test_the_systems_of_the_paper() -> None:
    made = [*without_encoder(), *with_encoder("e"), *ablations()]
    names = [system.name for system in made]
    assert len(set(names)) == len(names)
    pipelines = {"PDRMM+BCNN", "PDRMM+PDRMM", "BERT+BCNN", "BERT+PDRMM"}
    joint = {
        f"{name}{suffix}" for name in ("JBERT", "BJPDRMM") for suffix in ("", "-NF", "-ADAPT", "-ADAPT-NF")
    }
    assert {"JPDRMM", "Sentence PDRMM"} | pipelines | joint <= set(names)
    weights = {
        s.sentences.settings.as_dict()["sentence_weight"]
        for s in ablations()
        if isinstance(s.sentences, TrainedComponent)
    }
    assert weights == {10.0, 1.0, 0.1, 0.01}
    for system in made:
        for component in system.components:
            if component.encoder:
                assert component.share.candidates


def test_a_share_is_changed_by_name() -> None:
    assert change_share(Share(candidates=5), ["candidates=0", "watched=7"]) == Share(watched=7)
