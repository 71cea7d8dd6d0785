"""A comparison as text: a table in Markdown, CSV, JSON."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from bioqa.app.exports.table import cell
from bioqa.bioasq.cases import case
from bioqa.bioasq.comparison import KINDS, Comparison, Difference, SystemScore

TITLES = {
    "mprec": "precision",
    "mrec": "recall",
    "mf1": "F1",
    "map": "MAP",
    "gmap": "GMAP",
}


def title_of(measure: str) -> str:
    """``map_documents``: "documents MAP"."""
    name, _, kind = measure.partition("_")
    return f"{kind} {TITLES[name]}"


def remarks(comparison: Comparison) -> list[str]:
    """What must be known to read the figures."""
    others = len(comparison.systems) - 1
    share = f"{comparison.confidence:.0%}"
    lines = [
        f"Official measures of edition {comparison.edition}. Intervals: {share} of {comparison.resamples:,} "
        f"bootstrap samples of the questions (percentiles). Seed {comparison.seed}."
    ]
    if others:
        lines.append(
            f"Differences from {comparison.baseline.name}, over the questions that both answered. p: "
            "two-tailed, of approximate randomisation over questions"
            + (f"; p (Holm): corrected for {others} comparisons." if others > 1 else ".")
        )
    lines += [
        f"{system.name} lacks {system.measures.missing} of {len(comparison.golden)} golden questions. They "
        "are in none of its means, so these do not compare with those of the others."
        for system in comparison.systems
        if system.measures.missing
    ]
    lines += [
        f"{system.name} has no {kind}."
        for system in comparison.systems
        for kind in KINDS
        if kind not in system.kinds
    ]
    return lines


def text_table(comparison: Comparison) -> str:
    """Markdown: it can be read on a terminal and pasted into a page."""
    corrected = len(comparison.systems) > 2
    heads = ["measure", "system", "value", "interval", "difference", "interval", "p"]
    heads += [*(["p (Holm)"] if corrected else []), "wins", "ties", "losses"]
    lines = [heads]
    for measure in measures_of(comparison):
        for system in comparison.systems:
            if (score := system.score(measure)) is None:
                continue
            cells = [title_of(measure), system.name, f"{score.value:.4f}", interval_text(score)]
            difference = system.difference(measure)
            if difference is None:
                lines.append([*cells, *[""] * (len(heads) - len(cells))])
                continue
            cells += [f"{difference.value:+.4f}", interval_text(difference, sign="+"), p_text(difference.p)]
            cells += [p_text(difference.p_holm)] if corrected else []
            lines.append([*cells, str(difference.wins), str(difference.ties), str(difference.losses)])
    return markdown(lines)


def measures_of(comparison: Comparison) -> list[str]:
    """The measures that any system has, in the official order."""
    return list(dict.fromkeys(score.measure for system in comparison.systems for score in system.scores))


def interval_text(bounds: SystemScore | Difference, sign: str = "") -> str:
    return f"{bounds.low:{sign}.4f} to {bounds.high:{sign}.4f}"


def p_text(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def markdown(lines: Sequence[Sequence[str]]) -> str:
    """The first line is the head."""
    escaped = [[text.replace("|", "\\|") for text in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*escaped, strict=True)]
    escaped.insert(1, ["-" * width for width in widths])
    padded = [[text.ljust(width) for text, width in zip(line, widths, strict=True)] for line in escaped]
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)


def csv_rows(rows: Sequence[Mapping[str, Any]]) -> str:
    """A line for each row; nothing where a value is None. Texts are made harmless for spreadsheets."""
    written = io.StringIO()
    if rows:
        table = csv.DictWriter(written, list(rows[0]), lineterminator="\n")
        table.writeheader()
        for row in rows:
            table.writerow({n: cell(v) if isinstance(v, str) else v for n, v in row.items()})
    return written.getvalue()


def as_json(comparison: Comparison, questions: int) -> dict[str, Any]:
    """With the ``questions`` that differ most, side by side."""
    return {
        "edition": comparison.edition,
        "baseline": comparison.baseline.name,
        "resamples": comparison.resamples,
        "seed": comparison.seed,
        "confidence": comparison.confidence,
        "questions": len(comparison.golden),
        "systems": [
            {
                "system": system.name,
                "questions": system.measures.questions,
                "missing": list(system.measures.missing_ids),
            }
            for system in comparison.systems
        ],
        "measures": comparison.rows(),
        "most_different": [
            case(comparison, position).as_dict() for position in comparison.most_different(questions)
        ],
    }
