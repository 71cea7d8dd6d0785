"""Measures of document rankings beyond BioASQ's, by the library ir-measures, and the accuracy on pairs.

ir-measures has AP, P and nDCG from trec_eval and ERR from gdeval, the scripts that the papers used. In ERR a
relevant document has the lowest of gdeval's four grades, so a reader stops at it with a probability of 1/16.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from bioqa.models.answers.evaluation import mean_average_precision
from bioqa.models.arrays import Booleans, Floats
from bioqa.models.training.data import Prepared
from bioqa.system.errors import BioqaError

OFFICIAL = "document_map_8"
PAIRS = "pair_accuracy"
BY_LIBRARY = ("AP", "P@5", "P@10", "P@20", "nDCG@20", "ERR@20")
MEASURES = (OFFICIAL, *BY_LIBRARY, PAIRS)

DocumentScores = Sequence[Floats]
"""For each question the scores [candidates]."""


def measure_documents(
    questions: Sequence[Prepared], scores: DocumentScores, measures: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Values of each measure by question id. Equal scores leave documents in the first stage's order.

    Gold documents that were not retrieved count as missed. Raises BioqaError if ERR is asked for and there is
    no perl, which gdeval is written in.
    """
    ids = [q.response.question.id for q in questions]
    orders = [np.argsort(-of_question, kind="stable") for of_question in scores]
    values = _by_library(questions, orders, [m for m in measures if m in BY_LIBRARY])
    if OFFICIAL in measures:
        values[OFFICIAL] = [
            mean_average_precision([q.retrieved.relevant[order]], [len(set(q.response.documents))])
            for q, order in zip(questions, orders, strict=True)
        ]
    if PAIRS in measures:
        values[PAIRS] = pair_shares([q.retrieved.relevant for q in questions], scores)
    return {measure: dict(zip(ids, values[measure], strict=True)) for measure in measures}


def pair_shares(relevant: Sequence[Booleans], scores: DocumentScores) -> list[float]:
    """Each question's part in the accuracy over all pairs (Hui et al. 2018, Section 5.2, PairAccuracy).

    A pair is a relevant and an irrelevant candidate of a question; it is right if the relevant one has the
    higher score. The mean over questions is the share of right pairs among those of all questions.
    """
    right, pairs = np.zeros(len(scores)), 0
    for position, (labels, of_question) in enumerate(zip(relevant, scores, strict=True)):
        above = of_question[labels][:, None] > of_question[~labels][None, :]
        right[position] = above.sum()
        pairs += above.size
    shares: list[float] = (right * (len(scores) / max(1, pairs))).tolist()
    return shares


def _by_library(
    questions: Sequence[Prepared], orders: Sequence[np.ndarray], measures: Sequence[str]
) -> dict[str, list[float]]:
    if not measures:
        return {}
    # Imported here: it is in the extra `train`, and printing published tables does not need it.
    import ir_measures

    by_name = {name: ir_measures.parse_measure(name) for name in measures}
    # Questions are numbered from 1, as gdeval accepts numbers only.
    gold = {
        str(number): dict.fromkeys(q.response.documents, 1) for number, q in enumerate(questions, start=1)
    }
    # Ranks instead of scores, as trec_eval orders equal scores by document.
    runs = {
        str(number): {
            q.retrieved.candidates[position].document.url: float(-rank) for rank, position in enumerate(order)
        }
        for number, (q, order) in enumerate(zip(questions, orders, strict=True), start=1)
    }
    values: dict[str, dict[str, float]] = {name: {} for name in measures}
    names = {measure: name for name, measure in by_name.items()}
    try:
        for measured in ir_measures.iter_calc(list(by_name.values()), gold, runs):
            values[names[measured.measure]][measured.query_id] = float(measured.value)
    except ValueError as error:
        raise BioqaError(f"{', '.join(measures)}: {error}") from error
    # A question without a value, as nothing was retrieved for it, has 0 and is not dropped.
    return {name: [of_measure.get(number, 0.0) for number in gold] for name, of_measure in values.items()}


def means(values: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([*of_questions.values()])) for name, of_questions in values.items()}
