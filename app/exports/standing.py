"""The standing of an article, in words: the one place that says "Retracted", wherever an article appears.

The labels of notices are those that PubMed prints.
"""

from collections.abc import Mapping

from bioqa.bioasq.metadata import Correction, Metadata, Standing

WORDS: Mapping[Standing, str] = {
    Standing.RETRACTED: "Retracted",
    Standing.CONCERN: "Expression of concern",
    Standing.RETRACTION_NOTICE: "Retraction notice",
    Standing.CONCERN_NOTICE: "Notice of concern",
    Standing.ERRATUM_NOTICE: "Erratum",
    Standing.SOUND: "",
}
"""A word for each standing; none for an article that nobody has withdrawn or doubted."""

WARNINGS: Mapping[Standing, str] = {
    Standing.RETRACTED: "RETRACTED ARTICLE: do not rely on its findings or cite them as evidence.",
    Standing.CONCERN: "EXPRESSION OF CONCERN: its journal doubts this article; do not rely on it alone.",
    Standing.RETRACTION_NOTICE: "RETRACTION NOTICE: it withdraws another article and is no evidence itself.",
    Standing.CONCERN_NOTICE: "NOTICE OF CONCERN: it doubts another article and is no evidence itself.",
    Standing.ERRATUM_NOTICE: "ERRATUM: it corrects another article; read it together with that one.",
    Standing.SOUND: "",
}
"""What must be said before the text of an article, too loud to be overlooked."""

LABELS: Mapping[str, str] = {
    "RetractionIn": "Retraction in",
    "RetractedandRepublishedIn": "Retracted and republished in",
    "PartialRetractionIn": "Partial retraction in",
    "ExpressionOfConcernIn": "Expression of concern in",
    "ErratumIn": "Erratum in",
    "CorrectedandRepublishedIn": "Corrected and republished in",
    "UpdateIn": "Update in",
    "RetractionOf": "Retraction of",
    "RetractedandRepublishedFrom": "Retracted and republished from",
    "PartialRetractionOf": "Partial retraction of",
    "ExpressionOfConcernFor": "Expression of concern for",
    "ErratumFor": "Erratum for",
    "CorrectedandRepublishedFrom": "Corrected and republished from",
    "UpdateOf": "Update of",
}
"""What readers must see of an article's corrections, by NLM's RefType, the gravest first."""

_GRAVITY = {kind: rank for rank, kind in enumerate(LABELS)}


def word(metadata: Metadata) -> str:
    """Return the standing in a word or three; empty for a sound article."""
    return WORDS[metadata.standing]


def shown_notices(metadata: Metadata) -> tuple[Correction, ...]:
    """Return the corrections to show, the gravest first: notices on it, and what it is a notice on."""
    shown = [correction for correction in metadata.corrections if correction.kind in LABELS]
    return tuple(sorted(shown, key=lambda correction: _GRAVITY[correction.kind]))


def place(notice: Correction) -> str:
    """Return where a notice is, as PubMed prints it: "J Tests. 2019 May;3(2):7. PMID: 123"."""
    source = notice.source.strip()
    if not notice.pmid:
        return source
    pmid = f"PMID: {notice.pmid}"
    return f"{_end(source)} {pmid}" if source else pmid


def notice_text(notice: Correction) -> str:
    """Return a notice as PubMed prints it: "Retraction in: J Tests. 2019 May;3(2):7. PMID: 123."."""
    label = LABELS.get(notice.kind, notice.kind)
    where = place(notice)
    return _end(f"{label}: {where}" if where else label)


def statement(metadata: Metadata) -> str:
    """Return standing and notices as sentences; empty if there is nothing to say."""
    notices = map(notice_text, shown_notices(metadata))
    return " ".join(filter(None, (_end(word(metadata)), *notices)))


def _end(text: str) -> str:
    return f"{text}." if text and not text.endswith(".") else text
