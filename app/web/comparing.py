"""Submissions of the page at /evaluate compared: uploaded files and answers to test sets, by name."""

from collections.abc import Mapping

from bioqa.app.api.evaluation import check_files, read_field
from bioqa.app.api.uploads import Upload
from bioqa.app.http.errors import FieldError
from bioqa.app.reports.report import ComparisonView, html_report, view
from bioqa.bioasq.comparison import Comparison, compare
from bioqa.bioasq.inputs import is_trec, parse_answers, parse_gold

MOST_QUESTIONS = 1000
"""Golden questions that are compared here: with more, the page would be slow to make and to show."""


def unique_names(names: Mapping[str, str]) -> dict[str, str]:
    """Names of systems by field: a file's up to its first dot, with a number where it is another's too."""
    found: dict[str, str] = {}
    for field, full in names.items():
        name = full.partition(".")[0].strip() or field
        same = sum(each == name or each.startswith(f"{name} (") for each in found.values())
        found[field] = f"{name} ({same + 1})" if same else name
    return found


def is_run(upload: Upload, field: str) -> bool:
    """Whether a file has a TREC format, of which only documents are measured, and nothing is validated."""
    return read_field(field, lambda: is_trec(upload.content(field)))


def compared(upload: Upload, names: Mapping[str, str], edition: int, questions: int) -> ComparisonView:
    """Compare the files of these fields, by the names given, with the golden file. Raises FieldError."""
    return view(_comparison(upload, names, edition), questions)


def report(upload: Upload, names: Mapping[str, str], edition: int, questions: int) -> str:
    """``compared`` as a file."""
    return html_report(
        _comparison(upload, names, edition), f"Comparison: {', '.join(names.values())}", questions
    )


def _comparison(upload: Upload, names: Mapping[str, str], edition: int) -> Comparison:
    golden = read_field("golden", lambda: parse_gold(upload.content("golden"), "golden"))
    if len(golden.responses) > MOST_QUESTIONS:
        raise FieldError(
            "golden",
            f"has more than {MOST_QUESTIONS} questions, too many to compare here; use `bioqa compare`",
        )
    systems = {}
    for field, name in names.items():
        answers = read_field(field, lambda field=field: parse_answers(upload.content(field), field))  # type: ignore[misc]
        check_files(golden, answers, field)
        systems[name] = answers.responses
    return compare(golden.responses, systems, edition)
