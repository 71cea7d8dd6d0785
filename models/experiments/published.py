"""Published results, which an experiment prints if nothing is trained."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from bioqa.models.experiments.document_table import DocumentRow, DocumentSummary
from bioqa.models.experiments.reranking import Reranked
from bioqa.models.experiments.results import Row, Summary

FOLDER = Path(__file__).parent / "published"

AnyRow = TypeVar("AnyRow")


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


@dataclass(frozen=True, slots=True)
class DocumentResults:
    """The table of an experiment that compares documents alone."""

    experiment: str
    data: Mapping[str, Any]
    """Fingerprints of the data of training and measuring."""
    rows: Sequence[DocumentRow]
    reranked: Reranked

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def read(name: str, folder: Path = FOLDER) -> Results:
    """The results of an experiment that compares documents and snippets."""
    values, rows = _read(name, folder, Row, Summary)
    return Results(values["reference"], values["data"], rows)


def read_documents(name: str, folder: Path = FOLDER) -> DocumentResults:
    """The results of an experiment that compares documents alone."""
    values, rows = _read(name, folder, DocumentRow, DocumentSummary)
    return DocumentResults(values["experiment"], values["data"], rows, values["reranked"])


def _read(
    name: str, folder: Path, make_row: Callable[..., AnyRow], make_summary: Callable[..., object]
) -> tuple[dict[str, Any], list[AnyRow]]:
    """The file's values, and its rows with a summary for each collection."""
    values = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    rows = []
    for row in values["rows"]:
        collections = {name: make_summary(**summary) for name, summary in row["collections"].items()}
        rows.append(make_row(**{**row, "collections": collections}))
    return values, rows
