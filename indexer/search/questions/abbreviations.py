"""Abbreviations and long forms in a question: where they are, and what is searched for and read for each."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from bioqa.indexer.medline.abbreviations import definitions
from bioqa.indexer.search.defined import long_key, short_key
from bioqa.indexer.search.evidence import Evidence
from bioqa.indexer.search.questions.chunks import Chunk, cut
from bioqa.indexer.search.questions.known import KnownWords
from bioqa.indexer.search.questions.meanings import (
    Meaning,
    by_long,
    by_short,
    is_usual,
    of_abbreviation,
    of_long_form,
    usual_shorts,
)
from bioqa.indexer.search.questions.pieces import Abbreviated, Ways
from bioqa.indexer.search.wording import Best, Every, Wording

LONGEST_PHRASE = 10
"""Words of a long form, or of a synonym."""

MOST_ABBREVIATIONS = 16
"""Read in one question, and as many long forms; each needs searches. BioASQ's questions have 7 and 5."""

COMMON = 3.0
"""An abbreviation in this many times the documents of its long form is the word for it (DNA)."""

PREVAILING = 5.0
"""An abbreviation in this many times the documents is read by rankers even where the long form was asked."""

PREVAILING_NAME = 1.5
"""The same for names with digits: FGFR3."""

LONGEST_READ = 6
"""Words of a long form that a ranker reads."""

LEAST_RARITY = 0.01
"""Instead of zero, by which nothing can be divided."""

_POSSESSIVE = re.compile(r"(?<=[^\W\d_])'s\b")
_SYMBOLS = re.compile(
    r"\b(?:proteins?|genes?|isoforms?|kinases?|receptors?|mutations?|locus|loci|enzymes?"
    r"|transcription factors?)\b",
    re.IGNORECASE,
)
"""Words beside which an abbreviation is a symbol, the name that people write: CREB is a memory protein."""


@dataclass(frozen=True, slots=True)
class Mention:
    """An abbreviation or a long form in a question."""

    meaning: Meaning
    words: int
    """How many words of the question it takes."""
    is_long: bool

    @property
    def key(self) -> str:
        return short_key(self.meaning.short)


def phrases(chunks: Sequence[Chunk], shortest: int) -> dict[tuple[int, int], str]:
    """Keys of phrases of ``shortest`` parts or more by their first chunk and number of chunks, the longest
    first. At most ten for each word."""
    words = [long_key(chunk.text) for chunk in chunks]
    return {
        (begin, length): "".join(words[begin : begin + length])
        for length in range(min(LONGEST_PHRASE, len(chunks)), 0, -1)
        for begin in range(len(chunks) - length + 1)
        if not chunks[begin].stop
        and not chunks[begin + length - 1].stop
        and sum(len(chunk.parts) for chunk in chunks[begin : begin + length]) >= shortest
    }


def find(text: str, chunks: Sequence[Chunk], evidence: Evidence) -> dict[int, Mention]:
    """The abbreviations and long forms of a text whose meaning is clear, by their first chunk."""
    long = _long_forms(chunks, evidence)
    return long | _short_forms(text, chunks, long, evidence)


def _long_forms(chunks: Sequence[Chunk], evidence: Evidence) -> dict[int, Mention]:
    places = phrases(chunks, shortest=2)
    of_phrases = by_long(evidence.definitions((), {*places.values()}))
    # In the order of the phrases: of overlapping ones the longest is taken.
    keys = [*islice((key for key in dict.fromkeys(places.values()) if key in of_phrases), MOST_ABBREVIATIONS)]
    shorts = {short_key(usual.short) for key in keys for usual in usual_shorts(of_phrases[key])}
    of_shorts = by_short(evidence.definitions(shorts, ())) if shorts else {}
    meanings = {key: of_long_form(of_phrases[key], of_shorts) for key in keys}
    taken: set[int] = set()
    mentions: dict[int, Mention] = {}
    for (begin, length), key in places.items():
        numbers = range(begin, begin + length)
        if taken.isdisjoint(numbers) and (meaning := meanings.get(key)):
            taken.update(numbers)
            mentions[begin] = Mention(meaning, length, is_long=True)
    return mentions


def _short_forms(
    text: str, chunks: Sequence[Chunk], long: Mapping[int, Mention], evidence: Evidence
) -> dict[int, Mention]:
    taken = {begin + more for begin, mention in long.items() for more in range(mention.words)}
    # What the question itself defines means nothing else, and has its long form there.
    defined = {short_key(definition.short) for definition in definitions(text)}
    defined -= {mention.key for mention in long.values()}
    keys = {
        number: key
        for number, chunk in enumerate(chunks)
        if number not in taken
        and not chunk.stop
        and _like_abbreviation(chunk.text)
        and text[max(0, chunk.begin - 1) : chunk.begin] != "'"
        and (key := short_key(chunk.text)) not in defined
    }
    looked_up = {*islice(dict.fromkeys(keys.values()), MOST_ABBREVIATIONS)}
    of_words = by_short(evidence.definitions(looked_up, ())) if looked_up else {}
    meanings: dict[int, Meaning] = {}
    for number, key in islice(((n, key) for n, key in keys.items() if key in of_words), MOST_ABBREVIATIONS):
        short = chunks[number].text
        context = " ".join(chunk.text for chunk in chunks if not chunk.stop and chunk.text != short)
        if meaning := of_abbreviation(short, of_words[key], context, evidence):
            meanings[number] = meaning
    longs = {long_key(meaning.long) for meaning in meanings.values()}
    of_longs = by_long(evidence.definitions((), longs)) if longs else {}
    return {
        number: Mention(meaning, 1, is_long=False)
        for number, meaning in meanings.items()
        if is_usual(meaning, of_longs.get(long_key(meaning.long), ()))
    }


@dataclass(frozen=True, slots=True)
class Both:
    """What is searched for and read for an abbreviation or its long form."""

    wording: Wording
    piece: Abbreviated
    other: str
    """The one that the question does not have."""


def write(mention: Mention, phrase: str, text: str, known: KnownWords) -> Both:
    """Write an abbreviation and its long form, of which the better one counts. ``phrase``: the one that the
    question has; ``text``: the whole question."""
    meaning = mention.meaning
    short, long = (meaning.short, phrase) if mention.is_long else (phrase, meaning.long)
    of_short, of_long = cut(short)[0], cut(long)
    plain, usual = _POSSESSIVE.sub("", long), _POSSESSIVE.sub("", meaning.long)
    known.look_up([of_short, *of_long])
    known.look_up_texts([short, plain, usual])
    documents = max(known.count(plain), known.count(usual))
    ratio = known.count(short) / max(documents, 1)
    common = meaning.dominant and ratio > COMMON
    weight = 1.0 if mention.is_long and not common else _weight(of_short, of_long, known)
    if mention.is_long:
        rather = PREVAILING_NAME if _like_name(short) else PREVAILING
        read_long = not (meaning.dominant and ratio > rather)
    else:
        # Names of genes and trials, such as BRCA1, hERG and ARISTOTLE, are hardly called by their long form.
        word = len(of_long) == 1 and documents < known.count(short)
        name = word or len(of_long) > LONGEST_READ or _like_name(short)
        there = long_key(meaning.long) in long_key(text)
        read_long = not (common or name or there or _SYMBOLS.search(text))
    wordings, pieces = _write_long(long, of_long, known)
    wording, short_ways = known.write(of_short)
    every = Every(tuple(wordings), weight)
    return Both(
        Best((every, wording)) if wording is not None else every,
        Abbreviated(short_ways, tuple(pieces), mention.is_long, read_long, meaning.dominant),
        short if mention.is_long else long,
    )


def _weight(short: Chunk, long: Sequence[Chunk], known: KnownWords) -> float:
    """What the words of a long form weigh so that together they count no more than the abbreviation: a
    document's score is a sum over words, and each counts by its rarity."""
    of_short = sum(map(known.rarity, short.parts))
    of_long = sum(known.rarity(part) for chunk in long if not chunk.stop for part in chunk.parts)
    return min(1.0, of_short / max(of_long, LEAST_RARITY))


def _write_long(
    long: str, chunks: Sequence[Chunk], known: KnownWords
) -> tuple[list[Wording], list[str | Ways]]:
    """A long form as what to search for, and as pieces. What is behind its last word is left out."""
    wordings: list[Wording] = []
    pieces: list[str | Ways] = []
    at = 0
    for chunk in chunks:
        wording, ways = known.write(chunk)
        pieces += [long[at : chunk.begin], ways if len(ways.texts) > 1 else chunk.text]
        at = chunk.end
        if wording is not None and not chunk.stop:
            wordings.append(wording)
    return wordings, [piece for piece in pieces if piece != ""]


def _like_abbreviation(text: str) -> bool:
    """ "AIDS" and "mTOR" look like one, "Aids" and "aids" are words."""
    return len(text) <= 12 and (
        sum(map(str.isupper, text)) > 1 or any(map(str.isdigit, text)) or text[1:] != text[1:].lower()
    )


def _like_name(short: str) -> bool:
    """ "FGFR3", "circRNA" and "RNAseq", but not "MSCs"."""
    return any(map(str.isdigit, short)) or any(map(str.islower, short.removesuffix("s")))
