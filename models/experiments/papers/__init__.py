"""The papers' experiments, one a module: the union of these is all systems that the papers compare."""

from bioqa.models.experiments.experiment import Experiment
from bioqa.models.experiments.papers import hui_2018, mcdonald_2018, mohan_2017, pappas_2021

EXPERIMENTS: dict[str, Experiment] = {
    paper.name: paper
    for paper in (
        pappas_2021.EXPERIMENT,
        mcdonald_2018.EXPERIMENT,
        hui_2018.EXPERIMENT,
        mohan_2017.EXPERIMENT,
    )
}

SHARED = {("hui-2018", "DRMM"): "mcdonald-2018", ("hui-2018", "PACRR"): "mcdonald-2018"}
"""Baselines that a paper trains in its own way: counted once, with the paper that has them too."""

BOUNDS = ("Oracle", "Reverse document id")
"""What the papers add to their systems as an upper and a lower bound."""


def list_counted() -> list[tuple[str, str]]:
    """Names of the experiment and of the system, of all systems of the papers, each counted once."""
    return [
        (experiment.name, system.name)
        for experiment in EXPERIMENTS.values()
        for system in experiment.systems
        if (experiment.name, system.name) not in SHARED and system.name not in BOUNDS
    ]
