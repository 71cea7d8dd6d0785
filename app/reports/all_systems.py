"""All systems of the papers side by side: a table, and document MAP against milliseconds."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bioqa.app.reports.cells import assign_letters, cell, remarks
from bioqa.app.reports.charts import Dot, scatter
from bioqa.app.reports.document_tables import NOT_TRAINED
from bioqa.app.reports.tables import markdown
from bioqa.models.experiments import published
from bioqa.models.experiments.papers import BOUNDS, EXPERIMENTS, SHARED
from bioqa.models.experiments.results import Row
from bioqa.system.errors import BioqaError

COLLECTION = "test"
MEASURE = "document_map_8"


@dataclass(frozen=True, slots=True)
class SystemRow:
    """A system of a paper. What is not known of it is None."""

    number: int | None
    """Its place among the systems counted; None for bounds, and for a system that another paper has too."""
    experiment: str
    system: str
    seeds: int = 0
    """0: it was not trained here."""
    map: float | None = None
    """Document MAP of edition 8 on the collection ``test``; a mean over seeds."""
    deviation: float = 0.0
    parameters: int | None = None
    milliseconds: float | None = None
    """CPU time of one question."""
    shares: tuple[str, ...] = ()
    """What of the data its parts have seen."""
    questions: int = 0
    """Number of questions that it was measured on; 0: all."""


def read_all(folder: Path | None = None) -> list[SystemRow]:
    """All systems of all papers, with the results of those that have any. Raises BioqaError."""
    results = {name: _results(name, folder or published.FOLDER) for name in EXPERIMENTS}
    rows: list[SystemRow] = []
    number = 0
    for name, experiment in EXPERIMENTS.items():
        for system in experiment.systems:
            counts = system.name not in BOUNDS and (name, system.name) not in SHARED
            number += counts
            row = SystemRow(number if counts else None, name, system.name)
            result = results[name].get(system.name)
            rows.append(_with_results(row, result, documents_only=experiment.documents_only))
    return rows


def _results(name: str, folder: Path) -> dict[str, Row]:
    try:
        return {row.system: row for row in published.read(name, folder).rows}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BioqaError(f"{folder / name}.json: not the results of {name}: {error}") from error


def _with_results(empty: SystemRow, row: Row | None, *, documents_only: bool) -> SystemRow:
    if row is None or COLLECTION not in row.collections:
        return empty
    summary = row.collections[COLLECTION]
    # Parts are the seeds of a row of documents, which cost the same, and the components of another's.
    parts = row.parts[:1] if documents_only else row.parts
    times = [part["thread_milliseconds"] for part in parts if "thread_milliseconds" in part]
    shares = [remarks(part, documents_only=documents_only) for part in parts]
    counts = [part.get("share", {}).get("test_questions", 0) for part in parts]
    return SystemRow(
        empty.number,
        empty.experiment,
        empty.system,
        row.seeds,
        summary.mean[MEASURE],
        summary.deviation[MEASURE],
        sum(part.get("parameters", 0) for part in parts),
        sum(times) if times else None,
        tuple(dict.fromkeys(filter(None, shares))),
        min(filter(None, counts), default=0),
    )


def as_dicts(rows: Sequence[SystemRow]) -> list[dict[str, Any]]:
    return [asdict(row) for row in rows]


def table(rows: Sequence[SystemRow]) -> str:
    """In Markdown, with what the letters of the shares mean."""
    marks = assign_letters(words for row in rows for words in row.shares)
    notes = "\n".join(f"- {mark}: {words}" for words, mark in marks.items())
    return f"{_table(rows, marks)}\n\n{notes}".rstrip()


def _table(rows: Sequence[SystemRow], marks: Mapping[str, str]) -> str:
    lines = [["", "paper", "system", "seeds", "share", "document MAP", "questions", "parameters", "ms"]]
    for row in rows:
        number = "" if row.number is None else str(row.number)
        start = [number, row.experiment, row.system]
        if row.map is None:
            lines.append([*start, "", "", NOT_TRAINED, "", "", ""])
            continue
        share = "".join(marks[words] for words in row.shares)
        cost = [f"{row.parameters:,}", "" if row.milliseconds is None else f"{row.milliseconds:.0f}"]
        value = cell(row.map, row.deviation, row.seeds)
        lines.append([*start, str(row.seeds), share, value, str(row.questions or "all"), *cost])
    return markdown(lines)


def chart(rows: Sequence[SystemRow]) -> str:
    """Hollow: measured on fewer questions, so that its mean does not compare with those of the others."""
    papers = list(EXPERIMENTS)
    dots = [
        Dot(
            f"{row.number}",
            f"{row.system} ({row.experiment}): {cell(row.map, row.deviation, row.seeds)}, "
            f"{row.milliseconds:.0f} ms",
            row.milliseconds,
            row.map,
            row.deviation,
            papers.index(row.experiment),
            hollow=bool(row.questions),
        )
        for row in rows
        if row.map is not None and row.milliseconds and row.number is not None
    ]
    return scatter(
        "Document MAP against milliseconds", "milliseconds of a question", "document MAP", dots, papers
    )
