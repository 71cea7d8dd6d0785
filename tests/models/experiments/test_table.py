from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bioqa.models.experiments.components import Ready, TrainedComponent
from bioqa.models.experiments.data import ExperimentData
from bioqa.models.experiments.scoring import train_component
from bioqa.models.experiments.shares import Share
from bioqa.models.experiments.systems import System
from bioqa.models.experiments.table import join, reference_of, table_rows
from bioqa.models.rankers.registry import settings_of
from bioqa.models.training.sampling import sample
from tests.models.experiments.systems import ALONE, JOINT, ONE, PIPELINE, SENTENCES
from tests.models.experiments.test_running import table


@pytest.mark.usefixtures("in_process")
def test_a_row_without_scores_is_left_out(data: ExperimentData, tmp_path: Path) -> None:
    assert [row.system for row in table_rows(data, tmp_path, [1], [JOINT])[0]][-1:] == ["Oracle"]
    table(data, tmp_path, [ALONE], [1])
    # Of the pipeline only one component is there; of two seeds only one.
    made = table_rows(data, tmp_path, [1, 2], [PIPELINE, ALONE])[0]
    assert [(row.system, row.seeds) for row in made[2:]] == [("Sentence PDRMM", 1), ("Oracle", 1)]


def test_a_pipeline_goes_as_far_as_both_its_parts(data: ExperimentData) -> None:
    whole = replace(SENTENCES, share=Share(dev_questions=2))
    documents = TrainedComponent(settings_of("pdrmm", **ONE), Share(candidates=2, test_questions=1))
    kept = [(component, train_component(component, data, 1)) for component in (whole, documents)]
    (dev, of_dev), tests = join(data, kept)
    assert [q.response for q in dev] == [q.response for q in sample(data.dev, 2)]
    for questions, scores in [(dev, of_dev), *tests.values()]:
        for question, of_question in zip(questions, scores, strict=True):
            assert len(of_question.documents) == len(question.retrieved.candidates) == 2
            assert len(of_question.sentences) == len(question.retrieved.labels)
    (question,), (scored,) = tests["test"]
    place = [q.response for q in data.tests["test"]].index(question.response)
    sentences = kept[0][1].tests["test"][place].sentences
    assert scored.sentences.tolist() == sentences[: len(question.retrieved.labels)].tolist()
    assert scored.documents.tolist() == kept[1][1].tests["test"][0].documents.tolist()


def test_the_reference_is_a_pipeline_measured_on_all_of_dev(data: ExperimentData, tmp_path: Path) -> None:
    few = System("Few", "pipeline", replace(SENTENCES, share=Share(dev_questions=1)))
    reached = {"BM25+BM25": 0.1, "Good": 0.4, "Best": 0.5, "Few": 0.9, "Joint": 0.8}

    class OnDev:
        def __init__(self, value: float) -> None:
            self.dev = {"document_map": value}

    systems = {
        "BM25+BM25": System("BM25+BM25", "baseline", Ready("", "")),
        "Good": replace(PIPELINE, name="Good"),
        "Best": replace(PIPELINE, name="Best"),
        "Few": few,
        "Joint": replace(JOINT, name="Joint"),
    }
    measured: Any = [(systems[name], [OnDev(value)]) for name, value in reached.items()]
    assert reference_of(measured) == "Best"
