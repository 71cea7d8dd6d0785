"""What all document experiments have in common: the share of the data, and how long is trained.

Two cores do not train the large rankers on all questions, and rows of a table must have learned from the same
share of them: so all learn from 300 questions. They are measured on all questions of the collections, and on
60 of dev, which choose a run's best epoch and a system's best seed.
"""

from typing import Any

from bioqa.models.experiments.components import Untrained
from bioqa.models.experiments.shares import Share
from bioqa.models.experiments.systems import System

LEARNED = Share(train_questions=300, watched=60, dev_questions=60)
MEASURED = Share(dev_questions=60)
"""For what has nothing to learn."""

FEW_EPOCHS: dict[str, Any] = {"epochs": 6, "patience": 3}
"""For rankers that need minutes for an epoch; the others train for up to 30 epochs, as published."""

ORACLE = System("Oracle", "bound", Untrained("oracle", MEASURED), seeds=1)
