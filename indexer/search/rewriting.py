"""The question and its candidates as a ranker reads them: one way to write what is written in several.

A ranker compares words, so "IL-6" and "IL6" are different for it, as are "tumour" and "tumor". So where the
question may be written otherwise, it is written as most candidates do, and in the candidates the other ways
are rewritten, too. Only what the ranker reads is changed: sentences stay the same ones, in the same order.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bioqa.bioasq.characters import GREEK, GREEK_NAMES, normalised
from bioqa.bioasq.domain import Document, Section, Sentence
from bioqa.indexer.search.reading import Abbreviated, Piece, Reading, Ways

_GREEK_LETTER = re.compile("|".join(GREEK_NAMES))
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Rewritten:
    question: str
    documents: tuple[Document, ...]
    """In the order given; the same objects where nothing was to be rewritten."""


@dataclass(frozen=True, slots=True)
class _Change:
    """A text to be replaced where it stands alone, whatever its case."""

    old: str
    """In lower case."""
    new: str


def rewritten(reading: Reading, documents: Sequence[Document]) -> Rewritten:
    """Write question and documents in the ways that most of the documents use."""
    texts = [normalised(f"{document.title} {document.abstract}").lower() for document in documents]
    changes: dict[_Change, None] = {}
    question = "".join(_piece(piece, texts, changes) for piece in reading.pieces)
    question = _with_possessives(question, texts)
    if not changes:
        return Rewritten(question, tuple(documents))
    return Rewritten(
        question,
        tuple(_document(document, text, changes) for document, text in zip(documents, texts, strict=True)),
    )


def _piece(piece: Piece, texts: Sequence[str], changes: dict[_Change, None]) -> str:
    match piece:
        case str():
            return piece
        case Ways():
            return _chosen(piece, texts, changes)
        case Abbreviated(read_long=True):
            return "".join(_piece(part, texts, changes) for part in piece.long)
        case Abbreviated():
            return _chosen(piece.short, texts, changes)


def _with_possessives(question: str, texts: Sequence[str]) -> str:
    """The question with "Crohn's disease" for "Crohn disease", if most of the documents have it so."""
    everything = "\n".join(texts)
    usual = []
    for word in dict.fromkeys(_WORD.findall(question)):
        if (possessive := f"{word.lower()}'s") in everything:
            alone = re.compile(rf"(?<![^\W_]){word.lower()}(?!'s|[^\W_])")
            having = sum(_has(text, possessive) for text in texts)
            if having > sum(alone.search(text) is not None for text in texts):
                usual.append(word)
    return re.sub(rf"\b({'|'.join(usual)})\b(?!')", r"\1's", question) if usual else question


def _chosen(ways: Ways, texts: Sequence[str], changes: dict[_Change, None]) -> str:
    """The way that most documents use, as changes of the others. Names of Greek letters are preferred."""
    named = [text for text in ways.texts if not _GREEK_LETTER.search(text)] or [*ways.texts]
    if any(name in text.lower() for text in named for name in GREEK):
        texts = [_GREEK_LETTER.sub(lambda found: GREEK_NAMES[found.group()], text) for text in texts]
    by_lower = {text.lower(): text for text in reversed(named)}
    counts = {lower: sum(_has(text, lower) for text in texts) for lower in sorted(by_lower)}
    most = max(counts, key=counts.__getitem__)
    chosen = by_lower[most] if counts[most] else ways.texts[0]
    for text in ways.texts:
        for old in dict.fromkeys((text.lower(), text.lower().replace("-", " "))):
            if len(ways.texts) > 1 and old != chosen.lower():
                changes[_Change(old, chosen)] = None
    return chosen


def _has(text: str, part: str) -> bool:
    return part in text and _pattern(part).search(text) is not None


def _pattern(text: str) -> re.Pattern[str]:
    # re caches the patterns of recent questions.
    return re.compile(rf"(?<![^\W_]){re.escape(text)}(?![^\W_])", re.IGNORECASE)


def _document(document: Document, text: str, changes: Iterable[_Change]) -> Document:
    applying = [(_pattern(change.old), change.new) for change in changes if change.old in text]
    if not applying:
        return document
    sections: dict[Section, str] = {"title": "", "abstract": ""}
    sentences = []
    for sentence in document.sentences:
        changed = normalised(document.sentence_text(sentence))
        for pattern, new in applying:
            changed = pattern.sub(new.replace("\\", r"\\"), changed)
        begin = len(sections[sentence.section])
        sections[sentence.section] += changed + " "
        sentences.append(Sentence(sentence.section, begin, begin + len(changed)))
    title, abstract = sections["title"], sections["abstract"]
    return replace(document, title=title, abstract=abstract, sentences=tuple(sentences), parts=())
