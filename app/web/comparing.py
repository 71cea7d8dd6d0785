"""Submissions of the page at /evaluate compared: uploaded files and answers to test sets, by name."""

from collections.abc import Mapping

from bioqa.app.api.comparing import comparison_of_files
from bioqa.app.api.evaluation import read_field
from bioqa.app.api.uploads import Upload
from bioqa.app.reports.report import ComparisonView, html_report, view
from bioqa.bioasq.inputs import is_trec


def is_run(upload: Upload, field: str) -> bool:
    """Whether a file has a TREC format, of which only documents are measured, and nothing is validated."""
    return read_field(field, lambda: is_trec(upload.content(field)))


def compare_uploads(upload: Upload, names: Mapping[str, str], edition: int, questions: int) -> ComparisonView:
    """Compare the files of these fields, by the names given, with the golden file. Raises FieldError."""
    return view(comparison_of_files(upload, names, edition), questions)


def report(upload: Upload, names: Mapping[str, str], edition: int, questions: int) -> str:
    """``compare_uploads`` as a file."""
    return html_report(
        comparison_of_files(upload, names, edition), f"Comparison: {', '.join(names.values())}", questions
    )
