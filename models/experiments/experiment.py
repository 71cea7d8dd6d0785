"""An experiment as data: which systems a paper compares, by which measures, and what is tested."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Literal

from bioqa.models.experiments.components import TrainedComponent, Untrained
from bioqa.models.experiments.systems import System, change_share, measuring

Test = Literal["randomisation", "t"]
"""``randomisation``: approximate randomisation over questions; ``t``: Student's t over pairs of values."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """A paper's comparison of systems."""

    name: str
    """Names the command ``bioqa experiment NAME``, and the file of its published results."""
    title: str
    systems: tuple[System, ...]
    """The paper's, in its order."""
    measures: tuple[str, ...]
    """Columns of the table, by their names in ``results.MEASURES`` or ``document_measures.MEASURES``."""
    references: tuple[str, ...]
    """Names of systems that the others are tested against, in the paper's order; empty: the pipeline that is
    the best on dev (``table.reference_of``)."""
    tails: Literal[1, 2]
    test: Test = "randomisation"
    seeds: tuple[int, ...] = (1, 2, 3)
    reranked: str = ""
    """Name of the system whose order of the candidates is re-ranked, and whose runs and those of the other
    systems are (Hui et al. 2018, RerankSimple and RerankALL); empty: the table has no re-ranked runs."""
    beside: tuple[System, ...] = ()
    """Systems in the same table that are not the paper's: ours, and ablations."""

    @property
    def documents_only(self) -> bool:
        """Whether systems are compared by their documents alone."""
        return "snippet_f1" not in self.measures

    def system(self, name: str) -> System:
        return next(system for system in (*self.systems, *self.beside) if system.name == name)

    def of_share(self, values: Sequence[str]) -> "Experiment":
        """With ``NAME=N`` applied to the share of the data of every system. Raises BioqaError."""
        return replace(self, systems=tuple(_of_share(system, values) for system in self.systems))


def chosen(systems: Sequence[System], names: Sequence[str]) -> list[System]:
    """The systems with one of these names, in which * matches anything; all of them if there are none."""
    return [s for s in systems if not names or any(fnmatchcase(s.name, name) for name in names)]


def _of_share(system: System, values: Sequence[str]) -> System:
    component = system.sentences
    share = change_share(component.share, values)
    learns = isinstance(component, TrainedComponent) and component.settings.training is not None
    if isinstance(component, TrainedComponent | Untrained):
        component = replace(component, share=share if learns else measuring(share))
    return replace(system, sentences=component)
