"""Published results, which an experiment prints if nothing is trained."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bioqa.models.experiments.results import Row, Summary

FOLDER = Path(__file__).parent / "published"


@dataclass(frozen=True, slots=True)
class Results:
    """An experiment's table."""

    reference: str
    """The system that the others are tested against."""
    data: Mapping[str, Any]
    """Fingerprints of the data of training and measuring."""
    rows: Sequence[Row]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def read(name: str) -> Results:
    """The published results of an experiment of this name."""
    values = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    rows = []
    for row in values["rows"]:
        collections = {name: Summary(**summary) for name, summary in row["collections"].items()}
        rows.append(Row(**{**row, "collections": collections}))
    return Results(values["reference"], values["data"], rows)
