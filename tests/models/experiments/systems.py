"""Systems whose components train in an instant."""

from bioqa.models.experiments.components import TrainedComponent
from bioqa.models.experiments.systems import System
from bioqa.models.rankers.registry import settings_of

ONE = {"dimensions": 6, "epochs": 1}
SENTENCES = TrainedComponent(settings_of("sentence-pdrmm", **ONE))
JOINT = System("JPDRMM", "joint", TrainedComponent(settings_of("jpdrmm", **ONE)))
PIPELINE = System("PDRMM+PDRMM", "pipeline", SENTENCES, TrainedComponent(settings_of("pdrmm", **ONE)))
ALONE = System("Sentence PDRMM", "joint", SENTENCES)
