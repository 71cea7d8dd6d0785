"""A comparison as HTML: one file that needs no other, and the parts of it that the page shows too."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bioqa import app
from bioqa.app.exports.links import pubmed_link
from bioqa.app.reports import charts
from bioqa.app.reports.tables import interval_text, measures_of, p_text, remarks, title_of
from bioqa.bioasq.breakdown import GroupMeans, by_gold, by_type, curves, differences, main_value
from bioqa.bioasq.cases import Case, case
from bioqa.bioasq.comparison import KINDS, Comparison, Kind
from bioqa.bioasq.domain import DEPTH
from bioqa.bioasq.golden import is_document_url
from bioqa.bioasq.overlap import pmid_of

STYLE = Path(app.__file__).parent / "web" / "static" / "comparison.css"
"""A file of the page, which may only link styles; a report holds its own."""

SHOWN_QUESTIONS = 10

MAIN = {"documents": "average precision of documents", "snippets": "F1 of snippets"}

LONGEST_NAME = 90
"""Characters of a question in a chart."""


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """A line of the table of measures; texts are empty where there is no difference."""

    measure: str
    first: bool
    """Whether it is the measure's first line."""
    system: str
    value: str
    interval: str
    difference: str = ""
    difference_interval: str = ""
    p: str = ""
    p_holm: str = ""
    questions: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    title: str
    facts: str
    svg: Markup


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """``values``: a pair for each system, AP of documents and F1 of snippets; empty where there is none."""

    id: str
    body: str
    type: str
    gold: int
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """What the template shows of a comparison."""

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    edition: int
    questions: int
    remarks: tuple[str, ...]
    corrected: bool
    measures: tuple[MeasureRow, ...]
    legend: Markup
    charts: tuple[Chart, ...]
    cases: tuple[Case, ...]
    rows: tuple[QuestionRow, ...]


def view(comparison: Comparison, questions: int = SHOWN_QUESTIONS) -> ComparisonView:
    """``questions``: how many of those that differ most are shown side by side."""
    names = tuple(system.name for system in comparison.systems)
    return ComparisonView(
        names=names,
        kinds=tuple(kind for kind in KINDS if any(kind in system.kinds for system in comparison.systems)),
        edition=comparison.edition,
        questions=len(comparison.golden),
        remarks=tuple(remarks(comparison)),
        corrected=len(names) > 2,
        measures=tuple(_measures(comparison)),
        legend=_safe(charts.legend(names)),
        charts=tuple(_charts(comparison, names)),
        cases=tuple(case(comparison, position) for position in comparison.most_different(questions)),
        rows=tuple(_question_rows(comparison)),
    )


def html_report(comparison: Comparison, title: str, questions: int = SHOWN_QUESTIONS) -> str:
    """The report as HTML: the same bytes for the same comparison, as it holds neither times nor versions."""
    template = _templates().get_template("report.html")
    return template.render(
        title=title, comparison=view(comparison, questions), comparison_css=_safe(STYLE.read_text("utf-8"))
    )


def template_names() -> dict[str, object]:
    """What the shared template ``_comparison.html`` needs besides ``comparison``."""
    return {"document_name": document_name, "document_link": document_link}


def document_name(document: str) -> str:
    return pmid_of(document) or document


def document_link(document: str) -> str:
    """Its page in PubMed; empty for what is no document of PubMed."""
    return pubmed_link(pmid_of(document)) if is_document_url(document) else ""


def _measures(comparison: Comparison) -> list[MeasureRow]:
    rows: list[MeasureRow] = []
    for measure in measures_of(comparison):
        for system in comparison.systems:
            if (score := system.score(measure)) is None:
                continue
            values = system.difference(measure)
            first = not rows or rows[-1].measure != title_of(measure)
            of_difference = (
                {}
                if values is None
                else {
                    "difference": f"{values.value:+.4f}",
                    "difference_interval": interval_text(values, sign="+"),
                    "p": p_text(values.p),
                    "p_holm": p_text(values.p_holm),
                    "questions": f"{values.wins} / {values.ties} / {values.losses}",
                }
            )
            rows.append(
                MeasureRow(
                    title_of(measure),
                    first,
                    system.name,
                    f"{score.value:.4f}",
                    interval_text(score),
                    **of_difference,
                )
            )
    return rows


def _charts(comparison: Comparison, names: tuple[str, ...]) -> list[Chart]:
    drawn: list[Chart] = []
    for kind in KINDS:
        drawn += _difference_charts(comparison, kind)
        of_depth = curves(comparison) if kind == "documents" else []
        if of_depth:
            title = f"Precision and recall of the first 1 to {DEPTH} documents"
            drawn.append(Chart(title, "", _safe(charts.precision_recall(title, of_depth, names))))
        for title, groups in (
            (f"By question type: {MAIN[kind]}", by_type(comparison, kind)),
            (f"By number of golden documents: {MAIN[kind]}", by_gold(comparison, kind)),
        ):
            if any(group.means for group in groups):
                drawn.append(_chart_groups(title, groups, names))
    return drawn


def _difference_charts(comparison: Comparison, kind: Kind) -> list[Chart]:
    elements = []
    for position, system in enumerate(comparison.systems[1:], start=1):
        if kind not in system.kinds or kind not in comparison.baseline.kinds:
            continue
        values = differences(comparison, system, kind)
        bars = [(_question_name(comparison, at), value) for at, value in values]
        better, worse = sum(value > 0 for _, value in values), sum(value < 0 for _, value in values)
        title = f"{system.name} minus {comparison.baseline.name}: {MAIN[kind]}, by question"
        facts = f"Higher on {better}, equal on {len(values) - better - worse}, lower on {worse} questions."
        elements.append(
            Chart(title, facts, _safe(charts.difference_bars(f"{title}. {facts}", bars, position)))
        )
    return elements


def _chart_groups(title: str, groups: list[GroupMeans], names: tuple[str, ...]) -> Chart:
    spoken = "; ".join(
        f"{group.name}: " + ", ".join(f"{name} {value:.3f}" for name, value in group.means.items())
        for group in groups
    )
    return Chart(title, "", _safe(charts.grouped_bars(f"{title}. {spoken}", groups, names)))


def _question_rows(comparison: Comparison) -> list[QuestionRow]:
    rows = []
    for position, gold in enumerate(comparison.golden):
        values = []
        for system in comparison.systems:
            measured = system.per_question[position]
            values.append(
                ("", "")
                if measured is None
                else (
                    f"{main_value('documents', measured.documents):.3f}" if measured.documents.gold else "",
                    f"{main_value('snippets', measured.snippets):.3f}" if measured.snippets.gold else "",
                )
            )
        question = gold.question
        number = len(set(gold.documents))
        rows.append(QuestionRow(question.id, question.body, question.type or "", number, tuple(values)))
    return rows


def _question_name(comparison: Comparison, position: int) -> str:
    question = comparison.golden[position].question
    body = question.body or question.id
    return body if len(body) <= LONGEST_NAME else f"{body[: LONGEST_NAME - 1]}…"


def _safe(text: str) -> Markup:
    """Mark as safe: charts, which escape what is not theirs, and the package's own style."""
    return Markup(text)  # noqa: S704


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("bioqa.app.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals |= template_names()
    return templates
