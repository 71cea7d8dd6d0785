"""Re-ranking one run and many (Hui et al. 2018, Section 5.2: RerankSimple, RerankALL).

The paper re-ranks the runs that were submitted to TREC's Web Track. Here the runs are those of the table's
other systems: of each question their ``DEPTH`` best documents, which a system puts into its own order. They
end at the depth that ERR@20 looks at: all of the candidates would be the same documents for every run.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from bioqa.models.arrays import Floats
from bioqa.models.experiments.document_measures import DocumentScores, means, measure_documents
from bioqa.models.training.data import Prepared

MEASURE = "ERR@20"
DEPTH = 20

Reranked = Mapping[str, Mapping[str, Mapping[str, float]]]
"""By collection and system: ``simple``, ERR@20 of the first run re-ranked; ``gain``, over that run, relative;
``rank`` of the re-ranked run among all systems' runs, from 1; ``improved``, the share of the other systems'
runs that have a higher ERR@20 after re-ranking; ``average_gain`` over these runs, relative."""


def rerank_runs(
    questions: Sequence[Prepared], systems: Mapping[str, DocumentScores], simple: str
) -> dict[str, dict[str, float]]:
    """``simple``: the system whose run is re-ranked as a whole: all of the candidates."""
    own = {name: _err(questions, scores) for name, scores in systems.items()}
    found = {}
    for name, scores in systems.items():
        if name == simple:
            continue
        changes = []
        for other, of_other in systems.items():
            if other != name:
                after = _err(questions, rerank(scores, of_other))
                changes.append((after, own[other]))
        found[name] = {
            "simple": own[name],
            "gain": _relative(own[name], own[simple]),
            "rank": 1 + sum(value > own[name] for value in own.values()),
            "improved": float(np.mean([after > before for after, before in changes])),
            "average_gain": float(np.mean([_relative(*change) for change in changes])),
        }
    return {
        name: {key: round(value, 5) for key, value in measures.items()} for name, measures in found.items()
    }


def rerank(scores: DocumentScores, run: DocumentScores, depth: int = DEPTH) -> list[Floats]:
    """Scores that put the run's best documents first, in the order of ``scores``, and then its others."""
    orders: list[Floats] = []
    for own, of_run in zip(scores, run, strict=True):
        order = np.argsort(-of_run, kind="stable")
        best, others = order[:depth], order[depth:]
        # Equal scores leave documents in the run's order.
        order = np.concatenate([best[np.argsort(-own[best], kind="stable")], others])
        ranks = np.empty(len(order))
        ranks[order] = -np.arange(len(order))
        orders.append(ranks)
    return orders


def _err(questions: Sequence[Prepared], scores: DocumentScores) -> float:
    return means(measure_documents(questions, scores, [MEASURE]))[MEASURE]


def _relative(after: float, before: float) -> float:
    return (after - before) / before if before else 0.0
