"""What all document experiments have in common: the share of the data, and how long is trained.

All are measured on all questions of the collections, and on 60 of dev, which choose a run's best epoch and a
system's best seed.
"""

from typing import Any

from bioqa.models.experiments.components import Untrained
from bioqa.models.experiments.shares import Share
from bioqa.models.experiments.systems import System

ALL = Share(watched=60, dev_questions=60)
"""For papers all of whose rankers train on all questions within minutes."""
SAMPLE = Share(train_questions=300, watched=60, dev_questions=60)
"""For papers with a ranker that does not: rows of a table must have learned from the same questions."""
MEASURED = Share(dev_questions=60)
"""For what has nothing to learn."""

FEW_EPOCHS: dict[str, Any] = {"epochs": 6, "patience": 3}
"""For rankers that need minutes for an epoch; the others train for up to 30 epochs, as published."""

ORACLE = System("Oracle", "bound", Untrained("oracle", MEASURED), seeds=1)
