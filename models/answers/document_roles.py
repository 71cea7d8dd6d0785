"""What each sentence of documents does: as authors label its part, or else as ``roles`` reads it."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bioqa.bioasq.domain import Document, Sentence
from bioqa.models.answers import roles
from bioqa.models.answers.ranking import RankedSentence
from bioqa.models.answers.roles import ROLES, Role
from bioqa.models.answers.sentence_words import SentenceWords

_LABELS: dict[Role, str] = {
    "aim": "objectives? aims? purpose goals? hypothesis questions? study.objectives? research.question",
    "background": "background context introduction importance rationale",
    "method": (
        "methods? design settings? participants patients interventions? measurements methodology subjects"
        " materials.and.methods material.and.methods patients.and.methods methods/design study.design"
        " data.sources? study.selection data.extraction main.outcome.measures? outcome.measures exposures?"
        " research.design.and.methods experimental.design design.and.methods subjects.and.methods"
        " methods.and.analysis search.strategy data.collection.and.analysis"
    ),
    "result": "results? findings main.results principal.findings key.findings main.findings",
    "conclusion": (
        "conclusions? interpretation discussion significance summary implications conclusions.and.relevance"
        " clinical.relevance conclusions/significance clinical.implications expert.opinion"
    ),
}
_PATTERNS = {role: re.compile("|".join(names.split()), re.IGNORECASE) for role, names in _LABELS.items()}


def role_of_label(label: str) -> Role | None:
    """What a part of this label does; None for labels of more than one role, and unknown ones."""
    name = label.rstrip(":").strip()
    return next((role for role, pattern in _PATTERNS.items() if pattern.fullmatch(name)), None)


def document_roles(documents: Sequence[Document]) -> list[dict[Sentence, Role]]:
    """What each sentence of each abstract does; titles have no role."""
    abstracts = [
        {s: _label(document, s) for s in document.sentences if s.section == "abstract"}
        for document in documents
    ]
    texts = [
        _without_label(document.sentence_text(sentence), label)
        for document, labels in zip(documents, abstracts, strict=True)
        for sentence, label in labels.items()
    ]
    counts = np.array([len(labels) for labels in abstracts if labels], dtype=np.int64)
    probabilities = iter(roles.load_model()(SentenceWords.of(texts), counts))
    return [
        {sentence: _role(label, next(probabilities).tolist()) for sentence, label in labels.items()}
        for labels in abstracts
    ]


def with_roles(sentences: Sequence[RankedSentence]) -> tuple[RankedSentence, ...]:
    """Selected sentences, each with what it does in its abstract."""
    documents = {ranked.document.pmid: ranked.document for ranked in sentences}
    of_documents = dict(zip(documents, document_roles([*documents.values()]), strict=True))
    return tuple(
        replace(ranked, role=of_documents[ranked.document.pmid].get(ranked.sentence)) for ranked in sentences
    )


def _without_label(text: str, label: str) -> str:
    """A sentence as the model learned it."""
    return text.removeprefix(f"{label}:").strip() if label else text


def _label(document: Document, sentence: Sentence) -> str:
    """The label of the part of the abstract that the sentence is in; empty if there is none."""
    parts = (part.label for part in document.parts if part.begin <= sentence.begin < part.end)
    return next(parts, "")


def _role(label: str, probabilities: Sequence[float]) -> Role:
    """``probabilities`` [ROLES]"""
    labelled = role_of_label(label) if label else None
    choice: Sequence[Role] = ROLES if labelled is None else (labelled,)
    if labelled == "background":
        # Authors who have one label for both choose this one.
        choice = ("aim", "background")
    return max(choice, key=lambda role: probabilities[ROLES.index(role)])
