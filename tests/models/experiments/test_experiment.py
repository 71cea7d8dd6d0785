import json
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bioqa.bioasq.domain import Candidate
from bioqa.models.answers.ranking import Ranking
from bioqa.models.bundled import DEFAULT, WEIGHTS
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.experiments import encoders, experiment
from bioqa.models.experiments.encoders import SentenceVectors, score_zero_shot
from bioqa.models.experiments.experiment import Experiment
from bioqa.models.experiments.making import score_ready, train_part
from bioqa.models.experiments.parts import Data, Part, Ready, ZeroShot, file_of
from bioqa.models.experiments.results import MEASURES, Row
from bioqa.models.experiments.rows import joined, reference_of, rows
from bioqa.models.experiments.shares import Share, some
from bioqa.models.experiments.systems import System, ablations, changed, with_encoder, without_encoder
from bioqa.models.rankers.registry import settings_of
from bioqa.models.reranker import Reranker
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.data import Prepared
from tests.models.encoders.tiny import write_tiny

ONE = {"dimensions": 6, "epochs": 1}
SENTENCES = Part(settings_of("sentence-pdrmm", **ONE))
JOINT = System("JPDRMM", "joint", Part(settings_of("jpdrmm", **ONE)))
PIPELINE = System("PDRMM+PDRMM", "pipeline", SENTENCES, Part(settings_of("pdrmm", **ONE)))
ALONE = System("Sentence PDRMM", "joint", SENTENCES)


class _InProcess:
    """Stands for ProcessPoolExecutor where starting processes would only cost time."""

    def __init__(self, workers: int, *, initializer: Any, initargs: tuple[Any, ...], mp_context: Any) -> None:
        initializer(*initargs)

    def __enter__(self) -> "_InProcess":
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def submit(self, call: Any, *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(call(*arguments))
        except Exception as error:  # noqa: BLE001 (as an executor hands it on)
            future.set_exception(error)
        return future


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    threads = torch.get_num_threads()
    monkeypatch.setattr(experiment, "ProcessPoolExecutor", _InProcess)
    monkeypatch.setattr(experiment, "_data", None)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def data(vocabulary: Vocabulary, prepared: list[Prepared]) -> Data:
    return Data(vocabulary, prepared, prepared[:3], {"test": prepared[3:], "other": prepared[:2]})


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_tiny(tmp_path_factory.mktemp("encoder"), ["cures", "drug"], positions=128))


def _table(data: Data, folder: Path, systems: Sequence[System], seeds: Sequence[int] = (1, 2)) -> list[Row]:
    Experiment(data, folder, seeds).make(systems)
    return rows(data, folder, seeds, systems)[0]


@pytest.mark.usefixtures("in_process")
def test_trained_systems_stand_between_bm25_and_the_oracle(data: Data, tmp_path: Path) -> None:
    made = _table(data, tmp_path, [PIPELINE, ALONE, JOINT])
    names = [row.system for row in made]
    assert names[2:] == ["PDRMM+PDRMM", "Sentence PDRMM", "JPDRMM", "Oracle"]
    assert [row.seeds for row in made] == [1, 1, 2, 2, 2, 1]
    for row in made:
        assert list(row.collections) == ["test", "other"]
        assert all(set(of_row.mean) == set(MEASURES) for of_row in row.collections.values())
    oracle, pipeline, alone = (made[place].collections["test"] for place in (5, 2, 3))
    assert oracle.mean["document_map_8"] == pytest.approx(2 / 3, abs=1e-5)
    assert oracle.mean["sentence_auc"] == 1.0
    # Sentences by the same part, documents by another.
    assert pipeline.mean["sentence_auc"] == alone.mean["sentence_auc"]
    # Trained once for both rows: two parts and the joint one, two seeds each.
    assert len(list(tmp_path.iterdir())) == 6
    assert [p["parameters"] > 0 for p in made[2].parts] == [True, True]
    assert all(p["thread_milliseconds"] > 0 and p["threads"] == 1 for p in made[2].parts)


def test_in_a_process_of_its_own(data: Data, tmp_path: Path) -> None:
    features = System("Features", "baseline", Part(settings_of("features", **ONE)))
    assert [row.system for row in _table(data, tmp_path, [features], [1])][-2:] == ["Features", "Oracle"]


@pytest.mark.usefixtures("in_process")
def test_an_interrupted_experiment_goes_on_where_it_was(
    data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _table(data, tmp_path, [JOINT])
    lost = file_of(tmp_path, JOINT.sentences, 2)
    lost.unlink()
    told: list[str] = []
    again = Experiment(data, tmp_path, [1, 2], progress=told.append)
    again.make([JOINT])
    assert [line.partition(":")[0] for line in told] == [lost.stem]
    after = rows(data, tmp_path, [1, 2], [JOINT])[0]
    assert [row.collections for row in after] == [row.collections for row in first]
    monkeypatch.setattr(experiment, "_train", None)
    again.make([JOINT])


@pytest.mark.usefixtures("in_process")
def test_a_row_without_scores_is_left_out(data: Data, tmp_path: Path) -> None:
    assert [row.system for row in rows(data, tmp_path, [1], [JOINT])[0]][-1:] == ["Oracle"]
    _table(data, tmp_path, [ALONE], [1])
    # Of the pipeline only one part is there; of two seeds only one.
    made = rows(data, tmp_path, [1, 2], [PIPELINE, ALONE])[0]
    assert [(row.system, row.seeds) for row in made[2:]] == [("Sentence PDRMM", 1), ("Oracle", 1)]


@pytest.mark.usefixtures("in_process")
def test_what_fails_is_not_kept(data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*key: object) -> None:
        raise MemoryError("too small")

    monkeypatch.setattr(experiment, "_train", fail)
    with pytest.raises(MemoryError, match="too small"):
        Experiment(data, tmp_path, [1]).make([JOINT])
    assert list(tmp_path.iterdir()) == []


def test_a_pipeline_goes_as_far_as_both_its_parts(data: Data) -> None:
    whole = replace(SENTENCES, share=Share(dev_questions=2))
    documents = Part(settings_of("pdrmm", **ONE), Share(candidates=2, test_questions=1))
    kept = [(part, train_part(part, data, 1)) for part in (whole, documents)]
    (dev, of_dev), tests = joined(data, kept)
    assert [q.response for q in dev] == [q.response for q in some(data.dev, 2)]
    for questions, scores in [(dev, of_dev), *tests.values()]:
        for question, of_question in zip(questions, scores, strict=True):
            assert len(of_question.documents) == len(question.retrieved.candidates) == 2
            assert len(of_question.sentences) == len(question.retrieved.labels)
    (question,), (scored,) = tests["test"]
    place = [q.response for q in data.tests["test"]].index(question.response)
    sentences = kept[0][1].tests["test"][place].sentences
    assert scored.sentences.tolist() == sentences[: len(question.retrieved.labels)].tolist()
    assert scored.documents.tolist() == kept[1][1].tests["test"][0].documents.tolist()


def test_the_reference_is_a_pipeline_measured_on_all_of_dev(data: Data, tmp_path: Path) -> None:
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


@pytest.mark.parametrize("ranker", ["jbert-adapt-nf", "jbert", "bjpdrmm-nf"])
def test_over_an_encoder_from_kept_states(
    ranker: str, data: Data, encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes: dict[str, Any] = {"frozen_epochs": 1, "epochs": 2} if ranker == "jbert" else {"epochs": 1}
    settings = settings_of(ranker, encoder=encoder, dimensions=6, **changes)
    part = Part(settings, Share(train_questions=3, irrelevant=1, candidates=4))
    computed: list[int] = []
    original = encoders.Encoder._computed

    def counted(self: Any, inputs: Any, layers: Any) -> Any:
        if not self.learns:
            computed.append(len(inputs))
        return original(self, inputs, layers)

    opened = encoders.open_for(encoder, "cpu", tmp_path)
    encoders.warm(part, data, opened)
    monkeypatch.setattr(encoders.Encoder, "_computed", counted)
    monkeypatch.setattr("bioqa.models.experiments.making.TIMED", 1)
    encoders.warm(part, data, opened)
    assert sum(computed) == 0
    scores = train_part(part, data, 1, opened)
    plain = train_part(part, data, 1, encoders.open_for(encoder, "cpu"))
    for one, other in zip(scores.tests["test"], plain.tests["test"], strict=True):
        np.testing.assert_allclose(one.documents, other.documents, atol=0.05)
    assert scores.record["parameters"] == plain.record["parameters"]
    assert (scores.record["parameters"] > 4000) == (ranker == "jbert")
    # After fine-tuning nothing comes from the states of the encoder as it was.
    assert (opened.cache is None) == (ranker == "jbert")


def test_the_last_layers_states_are_kept_with_all_layers(data: Data, encoder: str, tmp_path: Path) -> None:
    share = Share(candidates=3)
    opened = encoders.open_for(encoder, "cpu", tmp_path)
    told: list[str] = []
    for ranker in ("jbert-adapt-nf", "jbert-nf"):
        encoders.warm(Part(settings_of(ranker, encoder=encoder), share), data, opened, told.append)
    assert told
    assert all(line.startswith("jbert-adapt-nf") for line in told)


def test_zero_shot_is_the_cosine_of_the_encoders_own_vectors(data: Data, encoder: str) -> None:
    opened = encoders.open_for(encoder, "cpu", half_precision=False)
    part = ZeroShot(encoder, "query: ", Share(candidates=3))
    scores = score_zero_shot(part, data, opened)
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


def test_the_default_is_trained_as_what_ships() -> None:
    shipped = json.loads((WEIGHTS / DEFAULT / "config.json").read_text(encoding="utf-8"))["settings"]
    row = next(system for system in without_encoder() if "the default" in system.name)
    assert row.name.startswith(DEFAULT)
    assert isinstance(row.sentences, Part)
    assert row.sentences.settings.as_dict() == shipped


def test_a_ranker_that_is_ready_is_measured_by_what_it_serves(data: Data, trained: Checkpoint) -> None:
    ranker = Reranker(trained, name="toy")

    class Reversed:
        """Gives documents in another order than the candidates'."""

        def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
            return ranker.rank(question, candidates)

    scores = score_ready(Ready("toy", "0", Share(dev_questions=1)), Reversed(), data)
    assert len(scores.dev) == 1
    question = data.tests["test"][0]
    ranked = ranker.rank(question.response.question.body, question.retrieved.candidates)
    by_url = {d.document.url: d for d in ranked.documents}
    found = scores.tests["test"][0]
    assert found.documents.tolist() == [by_url[c.document.url].score for c in question.retrieved.candidates]
    expected = [s for c in question.retrieved.candidates for s in by_url[c.document.url].sentence_scores]
    assert found.sentences.tolist() == expected
    assert len(found.gold_sentences) == len(question.gold.labels)


def test_the_systems_of_the_paper() -> None:
    made = [*without_encoder(), *with_encoder("e"), *ablations()]
    names = [system.name for system in made]
    assert len(set(names)) == len(names)
    pipelines = {"PDRMM+BCNN", "PDRMM+PDRMM", "BERT+BCNN", "BERT+PDRMM"}
    joint = {
        f"{name}{suffix}" for name in ("JBERT", "BJPDRMM") for suffix in ("", "-NF", "-ADAPT", "-ADAPT-NF")
    }
    assert {"JPDRMM", "Sentence PDRMM"} | pipelines | joint <= set(names)
    weights = {s.sentences.settings.sentence_weight for s in ablations() if isinstance(s.sentences, Part)}
    assert weights == {10.0, 1.0, 0.1, 0.01}
    for system in made:
        for part in system.parts:
            if part.encoder:
                assert part.share.candidates


def test_a_share_is_changed_by_name() -> None:
    assert changed(Share(candidates=5), ["candidates=0", "watched=7"]) == Share(watched=7)
