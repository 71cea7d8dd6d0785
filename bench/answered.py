"""Fit and measure the estimate of whether a sentence answers (bioqa.models.answers.answered).

    python -m bench.answered --index INDEX --judged FILE... [--also FILE...] [--fit]

``--judged``: questions whose sentences were judged by reading, as in bench/data; ``--also``: others of that
form, which are only measured. A question counts as answered if one of the first three sentences shown has
grade 2; sentences that nobody judged count as not answering. ``--fit`` fits the coefficients to --judged,
chooses the threshold there by cross-validation, and writes models/answers/answered.json. Printed are, for
both, how often questions called likely, doubtful and unlikely were answered, and ROC AUC.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from bench.aptness import rank_best, same_text
from bench.confidence import area
from bioqa.indexer.opening import open_index
from bioqa.models.answers import answered
from bioqa.models.answers.answered import FITTED, BestSentences
from bioqa.models.answers.evidence import confidence, evidence, is_known
from bioqa.models.answers.selection import select
from bioqa.models.arrays import Floats
from bioqa.models.bundled import DEFAULT
from bioqa.models.reranker import Reranker
from bioqa.system.identification import foreign_language
from bioqa.system.jsonfile import write_json

L2 = 0.01
FOLDS = 10
SHARE = 0.8
"""Of the questions above the threshold so many must have an answer among the first three sentences."""
FEWEST = 20
"""A share of fewer questions says little."""


@dataclass(frozen=True, slots=True)
class Case:
    standing: BestSentences
    level: str
    probability: float
    answered: bool


def gather(index_name: str, path: Path) -> Iterator[Case]:
    index, ranker = open_index(index_name), Reranker.load(DEFAULT)
    try:
        for asked in json.loads(path.read_text(encoding="utf-8")):
            question, best = rank_best(index, ranker, asked["body"])
            if best.documents:
                signs = evidence(
                    question, best, ranker.calibration, foreign_language(asked["body"], is_known)
                )
                standing = answered.standing(
                    best.documents, ranker.calibration, signs.sentence_share, signs.sentence_score
                )
                verdict = confidence(asked["body"], best, ranker.calibration, answered_by=question)
                grades = [judgment for judgment in asked["judged"] if judgment["grade"] == 2]
                shown = select(best, ranker.calibration).sentences[:3]
                is_answered = any(
                    same_text(sentence.document, sentence.sentence, judgment)
                    for sentence in shown
                    for judgment in grades
                )
                yield Case(standing, verdict.level, verdict.probability, is_answered)
    finally:
        index.close()


def fit(values: Floats, answers: Floats) -> tuple[float, Floats]:
    """Offset and slopes of a logistic regression over standardised values [questions, features]."""
    mean, deviation = values.mean(axis=0), np.maximum(values.std(axis=0), 1e-6)
    standard = (values - mean) / deviation

    def loss(parameters: Floats) -> float:
        odds = parameters[0] + standard @ parameters[1:]
        return float((np.logaddexp(0, odds) - answers * odds).mean() + L2 * (parameters[1:] ** 2).sum())

    best = minimize(loss, np.zeros(values.shape[1] + 1)).x
    slopes = best[1:] / deviation
    return float(best[0] - slopes @ mean), slopes


def cross_validate(values: Floats, answers: Floats) -> Floats:
    """[questions] probabilities, each by a model that has not seen the question."""
    folds = np.random.default_rng(1).permutation(len(answers)) % FOLDS
    probabilities = np.zeros(len(answers))
    for fold in range(FOLDS):
        held_out = folds == fold
        offset, slopes = fit(values[~held_out], answers[~held_out])
        probabilities[held_out] = 1 / (1 + np.exp(-offset - values[held_out] @ slopes))
    return probabilities


def threshold(probabilities: Floats, answers: Floats) -> float:
    """The lowest probability so that of those from it on SHARE are answered."""
    order = np.argsort(-probabilities)
    shares = np.cumsum(answers[order]) / np.arange(1, len(order) + 1)
    enough = [n for n in range(FEWEST - 1, len(order)) if shares[n] >= SHARE]
    return float(probabilities[order[max(enough, default=FEWEST - 1)]])


def write_fitted(cases: Sequence[Case]) -> None:
    names = [field.name for field in fields(BestSentences)]
    values = np.array([[*asdict(case.standing).values()] for case in cases])
    answers = np.array([case.answered for case in cases], dtype=np.float64)
    held_out = cross_validate(values, answers)
    print(f"cross-validated: ROC AUC {area(held_out[answers == 1], held_out[answers == 0]):.3f}")
    offset, slopes = fit(values, answers)
    model: Mapping[str, Any] = {
        "offset": round(offset, 4),
        "weights": {name: round(float(slope), 4) for name, slope in zip(names, slopes, strict=True)},
        "likely_from": round(threshold(held_out, answers), 3),
    }
    write_json(FITTED, {"fitted_to": DEFAULT, "model": model})
    answered.load.cache_clear()


def report(name: str, cases: Sequence[Case]) -> None:
    answers = np.array([case.answered for case in cases])
    probabilities = np.array([case.probability for case in cases])
    print(
        f"{name}: {answers.mean():.3f} of {len(cases)} answered in three; ROC AUC of what is shown ", end=""
    )
    print(f"{area(probabilities[answers], probabilities[~answers]):.3f}")
    for level in ("likely", "doubtful", "unlikely"):
        of_level = [case.answered for case in cases if case.level == level]
        print(f"  {level:9} {len(of_level):4}", end="")
        print(f"  answered in three {np.mean(of_level):.3f}" if of_level else "")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--index", required=True)
    parser.add_argument("--judged", type=Path, nargs="+", required=True)
    parser.add_argument("--also", type=Path, nargs="*", default=[])
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    if options.fit:
        write_fitted([case for path in options.judged for case in gather(options.index, path)])
    for path in (*options.judged, *options.also):
        report(path.name, [*gather(options.index, path)])


if __name__ == "__main__":
    main()
