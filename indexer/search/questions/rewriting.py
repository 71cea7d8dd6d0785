"""The question and its candidates as a ranker reads them: one way to write what is written in several.

A ranker compares words, so "IL-6" and "IL6" are different for it, as are "tumour" and "tumor". So where the
question may be written otherwise, it is written as most candidates do, and in the candidates the other ways
are rewritten, too. Only what the ranker reads is changed: sentences stay the same ones, in the same order.

The work is linear in the candidates: each is looked through once for each way to write a thing, and only
sentences that have one are rewritten.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, product

from bioqa.bioasq.domain import Document, Section, Sentence
from bioqa.indexer.search.questions.pieces import Abbreviated, Piece, Ways
from bioqa.indexer.search.questions.reading import Reading
from bioqa.indexer.search.stopwords import STOP_WORDS
from bioqa.system.characters import GREEK, GREEK_NAMES, fold, normalise

DECIDING = 100
"""Candidates that decide how a thing is written: the best ones, however many a ranker reads."""

MOST_SPELLINGS = 8
"""Spellings of an abbreviation or a long form that are rewritten."""

_GREEK_LETTER = re.compile("|".join(GREEK_NAMES))
_WORD = re.compile(r"[^\W\d_]{2,}")
_LAST_LETTERS = re.compile(r"[^\W\d_]+\Z")
_SPACE = re.compile(r"[\s-]+")


@dataclass(frozen=True, slots=True)
class Rewritten:
    question: str
    documents: tuple[Document, ...]
    """In the order given; the same objects where nothing was to be rewritten."""


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to write a word, to be replaced wherever it stands alone, whatever its case."""

    old: str
    """In lower case."""
    new: str

    def concerns(self, text: str) -> bool:
        """Whether it may stand in a document's text, given in lower case."""
        return self.old in text

    def may_stand(self, sentence: str) -> bool:
        """Whether it may stand in a sentence of such a document, given in lower case."""
        return self.old in sentence

    def replace(self, text: str) -> str:
        return _pattern(self.old).sub(_literally(self.new), text)


@dataclass(frozen=True, slots=True)
class _Form:
    """An abbreviation or its long form, to be replaced by the other one in documents that lack that.

    Documents that have both, often as a definition, are best left as they are: on 1,681 questions of BioASQ,
    document MAP falls by .003 if those are rewritten, too.
    """

    old: str
    new: str
    abbreviates: bool
    """Whether ``old`` is the abbreviation, whose case counts: aids are not AIDS."""

    def concerns(self, text: str) -> bool:
        return _has_form(text, self.old.lower()) and not _has_form(text, self.new.lower())

    def may_stand(self, sentence: str) -> bool:
        return _first_word(self.old.lower()) in sentence

    def replace(self, text: str) -> str:
        flags = 0 if self.abbreviates else re.IGNORECASE
        return _form(self.old, flags).sub(_literally(self.new), text)


_Change = _Way | _Form


def rewritten(reading: Reading, documents: Sequence[Document]) -> Rewritten:
    """Write question and documents in the ways that most of the documents use, the best first."""
    if reading.cut_short:
        return Rewritten(reading.asked, tuple(documents))
    texts = [fold(normalise(f"{document.title} {document.abstract}").lower()) for document in documents]
    changes: dict[_Change, None] = {}
    question = "".join(_piece(piece, texts[:DECIDING], changes) for piece in reading.pieces)
    question = _with_possessives(question, texts[:DECIDING])
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
        case Abbreviated(short, long, asked_long, read_long, dominant):
            read = "".join(_piece(part, texts, changes) for part in (long if read_long else (short,)))
            # Where a long form was asked, documents with only an abbreviation of several meanings stay
            # as they are: to rewrite those, too, costs .008 of document MAP on development questions.
            if dominant or not asked_long:
                for other in _spellings((short,) if read_long else long):
                    changes[_Form(other, read, abbreviates=read_long)] = None
            return read


def _spellings(pieces: Sequence[str | Ways]) -> Iterator[str]:
    """What is written in these pieces, in all ways, or the first ones if there are many."""
    texts = [(piece,) if isinstance(piece, str) else piece.texts for piece in pieces]
    yield from map("".join, islice(product(*texts), MOST_SPELLINGS))


def _with_possessives(question: str, texts: Sequence[str]) -> str:
    """The question with "Crohn's disease" for "Crohn disease", if most of the documents have it so."""
    there = {*_possessives("\n".join(texts))}
    usual = []
    for word in dict.fromkeys(_WORD.findall(question)):
        # "What's" is no possessive.
        if word.lower() in there and word.lower() not in STOP_WORDS:
            possessive = f"{word.lower()}'s"
            alone = re.compile(rf"(?<![^\W_]){word.lower()}(?!'s|[^\W_])")
            having = sum(_has(text, possessive) for text in texts)
            if having > sum(alone.search(text) is not None for text in texts):
                usual.append(word)
    return re.sub(rf"\b({'|'.join(usual)})\b(?!')", r"\1's", question) if usual else question


def _possessives(text: str) -> Iterator[str]:
    """The words that have 's in a text."""
    for before in text.split("'s")[:-1]:
        if letters := _LAST_LETTERS.search(before[before.rfind(" ") + 1 :]):
            yield letters.group()


def _chosen(ways: Ways, texts: Sequence[str], changes: dict[_Change, None]) -> str:
    """The way that most documents use, as changes of the others. Names of Greek letters are preferred."""
    named = [text for text in ways.texts if not _GREEK_LETTER.search(text)] or [*ways.texts]
    if any(name in text.lower() for text in named for name in GREEK):
        texts = [_GREEK_LETTER.sub(lambda letter: GREEK_NAMES[letter.group()], text) for text in texts]
    by_lower = {text.lower(): text for text in reversed(named)}
    counts = {lower: sum(_has(text, lower) for text in texts) for lower in sorted(by_lower)}
    most = max(counts, key=counts.__getitem__)
    chosen = by_lower[most] if counts[most] else named[0]
    for text in ways.texts:
        for old in dict.fromkeys((text.lower(), text.lower().replace("-", " "))):
            if len(ways.texts) > 1 and old != chosen.lower():
                changes[_Way(old, chosen)] = None
    return chosen


def _has(text: str, part: str) -> bool:
    return part in text and _pattern(part).search(text) is not None


def _pattern(text: str) -> re.Pattern[str]:
    # re caches the patterns of recent questions.
    return re.compile(rf"(?<![^\W_]){re.escape(text)}(?![^\W_])", re.IGNORECASE)


def _has_form(text: str, form: str) -> bool:
    # Most texts do not even have its first word, which is found much faster.
    return _first_word(form) in text and _form(form).search(text) is not None


def _first_word(form: str) -> str:
    return _SPACE.split(form, maxsplit=1)[0]


@lru_cache(maxsize=256)
def _form(text: str, flags: int = 0) -> re.Pattern[str]:
    """With spaces or hyphens between the words, and perhaps an s at the end."""
    words = r"[\s-]+".join(map(re.escape, _SPACE.split(text)))
    return re.compile(rf"(?<![^\W_]){words}s?(?![^\W_])", flags)


def _literally(text: str) -> str:
    """As a replacement in ``re``."""
    return text.replace("\\", r"\\")


def _document(document: Document, text: str, changes: Iterable[_Change]) -> Document:
    applying = [change for change in changes if change.concerns(text)]
    if not applying:
        return document
    sections: dict[Section, str] = {"title": "", "abstract": ""}
    sentences = []
    for sentence in document.sentences:
        changed = fold(normalise(document.sentence_text(sentence)))
        lower = changed.lower()
        for change in applying:
            if change.may_stand(lower):  # most do not, and looking is much faster than replacing
                changed = change.replace(changed)
                lower = changed.lower()
        begin = len(sections[sentence.section])
        sections[sentence.section] += changed + " "
        sentences.append(Sentence(sentence.section, begin, begin + len(changed)))
    title, abstract = sections["title"], sections["abstract"]
    return replace(document, title=title, abstract=abstract, sentences=tuple(sentences), parts=())
