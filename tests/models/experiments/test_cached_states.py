from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bioqa.models.encoders.encoder import Encoder
from bioqa.models.experiments.cached_states import open_encoder_for, warm
from bioqa.models.experiments.components import TrainedComponent
from bioqa.models.experiments.data import ExperimentData
from bioqa.models.experiments.scoring import train_component
from bioqa.models.experiments.shares import Share
from bioqa.models.rankers.registry import settings_of


@pytest.mark.parametrize("ranker", ["jbert-adapt-nf", "jbert", "bjpdrmm-nf"])
def test_over_an_encoder_from_kept_states(
    ranker: str, data: ExperimentData, encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes: dict[str, Any] = {"frozen_epochs": 1, "epochs": 2} if ranker == "jbert" else {"epochs": 1}
    settings = settings_of(ranker, encoder=encoder, dimensions=6, **changes)
    component = TrainedComponent(settings, Share(train_questions=3, irrelevant=1, candidates=4))
    computed: list[int] = []
    original = Encoder._compute

    def counted(self: Any, inputs: Any, layers: Any) -> Any:
        if not self.learns:
            computed.append(len(inputs))
        return original(self, inputs, layers)

    opened = open_encoder_for(encoder, "cpu", tmp_path)
    warm(component, data, opened)
    monkeypatch.setattr(Encoder, "_compute", counted)
    monkeypatch.setattr("bioqa.models.experiments.speed.TIMED", 1)
    warm(component, data, opened)
    assert sum(computed) == 0
    scores = train_component(component, data, 1, opened)
    plain = train_component(component, data, 1, open_encoder_for(encoder, "cpu"))
    for one, other in zip(scores.tests["test"], plain.tests["test"], strict=True):
        np.testing.assert_allclose(one.documents, other.documents, atol=0.05)
    assert scores.record["parameters"] == plain.record["parameters"]
    assert (scores.record["parameters"] > 4000) == (ranker == "jbert")
    # After fine-tuning nothing comes from the states of the encoder as it was.
    assert (opened.cache is None) == (ranker == "jbert")


def test_the_last_layers_states_are_kept_with_all_layers(
    data: ExperimentData, encoder: str, tmp_path: Path
) -> None:
    share = Share(candidates=3)
    opened = open_encoder_for(encoder, "cpu", tmp_path)
    lines: list[str] = []
    for ranker in ("jbert-adapt-nf", "jbert-nf"):
        warm(TrainedComponent(settings_of(ranker, encoder=encoder), share), data, opened, lines.append)
    assert lines
    assert all(line.startswith("jbert-adapt-nf") for line in lines)
