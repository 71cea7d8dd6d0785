"""McDonald, Brokos and Androutsopoulos 2018, Table 1.

Deviations: word vectors have 30 dimensions (200 in the paper), as ABEL-DRMM with 200 takes half a second for
100 candidates on one core.
"""

from bioqa.models.experiments.components import Untrained
from bioqa.models.experiments.experiment import Experiment
from bioqa.models.experiments.papers.shares import FEW_EPOCHS, MEASURED, ORACLE, SAMPLE
from bioqa.models.experiments.systems import System, train_component


def _slow(name: str, ranker: str) -> System:
    return System(name, "documents", train_component(ranker, SAMPLE, **FEW_EPOCHS), seeds=5)


EXPERIMENT = Experiment(
    name="mcdonald-2018",
    title="McDonald, Brokos and Androutsopoulos 2018",
    systems=(
        System("BM25", "baseline", Untrained("first stage", MEASURED), seeds=1),
        System("BM25+extra", "baseline", train_component("linear", SAMPLE), seeds=5),
        System("PACRR", "documents", train_component("pacrr", SAMPLE), seeds=5),
        System("DRMM", "documents", train_component("drmm", SAMPLE), seeds=5),
        System("PACRR-DRMM", "documents", train_component("pacrr-drmm", SAMPLE), seeds=5),
        _slow("ABEL-DRMM", "abel"),
        _slow("ABEL-DRMM+MV", "abel-mv"),
        _slow("POSIT-DRMM", "posit"),
        _slow("POSIT-DRMM+MV", "posit-mv"),
        ORACLE,
    ),
    measures=("document_map_8", "AP", "P@20", "nDCG@20"),
    references=(
        "BM25",
        "BM25+extra",
        "PACRR",
        "DRMM",
        "PACRR-DRMM",
        "ABEL-DRMM",
        "ABEL-DRMM+MV",
    ),
    tails=2,
    seeds=(1, 2, 3, 4, 5),
)
