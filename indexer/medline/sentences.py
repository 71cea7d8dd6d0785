"""Splitting titles and abstracts into sentences.

NLTK's Punkt decides where sentences end, with our own parameters (``punkt.py``). Punkt's tokenisation costs
far more than its decision, and most candidates are simple: an ordinary word, a full stop, a capital. Those
are decided here in the same way as Punkt would; only the others are passed to Punkt. See docs/sentences.md.

A section label ("METHODS:") in an abstract is a span of its own, because annotators begin snippets after it.
"""

import re
from collections.abc import Iterable

from bioqa.bioasq.domain import Part, Sentence
from bioqa.bioasq.labels import LABEL
from bioqa.indexer.medline.punkt import ABBREVIATIONS, STARTERS, breaks

Offsets = tuple[int, int]
"""Begin and end of a sentence; the end is exclusive."""

# Some abstracts have parts joined without a space: a label or sentence follows the mark immediately. "Gov" is
# excluded because of "ClinicalTrials.Gov ".
_GLUED = rf"(?={LABEL} )|(?<=[a-z]{{3}}[.?!])(?=[A-Z][a-z]+[ ,])(?!Gov\b)"
_CANDIDATE = re.compile(rf"""[.?!](?:["'”’»)\]}}]*\s+(?=\S)|{_GLUED})""")
_LABEL_FIRST = re.compile(rf"({LABEL})\s+(?=\S)")
_OPENING = r"""["'“‘«(\[{]*"""
_PLAIN_WORD = re.compile(rf"{_OPENING}(?:[^\W_]+-)*([^\W_]{{2,}})[)\]%]*|\S*[^\W_]{{2}}[)\]%]")
_PLAIN_START = re.compile(rf"{_OPENING}[A-Z0-9]")
# "A" begins sentences, too, so what follows an initial or "Vibrio sp." decides: another initial and a name,
# or a verb.
_CAPITAL = "A-ZÀ-ÖØ-ÞĆČĐŁŚŠŻŽ"
_INITIALS = re.compile(rf"{_OPENING}(?:[{_CAPITAL}]\.-?)*[{_CAPITAL}]")
_NAME_AFTER_INITIALS = re.compile(
    rf"(?:[{_CAPITAL}]\.[ -]?){{1,4}}(?:[dv][a-z]{{0,3}} ){{0,2}}[{_CAPITAL}][\w'’]"
)
_NAME = re.compile(rf"([{_CAPITAL}][\w'’-]+)")
_TAXON = re.compile(r"sp|spp|ssp|subsp|var|cv|f")
_MORE_TAXA = frozenset(
    (
        "aff", "agg", "auct", "bv", "comb", "emend", "fam", "fo", "morph", "ord", "pv", "serov", "str",
        "subg", "subvar", "sv", "trib",
    )
)  # fmt: skip
"""In small letters only: "SV" is none. Punkt, which does not tell case, sees them as "sp"."""
_LETTER_AND_VERB = re.compile(r"A(?:[,;:)]| (?:was|were|is|are|and|or|had|has|from|in|with)\b)")
_UNIT = re.compile(r"[0-9°] ?[A-Za-z%]")

MAX_WORD_LENGTH = 60
"""Maximum number of characters looked at before and after a mark, so that time is linear for any text."""

_TOKEN = re.compile(rf"\S{{1,{MAX_WORD_LENGTH}}}")


def split(text: str) -> list[Offsets]:
    """Split a text into sentences. Between them is only white space; none begins or ends with it."""
    return _split(text, 0)


def split_abstract(text: str, label: str = "") -> list[Offsets]:
    """Split a part of an abstract. Labels become spans of their own; ``label`` is the known one."""
    if label and text.startswith(f"{label}: "):
        begin = len(label) + 1
        return [(_skip_space(text, 0), begin), *labels_apart(text, _split(text, begin))]
    return labels_apart(text, split(text))


def labels_apart(text: str, spans: Iterable[Offsets]) -> list[Offsets]:
    """Separate the label at the beginning of a sentence, if any, into a span of its own."""
    separated: list[Offsets] = []
    for begin, end in spans:
        if match := _LABEL_FIRST.match(text, begin, end):
            separated += (match.span(1), (match.end(), end))
        else:
            separated.append((begin, end))
    return separated


def sentences_of(title: str, abstract: str, parts: tuple[Part, ...]) -> tuple[Sentence, ...]:
    """Split a document into sentences, in reading order; no sentence spans two parts of the abstract.

    ``parts`` cover the abstract, except for the joiners between them. If empty, the abstract is one part.
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
    if word in _MORE_TAXA:
        word = "sp"
    if _PLAIN_START.match(text, match.end()):
        plain = _PLAIN_WORD.fullmatch(word)
        if plain and (plain[1] is None or plain[1].lower() not in ABBREVIATIONS):
            return True
        if _UNIT.fullmatch(text, mark - 3, mark) or _UNIT.fullmatch(text, mark - 2, mark):
            return True
    elif match.end() == len(text):
        return False
    if text[mark] == "." and _goes_on(text, word, match.end()):
        return False
    following = _TOKEN.match(text, match.end())
    if following is None:
        return False
    spaced_ellipsis = not word and text[mark - 2 : mark] == ". "
    return breaks(f"{'..' if spaced_ellipsis else word}{text[mark]} {following[0]}")


def _goes_on(text: str, word: str, end: int) -> bool:
    """Whether a full stop after ``word`` is certainly within a sentence, where ``end`` is the next word's
    begin: before an ellipsis, among a name's initials, in a taxonomic name."""
    if text.startswith((". ", "..", ".)", ".]", "…"), end):
        return True
    if _TAXON.fullmatch(word):
        return _LETTER_AND_VERB.match(text, end) is not None
    if not _INITIALS.fullmatch(word):
        return False
    if _NAME_AFTER_INITIALS.match(text, end):
        return True
    name = _NAME.match(text, end) if "." in word and word.lower() not in ABBREVIATIONS else None
    return name is not None and name[1].lower() not in STARTERS


def _skip_space(text: str, begin: int) -> int:
    return len(text) - len(text[begin:].lstrip())
