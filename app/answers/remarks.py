"""What is to be known of an answer, in words: one list for every face.

HTTP returns it, assistants read it as notes, and the command line, the page and notebooks show it. Words name
options as every face does: ``literal`` is ``--literal`` on the command line and ``literal=True`` in Python.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from bioqa.app.answers.answer import Answer
from bioqa.system.schema import DESCRIBED_BY_DOCSTRINGS

Kind = Literal[
    "confidence",
    "degraded",
    "by_words",
    "nothing",
    "emptied",
    "searched",
    "corrected",
    "expanded",
    "literal",
    "cut_short",
    "condensed",
    "truncated",
    "uncalibrated",
    "newest",
    "further",
    "found",
]


@dataclass(frozen=True, slots=True)
class Remark:
    __pydantic_config__ = DESCRIBED_BY_DOCSTRINGS

    kind: Kind
    """What it is about: confidence (whether the answer answers), degraded (BM25 replaced the ranker),
    by_words (vectors could not be used), nothing or emptied (why there is no document), searched, corrected,
    expanded, literal, cut_short, condensed (what was searched for), truncated, uncalibrated (what scores
    mean), newest (how many documents fit, the newest of which come first), further (there are more), found
    (how many candidates were read)."""
    text: str
    """One or more sentences."""


def remarks(answer: Answer) -> tuple[Remark, ...]:
    """All remarks on an answer, the gravest first."""
    return tuple(Remark(kind, text) for kind, text in _remarks(answer))


def remarks_by_words(problem: str | None) -> tuple[Remark, ...]:
    """The remark that vectors could not be used, if they could not."""
    return (Remark("by_words", f"Documents were found by words alone: {problem}."),) if problem else ()


def _remarks(answer: Answer) -> Iterator[tuple[Kind, str]]:
    if answer.ranked_documents and answer.confidence and answer.confidence.caution:
        yield "confidence", answer.confidence.caution
    if answer.degraded:
        yield "degraded", f"{answer.degraded[:1].upper()}{answer.degraded[1:]}."
    for remark in remarks_by_words(answer.by_words):
        yield remark.kind, remark.text
    if not answer.ranked_documents:
        yield from _nothing(answer)
    yield from _reading(answer)
    if answer.condensed:
        yield "condensed", f"The question is long. It was answered by these words of it: {answer.condensed}"
    if answer.truncated_sentences:
        count = answer.truncated_sentences
        yield "truncated", f"The ranker read {count} long sentence{'s' if count > 1 else ''} only in part."
    if answer.ranked_documents and not answer.calibrated and not answer.is_listed:
        yield "uncalibrated", "Scores are no probabilities: they are comparable within this answer only."
    if answer.fitting is not None and answer.ranked_documents:
        fit = "document that fits" if answer.fitting == 1 else "documents that fit"
        yield "newest", f"{answer.fitting} {fit}, the newest first."
    if answer.next_offset is not None:
        yield "further", f"There are further documents, from offset {answer.next_offset} on."
    if answer.ranked_documents and not answer.is_listed:
        yield "found", f"The ranker read {answer.candidates} candidates."


def _nothing(answer: Answer) -> Iterator[tuple[Kind, str]]:
    """Why there are no documents."""
    understood = answer.interpretation
    if answer.emptied:
        without = "; ".join(
            f"{left_out.documents} without {left_out.filter} ({left_out.condition})"
            for left_out in answer.emptied
        )
        instead = "".join(
            f" For {suggestion.value} try {' or '.join(suggestion.instead)}."
            for left_out in answer.emptied
            for suggestion in left_out.suggestions
        )
        yield "emptied", f"The filters leave no document. There would be {without}.{instead}"
    elif understood and understood.identifiers:
        yield "nothing", "The index has no such document."
    elif answer.options.offset:
        yield "nothing", "There are no further documents."
    else:
        yield "nothing", "No document of the index contains a word of this question."


def _reading(answer: Answer) -> Iterator[tuple[Kind, str]]:
    """What was searched for instead of the question as it is, or beside its words."""
    understood = answer.interpretation
    if answer.reading is not None and answer.reading.cut_short:
        yield "cut_short", "The question was taken literally: to read it otherwise would have taken too long."
    if understood is None:
        if answer.options.literal:
            yield "literal", "The question's own words alone were searched for, as literal asks."
        return
    if answer.notation is not None and not understood.identifiers:
        words = "documents by date, the newest first"
        if understood.words:
            order = "the newest first" if answer.options.order == "date" else "the most relevant first"
            words = f"“{understood.words}”, {order}"
        restriction = f", restricted to {understood.restriction}" if understood.restriction else ""
        yield "searched", f"Searched for {words}{restriction}. With syntax never, for the words as they are."
    if understood.corrections:
        taken = ", ".join(correction.correction for correction in understood.corrections)
        typed = ", ".join(correction.word for correction in understood.corrections)
        yield "corrected", f"Results for {taken}, as no document has {typed}; literal searches for {typed}."
    if understood.expansions:
        also = "; ".join(
            f"{expansion.words}: {', '.join(expansion.also)}" for expansion in understood.expansions
        )
        yield "expanded", f"Searched for, too: {also}"
