"""Tables of experiments that compare documents and snippets, in Markdown."""

import math
from collections.abc import Iterable, Mapping

from bioqa.app.reports.cells import assign_letters, cell, remarks
from bioqa.app.reports.tables import markdown
from bioqa.models.experiments.published import Results
from bioqa.models.experiments.results import Row

MEASURES = {
    "document_map_5": "doc. MAP ed. 5",
    "document_map_8": "ed. 8",
    "snippet_map_5": "snip. MAP ed. 5",
    "snippet_map_8": "ed. 8",
    "snippet_f1": "snip. F1",
    "recall_at_10": "recall@10",
    "sentence_auc": "AUC",
}
PAIRED = {"document_map_8": "p doc.", "snippet_f1": "p snip.", "sentence_auc": "p AUC"}
KINDS = ("baseline", "pipeline", "joint", "ours", "bound")


def snippet_tables(results: Results) -> str:
    """Markdown: it can be read on a terminal and pasted into a page."""
    marks = assign_letters(words for row in results.rows for words in _shares(row))
    main = [row for kind in KINDS for row in results.rows if row.kind == kind]
    ablations = [row for row in results.rows if row.kind == "ablation"]
    collections = list(results.rows[0].collections)
    # Means over different questions do not compare, so they never share a table: all questions first.
    counts = sorted({_questions(row) for row in main}, key=lambda count: count or math.inf, reverse=True)
    shown = [
        (name + (f", {count or 'all'} questions" if len(counts) > 1 else ""), rows, name)
        for name in collections
        for count in counts
        if (rows := [row for row in main if _questions(row) == count and name in row.collections])
    ]
    if ablations:
        shown.append((f"{collections[0]}, ablations of JPDRMM", ablations, collections[0]))
    blocks = [f"**{title}**\n\n{_table(rows, name, marks, results.reference)}" for title, rows, name in shown]
    notes = [
        f"p: paired, single-tailed, of being better than {results.reference}: "
        "of the pipelines measured in full, the best on dev.",
        "ms: of a question, the work of all threads together. Shares of the data:",
        *(f"- {mark}: {words}" for words, mark in marks.items()),
    ]
    return "\n\n".join([*blocks, "\n".join(notes)])


def _table(rows: Iterable[Row], collection: str, marks: Mapping[str, str], reference: str) -> str:
    lines = [["system", "seeds", "share", *MEASURES.values(), "parameters", "ms", *PAIRED.values()]]
    for row in rows:
        if collection not in row.collections:
            continue
        of_row = row.collections[collection]
        values = [
            cell(of_row.mean[name], of_row.deviation[name], row.seeds) if name in of_row.mean else ""
            for name in MEASURES
        ]
        share = "".join(dict.fromkeys(marks[words] for words in _shares(row)))
        p = of_row.p.get(reference, {})
        tested = [_p(p.get(name)) for name in PAIRED]
        lines.append([row.system, str(row.seeds), share, *values, *_cost(row), *tested])
    return markdown(lines)


def _cost(row: Row) -> tuple[str, str]:
    """Parameters and milliseconds of all parts together."""
    parameters = sum(part.get("parameters", 0) for part in row.parts)
    times = [part["thread_milliseconds"] for part in row.parts if "thread_milliseconds" in part]
    return f"{parameters:,}", f"{sum(times):.0f}" if times else ""


def _questions(row: Row) -> int:
    """How many questions of each collection the row was measured on; 0 if on all of them."""
    counts = [part["share"]["test_questions"] for part in row.parts if part.get("share")]
    return min(filter(None, counts), default=0)


def _shares(row: Row) -> list[str]:
    return [words for part in row.parts if (words := remarks(part))]


def _p(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
