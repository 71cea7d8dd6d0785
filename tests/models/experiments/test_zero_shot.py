import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bioqa.models.experiments.cached_states import open_encoder_for
from bioqa.models.experiments.components import ZeroShot
from bioqa.models.experiments.data import ExperimentData
from bioqa.models.experiments.shares import Share
from bioqa.models.experiments.zero_shot import SentenceVectors, pooling_of, score_zero_shot


def test_zero_shot_is_the_cosine_of_the_encoders_own_vectors(data: ExperimentData, encoder: str) -> None:
    opened = open_encoder_for(encoder, "cpu", half_precision=False)
    component = ZeroShot(encoder, "query: ", Share(candidates=3))
    scores = score_zero_shot(component, data, opened)
    question = data.tests["test"][0]
    document = question.retrieved.candidates[1].document
    before = len(question.retrieved.candidates[0].document.sentences)
    texts = ["query: " + question.response.question.body, *map(document.sentence_text, document.sentences)]
    states = []
    for pieces in opened.pieces(texts):
        x = replace(opened.single(pieces), places=np.zeros(1, dtype=np.int64))
        states.append(opened.states([x])[0, 0].numpy())
    expected = [float(states[0] @ s / np.linalg.norm(states[0]) / np.linalg.norm(s)) for s in states[1:]]
    found = scores.tests["test"][0]
    np.testing.assert_allclose(found.sentences[before : before + len(expected)], expected, atol=1e-5)
    assert found.documents[1] == pytest.approx(max(expected), abs=1e-5)
    assert scores.record["pooling"] == "cls"
    mean = SentenceVectors(opened, "mean")(texts)
    assert np.linalg.norm(mean, axis=1) == pytest.approx(np.ones(len(texts)))
    assert not np.allclose(mean, SentenceVectors(opened, "cls")(texts))


def test_the_pooling_is_that_of_the_encoders_own_files(encoder: str, tmp_path: Path) -> None:
    assert pooling_of(encoder) == "cls"
    (tmp_path / "1_Pooling").mkdir()
    for mean in (True, False):
        config = {"pooling_mode_mean_tokens": mean}
        (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(config))
        assert pooling_of(str(tmp_path)) == ("mean" if mean else "cls")
