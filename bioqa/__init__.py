"""Answers biomedical questions with the best MEDLINE articles and sentences.

The names below are stable; docs/python.md describes them. Everything else under ``bioqa`` may change.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bioqa.answered import Answer as Answer
    from bioqa.answered import AnswerDocument as AnswerDocument
    from bioqa.answered import AnswerSnippet as AnswerSnippet
    from bioqa.asking import Explanation as Explanation
    from bioqa.asking import Ranker as Ranker
    from bioqa.asking import ask as ask
    from bioqa.asking import ask_all as ask_all
    from bioqa.asking import explain as explain
    from bioqa.asking import load_ranker as load_ranker
    from bioqa.bioasq.comparison import Comparison as Comparison
    from bioqa.bioasq.domain import Candidate as Candidate
    from bioqa.bioasq.domain import Document as Document
    from bioqa.bioasq.domain import Question as Question
    from bioqa.bioasq.domain import Response as Response
    from bioqa.bioasq.domain import Sentence as Sentence
    from bioqa.bioasq.domain import Snippet as Snippet
    from bioqa.bioasq.files import read_golden as read_golden
    from bioqa.bioasq.files import read_submission as read_submission
    from bioqa.bioasq.files import read_testset as read_testset
    from bioqa.bioasq.golden import Golden as Golden
    from bioqa.bioasq.measures import EDITIONS as EDITIONS
    from bioqa.bioasq.measures import Measures as Measures
    from bioqa.bioasq.validation import Fault as Fault
    from bioqa.citing import cite as cite
    from bioqa.indexer.loading.run import LoadReport as LoadReport
    from bioqa.indexer.medline.events import Delete as Delete
    from bioqa.indexer.medline.events import Upsert as Upsert
    from bioqa.indexer.medline.reader import MedlineFile as MedlineFile
    from bioqa.indexer.search.base import IndexStats as IndexStats
    from bioqa.indexer.search.filtering.filters import Filters as Filters
    from bioqa.measuring import compare as compare
    from bioqa.measuring import evaluate as evaluate
    from bioqa.measuring import question_measures as question_measures
    from bioqa.measuring import validate as validate
    from bioqa.measuring import write_report as write_report
    from bioqa.measuring import write_submission as write_submission
    from bioqa.models.answers.confidence import Confidence as Confidence
    from bioqa.models.answers.ranking import Ranking as Ranking
    from bioqa.reading import Sample as Sample
    from bioqa.reading import read_medline as read_medline
    from bioqa.reading import sample as sample
    from bioqa.searching import Index as Index
    from bioqa.searching import build_index as build_index
    from bioqa.searching import open_index as open_index
    from bioqa.system.errors import BioqaError as BioqaError
    from bioqa.texts import RankedText as RankedText
    from bioqa.texts import TextSentence as TextSentence
    from bioqa.texts import rank as rank

__version__ = "0.2.0"

_NAMES = {
    "bioqa.answered": ("Answer", "AnswerDocument", "AnswerSnippet"),
    "bioqa.asking": ("Explanation", "Ranker", "ask", "ask_all", "explain", "load_ranker"),
    "bioqa.bioasq.comparison": ("Comparison",),
    "bioqa.bioasq.domain": ("Candidate", "Document", "Question", "Response", "Sentence", "Snippet"),
    "bioqa.system.errors": ("BioqaError",),
    "bioqa.bioasq.files": ("read_golden", "read_submission", "read_testset"),
    "bioqa.bioasq.golden": ("Golden",),
    "bioqa.bioasq.measures": ("EDITIONS", "Measures"),
    "bioqa.bioasq.validation": ("Fault",),
    "bioqa.citing": ("cite",),
    "bioqa.indexer.loading.run": ("LoadReport",),
    "bioqa.indexer.medline.events": ("Delete", "Upsert"),
    "bioqa.indexer.medline.reader": ("MedlineFile",),
    "bioqa.indexer.search.base": ("IndexStats",),
    "bioqa.indexer.search.filtering.filters": ("Filters",),
    "bioqa.measuring": (
        "compare",
        "evaluate",
        "question_measures",
        "validate",
        "write_report",
        "write_submission",
    ),
    "bioqa.models.answers.confidence": ("Confidence",),
    "bioqa.models.answers.ranking": ("Ranking",),
    "bioqa.reading": ("Sample", "read_medline", "sample"),
    "bioqa.searching": ("Index", "build_index", "open_index"),
    "bioqa.texts": ("RankedText", "TextSentence", "rank"),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(["__version__", *_MODULE_OF])


# Not for type checkers, which would take any misspelt name for one that is there.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Import a name when it is first used (PEP 562): torch alone takes seconds."""
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_MODULE_OF[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
