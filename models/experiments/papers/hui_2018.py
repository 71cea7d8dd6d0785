"""Hui, Yates, Berberich and de Melo 2018, Tables 1 to 4.

The candidates are those of the index's BM25, in the order of query likelihood (QL). BioASQ's gold has one
grade, so Table 4 (PairAccuracy) has one pair of labels. The paper tests five predictions of each year by
Student's t; here questions are tested by approximate randomisation, two-tailed too.
"""

from typing import Any

from bioqa.models.experiments.components import TrainedComponent
from bioqa.models.experiments.experiment import Experiment
from bioqa.models.experiments.papers.shares import ALL, MEASURED
from bioqa.models.experiments.systems import System, train_component


def _co_pacrr(letters: str) -> TrainedComponent:
    """Letters of what is turned on: C(ascade), D(isambiguation), S(huffling)."""
    flags: dict[str, Any] = {
        "cascade": "C" in letters,
        "disambiguate": "D" in letters,
        "shuffle": "S" in letters,
    }
    return train_component("co-pacrr", ALL, **flags, epochs=10, patience=3)


EXPERIMENT = Experiment(
    name="hui-2018",
    title="Hui, Yates, Berberich and de Melo 2018",
    systems=(
        System("Co-PACRR", "documents", _co_pacrr("CDS"), seeds=1),
        System("PACRR", "documents", _co_pacrr(""), seeds=1),
        System("MatchPyramid", "documents", train_component("matchpyramid", ALL), seeds=1),
        # Guo et al. 2016 without extra features, trained as all of Hui et al.'s are.
        System(
            "DRMM",
            "documents",
            train_component(
                "drmm",
                ALL,
                features="none",
                document_loss="softmax",
                learning_rate=0.001,
                pairs_per_step=16,
            ),
        ),
        System("DUET-local", "documents", train_component("duet-local", ALL), seeds=1),
        System("K-NRM", "documents", train_component("knrm", ALL)),
        *(
            System(f"{letters}-PACRR", "documents", _co_pacrr(letters), seeds=1)
            for letters in ("C", "D", "S", "CD", "CS", "DS")
        ),
        System("QL", "baseline", train_component("ql", MEASURED), seeds=1),
    ),
    measures=("document_map_8", "ERR@20", "pair_accuracy"),
    references=("PACRR", "MatchPyramid", "DRMM", "DUET-local", "K-NRM"),
    tails=2,
    reranked="QL",
)
