"""Where sentences begin and end in titles and abstracts.

NLTK's Punkt decides, with parameters of our own (``punkt.py``). Its tokens cost far more than its
decision, and most candidates are plain: an ordinary word, a full stop, a capital. These are decided here as
Punkt would; only what is left is given to Punkt. docs/sentences.md has the figures.

A section label ("METHODS:") in an abstract is a span of its own: annotators begin their snippets behind it.
"""

import re
from collections.abc import Iterable

from bioqa.bioasq.domain import Part, Sentence
from bioqa.bioasq.labels import LABEL
from bioqa.indexer.medline.punkt import ABBREVIATIONS, breaks

Offsets = tuple[int, int]

# Where parts of an abstract were joined by nothing, the next label or sentence follows without white space.
_GLUED = rf"(?={LABEL} )|(?<=[a-z]{{3}}[.?!])(?=[A-Z][a-z]+[ ,])(?!Gov\b)"
_CANDIDATE = re.compile(rf"""[.?!](?:["'”’»)\]}}]*\s+(?=\S)|{_GLUED})""")
_LABEL_FIRST = re.compile(rf"({LABEL})\s+(?=\S)")
_OPENING = r"""["'“‘«(\[{]*"""
_PLAIN_WORD = re.compile(rf"{_OPENING}(?:[^\W_]+-)*([^\W_]{{2,}})[)\]%]*|\S*[^\W_]{{2}}[)\]%]")
_PLAIN_START = re.compile(rf"{_OPENING}[A-Z0-9]")
_UNIT = re.compile(r"[0-9°] ?[A-Za-z%]")

MAX_WORD_LENGTH = 60
"""Characters of a word that are looked at, so that no text takes more than linear time."""

_TOKEN = re.compile(rf"\S{{1,{MAX_WORD_LENGTH}}}")


def split(text: str) -> list[Offsets]:
    """The sentences in order. Outside the spans is only white space, with which none begins or ends."""
    return _split(text, 0)


def split_abstract(text: str, label: str = "") -> list[Offsets]:
    """As ``split``, for a part of an abstract, labels apart; ``label`` is the one that it is known by."""
    if label and text.startswith(f"{label}: "):
        begin = len(label) + 1
        return [(_skip_space(text, 0), begin), *labels_apart(text, _split(text, begin))]
    return labels_apart(text, split(text))


def labels_apart(text: str, spans: Iterable[Offsets]) -> list[Offsets]:
    """The spans, with each label that a sentence begins with as a span of its own."""
    apart: list[Offsets] = []
    for begin, end in spans:
        if match := _LABEL_FIRST.match(text, begin, end):
            apart += (match.span(1), (match.end(), end))
        else:
            apart.append((begin, end))
    return apart


def sentences_of(title: str, abstract: str, parts: tuple[Part, ...]) -> tuple[Sentence, ...]:
    """A document's sentences in reading order. None crosses from one part of the abstract to the next.

    ``parts`` cover the abstract but for what joins them; without any, it is one part.
    """
    sentences = [Sentence("title", *span) for span in split(title)]
    for part in parts or (Part("", 0, len(abstract)),):
        spans = split_abstract(abstract[part.begin : part.end], part.label)
        sentences += [Sentence("abstract", part.begin + begin, part.begin + end) for begin, end in spans]
    return tuple(sentences)


def _split(text: str, begin: int) -> list[Offsets]:
    spans: list[Offsets] = []
    begin = _skip_space(text, begin)
    for match in _CANDIDATE.finditer(text, begin):
        if _is_end(text, begin, match):
            spans.append((begin, match.start() + len(match[0].rstrip())))
            begin = match.end()
    if begin < (end := len(text.rstrip())):
        spans.append((begin, end))
    return spans


def _is_end(text: str, begin: int, match: re.Match[str]) -> bool:
    mark = match.start()
    begin = max(begin, mark - MAX_WORD_LENGTH)
    word = text[max(text.rfind(" ", begin, mark) + 1, begin) : mark]
    if _PLAIN_START.match(text, match.end()):
        plain = _PLAIN_WORD.fullmatch(word)
        if plain and (plain[1] is None or plain[1].lower() not in ABBREVIATIONS):
            return True
        if _UNIT.fullmatch(text, mark - 3, mark) or _UNIT.fullmatch(text, mark - 2, mark):
            return True
    elif match.end() == len(text):
        return False
    following = _TOKEN.match(text, match.end())
    return following is not None and breaks(f"{word}{text[mark]} {following[0]}")


def _skip_space(text: str, begin: int) -> int:
    return len(text) - len(text[begin:].lstrip())
