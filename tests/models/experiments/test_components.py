import numpy as np

from bioqa.models.experiments.components import TrainedComponent, scaling_without
from bioqa.models.experiments.data import ExperimentData
from bioqa.models.experiments.scoring import train_component
from bioqa.models.rankers.registry import settings_of

COMPONENT = TrainedComponent(settings_of("features", dimensions=6, epochs=1))


def test_features_taken_away_change_no_score(data: ExperimentData) -> None:
    features = data.dev[0].retrieved.features
    without = scaling_without(data.scaling, "document features").apply(features, "paper")
    assert not without.documents.any()
    np.testing.assert_array_equal(without.sentences, data.scaling.apply(features, "paper").sentences)
    assert not scaling_without(data.scaling, "sentence features").apply(features, "paper").sentences.any()
    assert scaling_without(data.scaling, None) is data.scaling
    settings = COMPONENT.settings.with_changes(last_layer=False)
    scores = train_component(TrainedComponent(settings, without="sentence features"), data, 1)
    for of_question in scores.tests["test"]:
        assert len(set(of_question.gold_sentences.tolist())) == 1
