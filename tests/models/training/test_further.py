"""Training further: folds, the choice of epochs, what is written, and what is said of bad questions."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from bioqa.bioasq.domain import Question, Response
from bioqa.bioasq.files import write_submission
from bioqa.models import checkpoint
from bioqa.models.answers import baseline as baselines
from bioqa.models.answers.baseline import Bm25Ranker, Constants, TunedBm25
from bioqa.models.answers.scale import Curve, Scale
from bioqa.models.answers.selection import Calibration
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.rankers.settings import RankerSettingsError
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training import files, further
from bioqa.models.training.data import Prepared, prepare
from bioqa.models.training.files import FurtherPlan, FurtherResult, shortfalls, train_further_from_files
from bioqa.models.training.further import FurtherTraining, Gain, further_settings, train_further
from bioqa.system.errors import BioqaError
from tests.models.toys import GOLDEN, ToyIndex


def questions(count: int, golden: tuple[Response, ...] = GOLDEN) -> list[Response]:
    """The toy world's questions, again and again, with ids of their own."""
    return [
        replace(response, question=Question(f"q{number}", response.question.body, "factoid"))
        for number, response in enumerate((golden * count)[:count])
    ]


@pytest.fixture
def baseline(vocabulary: Vocabulary) -> Bm25Ranker:
    return Bm25Ranker(vocabulary, TunedBm25(Constants(0.9, 0.4), Calibration()))


@pytest.fixture
def twelve(index: ToyIndex, vocabulary: Vocabulary) -> list[Prepared]:
    return prepare(index, questions(12), vocabulary, size=12)


def weights(ranker: Checkpoint) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in ranker.model.state_dict().items()}


def test_it_keeps_what_was_fitted_and_leaves_the_start_alone(
    trained: Checkpoint, baseline: Bm25Ranker, twelve: list[Prepared]
) -> None:
    before = weights(trained)
    said: list[str] = []
    result = train_further(trained, baseline, twelve, record={"a": 1}, progress=said.append)
    assert said == [*(f"fold {number}/5" for number in range(1, 6)), "all questions"]
    assert all(torch.equal(value, before[name]) for name, value in weights(trained).items())
    made = result.checkpoint
    assert (made.scaling, made.vocabulary) == (trained.scaling, trained.vocabulary)
    assert made.calibration == trained.calibration
    assert made.training["a"] == 1
    assert made.training["best_epoch"] == result.choice.epochs
    assert [point["epoch"] for point in made.curve] == [1, 2, 3, 4]
    assert [system.name for system in result.comparison.systems] == ["start", "trained", "bm25"]
    assert len(result.comparison.golden) == 12


def test_it_is_the_same_every_time(trained: Checkpoint, baseline: Bm25Ranker, twelve: list[Prepared]) -> None:
    first, second = (train_further(trained, baseline, twelve, seed=3) for _ in range(2))
    assert first.over_start == second.over_start
    assert all(
        torch.equal(value, weights(second.checkpoint)[name])
        for name, value in weights(first.checkpoint).items()
    )


def test_each_question_is_answered_by_a_ranker_that_did_not_learn_from_it(
    trained: Checkpoint, baseline: Bm25Ranker, twelve: list[Prepared], monkeypatch: pytest.MonkeyPatch
) -> None:
    learned: list[list[int]] = []
    answered: list[list[int]] = []
    train, rankings = further._Trainer.train, further._Trainer.rankings

    def spy_train(self, chosen, evaluate):  # type: ignore[no-untyped-def]
        learned.append([*chosen])
        return train(self, chosen, evaluate)

    def spy_rankings(self, model, chosen):  # type: ignore[no-untyped-def]
        if learned:
            answered.append([*chosen])
            assert not {*chosen} & {*learned[-1]}
        return rankings(self, model, chosen)

    monkeypatch.setattr(further._Trainer, "train", spy_train)
    monkeypatch.setattr(further._Trainer, "rankings", spy_rankings)
    train_further(trained, baseline, twelve, changes={"epochs": 1})
    assert sorted(position for fold in answered for position in fold) == [*range(12)]
    assert learned[-1] == [*range(12)]


def test_the_start_is_one_of_the_epochs(
    trained: Checkpoint, baseline: Bm25Ranker, twelve: list[Prepared]
) -> None:
    """With a rate that changes nothing, no epoch is better than none."""
    result = train_further(trained, baseline, twelve, changes={"learning_rate": 1e-12, "epochs": 1})
    assert result.choice.epochs == 0
    assert not result.has_changed
    assert not result.is_better
    assert result.over_start == Gain(0.0, 0.0, 0.0)
    assert all(
        torch.equal(value, weights(trained)[name]) for name, value in weights(result.checkpoint).items()
    )


@pytest.mark.parametrize(
    ("changed", "low", "over_baseline", "better"),
    [
        (True, 0.01, 0.1, True),
        (False, 0.01, 0.1, False),
        (True, -0.01, 0.1, False),
        (True, 0.01, -0.1, False),
    ],
)
def test_better_is_beyond_chance_and_not_below_bm25(
    trained: Checkpoint,
    baseline: Bm25Ranker,
    twelve: list[Prepared],
    changed: bool,
    low: float,
    over_baseline: float,
    better: bool,
) -> None:
    result = train_further(trained, baseline, twelve, changes={"epochs": 1})
    gains = Gain(0.02, low, 0.03), Gain(over_baseline, over_baseline, over_baseline)
    judged = FurtherTraining(result.checkpoint, result.choice, changed, result.comparison, *gains)
    assert judged.is_better == better


def test_the_margin_is_fitted_if_that_gains_clearly(
    trained: Checkpoint, baseline: Bm25Ranker, twelve: list[Prepared]
) -> None:
    curve = Curve((-5.0, 5.0), (-3.0, 3.0))
    strict = replace(trained, scale=Scale(curve, curve, margin=1e-9))
    result = train_further(strict, baseline, twelve, changes={"learning_rate": 1e-12, "epochs": 1})
    assert result.choice.margin is None or result.choice.margin > 0.01
    assert result.checkpoint.scale == Scale(curve, curve, result.choice.margin)
    assert result.has_changed


def test_gains_are_of_both_measures() -> None:
    gain = further.gain_of(np.array([0.1, 0.3]))
    assert gain.value == pytest.approx(0.2)
    assert gain.low == pytest.approx(0.1)
    assert gain.high == pytest.approx(0.3)


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_too_few_questions(
    count: int, index: ToyIndex, vocabulary: Vocabulary, trained: Checkpoint, baseline: Bm25Ranker
) -> None:
    few = prepare(index, questions(count), vocabulary, size=12)
    with pytest.raises(BioqaError, match=f"^{count} questions .* at least 10 are needed"):
        train_further(trained, baseline, few)


def test_no_question_has_snippets(
    index: ToyIndex, vocabulary: Vocabulary, trained: Checkpoint, baseline: Bm25Ranker
) -> None:
    without = [replace(response, snippets=()) for response in questions(12)]
    with pytest.raises(BioqaError, match="no training pair"):
        train_further(trained, baseline, prepare(index, without, vocabulary, size=12))


def test_only_the_training_can_be_changed(trained: Checkpoint) -> None:
    assert further_settings(trained.settings, {"epochs": 2}).as_dict()["patience"] == 2
    with pytest.raises(RankerSettingsError, match=r"--set dimensions: .* keeps"):
        further_settings(trained.settings, {"dimensions": 4})


def test_what_is_missing_is_counted(index: ToyIndex, vocabulary: Vocabulary) -> None:
    complete, absent, without = questions(3)
    complete = replace(complete, documents=complete.documents[:2])
    absent = replace(absent, documents=absent.documents[-1:])
    without = replace(without, snippets=())
    prepared = prepare(index, [complete, absent, without], vocabulary, size=12)
    assert [*shortfalls(prepared[:1])] == []
    assert [*shortfalls(prepared)] == [
        "questions left out because the index holds none of their gold documents: 1 of 3",
        "questions of whose gold documents the index lacks some: 1 (documents: 1)",
        "questions without snippets, which count in MAP but teach nothing: 1",
    ]


class TestFromFiles:
    @pytest.fixture
    def start(self, trained: Checkpoint, tmp_path: Path) -> Path:
        checkpoint.save(trained, tmp_path / "start")
        return tmp_path / "start"

    @pytest.fixture
    def golden(self, tmp_path: Path) -> Path:
        write_submission(tmp_path / "golden.json", questions(12))
        return tmp_path / "golden.json"

    @pytest.fixture(autouse=True)
    def _small_baseline(self, baseline: Bm25Ranker, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(baselines, "load", lambda folder: baseline)

    def _train(self, plan: FurtherPlan, index: ToyIndex, better: bool | None = None) -> FurtherResult:
        with pytest.MonkeyPatch.context() as patch:
            if better is not None:
                patch.setattr(FurtherTraining, "is_better", property(lambda self: better))
            return train_further_from_files(plan, index)

    @pytest.mark.parametrize(
        ("better", "anyway", "wrote"), [(False, False, False), (False, True, True), (True, False, True)]
    )
    def test_the_output_is_a_ranker_in_any_case(
        self,
        start: Path,
        golden: Path,
        index: ToyIndex,
        tmp_path: Path,
        better: bool,
        anyway: bool,
        wrote: bool,
    ) -> None:
        plan = FurtherPlan([golden], tmp_path / "out", {"epochs": 1}, anyway=anyway, start=str(start))
        result = self._train(plan, index, better)
        assert result.wrote_trained == wrote
        written = checkpoint.load(tmp_path / "out", device="cpu")
        assert ("copied" in written.training) == (not wrote)
        assert ("start" in written.training) == wrote
        if not wrote:
            expected = checkpoint.load(start, device="cpu")
            assert all(
                torch.equal(value, weights(written)[name]) for name, value in weights(expected).items()
            )

    def test_questions_of_several_files_count_once(
        self, start: Path, golden: Path, index: ToyIndex, tmp_path: Path
    ) -> None:
        plan = FurtherPlan([golden, golden], tmp_path / "out", {"epochs": 1}, start=str(start))
        assert len(self._train(plan, index).trained.comparison.golden) == 12

    def test_a_file_that_the_start_learned_from(
        self, trained: Checkpoint, golden: Path, index: ToyIndex, tmp_path: Path
    ) -> None:
        known = replace(trained, training={"train": files.file_fingerprint(golden)})
        checkpoint.save(known, tmp_path / "start")
        said: list[str] = []
        plan = FurtherPlan([golden], tmp_path / "out", {"epochs": 1}, start=str(tmp_path / "start"))
        train_further_from_files(plan, index, progress=said.append)
        assert "was trained or tuned on this file" in said[0]

    def test_nothing_is_written_for_too_few(self, start: Path, index: ToyIndex, tmp_path: Path) -> None:
        write_submission(tmp_path / "few.json", questions(2))
        with pytest.raises(BioqaError, match="too few"):
            self._train(FurtherPlan([tmp_path / "few.json"], tmp_path / "out", start=str(start)), index)
        assert not (tmp_path / "out").exists()
