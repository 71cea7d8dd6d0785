"""Published results, which an experiment prints if nothing is trained."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bioqa.models.experiments.reranking import Reranked
from bioqa.models.experiments.results import Row, Summary

FOLDER = Path(__file__).parent / "published"


@dataclass(frozen=True, slots=True)
class Results:
    """An experiment's table."""

    experiment: str
    data: Mapping[str, Any]
    """Fingerprints of the data of training and measuring."""
    rows: Sequence[Row]
    reference: str = ""
    """The system that the others are tested against, if the experiment does not name its references."""
    reranked: Reranked = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def read(name: str, folder: Path = FOLDER) -> Results:
    """The results of an experiment."""
    values = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    rows = []
    for row in values["rows"]:
        collections = {name: Summary(**summary) for name, summary in row["collections"].items()}
        rows.append(Row(**{**row, "collections": collections}))
    return Results(**{**values, "rows": rows})
