"""The bench that fits the estimate of whether an answer answers."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench import confidence as bench
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.models.answers.evidence import AnswerEvidence, Estimator
from tests.models.toys import DOCUMENTS, GOLDEN

GOOD = AnswerEvidence(1.0, 1.0, 0.5, 1.0, 1.0, 3.0, 3.0, 0.0, 0.0, 0.5, 0.0)
BAD = AnswerEvidence(0.1, 0.2, 0.1, 0.3, 0.1, 1.0, 3.0, 0.6, 0.0, 0.0, 0.0)


def case(kind: str, evidence: AnswerEvidence | None, part: str = "train") -> bench.Case:
    return bench.Case(part, kind, "bm25", "a question", evidence, 0.5)


CASES = [
    *(case("asked", replace(GOOD, first_share=0.9 + n / 100)) for n in range(10)),
    *(case("foreign", replace(BAD, foreign=float(n % 2))) for n in range(10)),
    case("strings", None),
]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[TantivyIndex]:
    with TantivyIndex.create(tmp_path / "index") as made:
        made.apply([Upsert(document) for document in DOCUMENTS])
        made.commit()
        yield made


def test_answers_of_all_kinds_are_gathered(index: TantivyIndex) -> None:
    questions = [*bench.asked("test", GOLDEN)]
    assert {each.kind for each in questions} >= {"asked", "foreign", "subjects", "strings"}
    some = [each for each in questions if each.gold] + questions[-3:]
    made = [*bench.gather("test", some, index, [bench.Ranker("bm25")])]
    assert len(made) == len(some)
    assert [each.evidence is None for each in made[-3:]] == [True] * 3  # random strings find nothing
    assert all(each.ms >= 0 for each in made)


def test_what_is_trained_on_is_not_what_is_tested_on() -> None:
    for questions in (bench.foreign_questions, bench.other_subjects, bench.random_strings):
        train, test = ({*questions(part)} for part in ("train", "test"))
        assert train
        assert test
        assert not train & test


def test_gold_documents_are_taken_out(index: TantivyIndex) -> None:
    gold = frozenset(GOLDEN[0].documents)
    question = GOLDEN[0].question.body
    (kept,) = bench.gather(
        "dev",
        [bench.Asked("asked", question, gold)],
        index,
        [bench.Ranker("bm25")],
    )
    (without,) = bench.gather(
        "dev",
        [bench.Asked("without gold", question, gold)],
        index,
        [bench.Ranker("bm25")],
    )
    assert kept.evidence != without.evidence


def test_keywords_are_the_question_without_function_words() -> None:
    assert bench.keywords("Which genes influence the dose of warfarin?") == "genes influence dose warfarin"


def test_the_fit_separates_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    estimator = replace(bench.fit(CASES), unlikely_below=0.3)
    found = bench.probabilities(CASES, estimator)
    assert found[:10].min() > 0.5 > found[10:20].max()
    assert found[20] == 0.0
    bench.report(CASES, estimator)
    said = capsys.readouterr().out
    assert "all questions as asked: 0.0000 unlikely" in said
    assert "AUC 1.0000" in said


def test_cases_are_kept_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "FITTED", tmp_path / "confidence.json")
    kept, again = tmp_path / "cases.jsonl", tmp_path / "again.jsonl"
    kept.write_text("\n".join(bench.lines(CASES)) + "\n", encoding="utf-8")
    assert bench.read_cases(kept) == CASES
    monkeypatch.setattr("sys.argv", ["confidence", "--read", str(kept), "--cases", str(again), "--fit"])
    bench.main()
    assert again.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8")
    fitted = json.loads((tmp_path / "confidence.json").read_text(encoding="utf-8"))
    estimator = Estimator(**fitted["model"])
    assert fitted["fitted_to"] == "bm25"
    answered = bench.probabilities(CASES[:10], estimator)
    assert (answered < estimator.unlikely_below).mean() <= 2 * bench.FALSE_ALARMS + 0.1


def test_the_area_under_the_curve_counts_ties_half() -> None:
    assert bench.area(np.array([0.5, 0.9]), np.array([0.5, 0.1])) == pytest.approx(0.875)
