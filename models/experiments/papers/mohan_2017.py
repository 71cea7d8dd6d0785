"""Mohan, Fiorini, Kim and Lu 2017, Tables 2 and 4.

Their _w variants weight a relevant document by its grade. BioASQ's gold has one grade, so every weight is the
same: here they are the plain ones, by name too, and have the same scores.
"""

from bioqa.models.experiments.components import Untrained
from bioqa.models.experiments.experiment import Experiment
from bioqa.models.experiments.papers.shares import ALL, FEW_EPOCHS, MEASURED
from bioqa.models.experiments.systems import System, train_component

_NEURAL = {
    "SevMos-C1": train_component("sevmos-c1", ALL, **FEW_EPOCHS),
    "SevMos-C3": train_component("sevmos-c3", ALL, **FEW_EPOCHS),
    "Delta": train_component("delta", ALL),
}

EXPERIMENT = Experiment(
    name="mohan-2017",
    title="Mohan, Fiorini, Kim and Lu 2017",
    systems=(
        System("Reverse document id", "bound", Untrained("reverse id", MEASURED), seeds=1),
        System("BM25 on titles", "baseline", train_component("bm25-title", MEASURED), seeds=1),
        System("UQLM", "baseline", train_component("uqlm", MEASURED), seeds=1),
        *(System(name, "documents", component, seeds=1) for name, component in _NEURAL.items()),
        *(System(f"{name}_w", "documents", component, seeds=1) for name, component in _NEURAL.items()),
        System("WMD-Title", "baseline", train_component("wmd", MEASURED), seeds=1),
    ),
    measures=("document_map_8", "nDCG@20", "AP", "P@5", "P@10", "P@20"),
    references=("WMD-Title", "SevMos-C1"),
    tails=2,
    test="t",
)
