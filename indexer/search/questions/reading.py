"""Reading a question: other ways to write its words, abbreviations and long forms, synonyms, misspelt words.

Whatever way a thing is written in, the same is looked for: all ways that the index has, of which the best
counts (``Best``), and a rare way counts no more than the usual one. After the search, a ranker gets the
question in the ways that its candidates use most, and the candidates with the other ways rewritten, so that
it sees matches where it would see different words (bioqa.indexer.search.questions.rewriting).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Literal

from bioqa.indexer.medline.abbreviations import definitions
from bioqa.indexer.search.defined import long_key, short_key
from bioqa.indexer.search.evidence import Evidence, rarity
from bioqa.indexer.search.questions.corrections import correctable, corrected
from bioqa.indexer.search.questions.meanings import Meaning, is_usual, of_abbreviation, of_long_form
from bioqa.indexer.search.spelling import spelt_otherwise
from bioqa.indexer.search.stopwords import STOP_WORDS
from bioqa.indexer.search.synonyms import NO_SYNONYMS, Synonyms
from bioqa.indexer.search.wording import Best, Every, Wording, Words
from bioqa.system.characters import GREEK, GREEK_NAMES, normalised

MAX_CHARACTERS = 1000
"""Of a question that is read; a longer one, such as an abstract, has enough words of its own."""

MAX_PARTS = 5
"""Parts of a hyphened word that are joined in all ways; one with more parts is taken as it is."""

LONGEST_PHRASE = 10
"""Words of a long form, or of a synonym."""

COMMON = 3.0
"""An abbreviation in this many times the documents of its long form is the word for it (DNA)."""

PREVAILING = 5.0
"""An abbreviation in this many times the documents is read by rankers even where the long form was asked."""

PREVAILING_NAME = 1.5
"""The same for names with digits: FGFR3."""

LONGEST_READ = 6
"""Words of a long form that a ranker reads."""

SYNONYM_WEIGHT = 0.5

_STOP = frozenset(STOP_WORDS)
_CHUNK = re.compile(r"(?!(?<=[^\W\d_]')s\b)[^\W_]+(?:-[^\W_]+)*")
"""Without the s of a possessive, which is no word of its own."""
_POSSESSIVE = re.compile(r"(?<=[^\W\d_])'s\b")
_CAPITALS = re.compile("(?!AND|OR|NOT)[A-Z]{2,4}")
"""A short word in capitals, but no operator."""
_SYMBOLS = re.compile(
    r"\b(?:proteins?|genes?|isoforms?|kinases?|receptors?|mutations?|locus|loci|enzymes?"
    r"|transcription factors?)\b",
    re.IGNORECASE,
)
"""Words beside which an abbreviation is a symbol, the name that people write: CREB is a memory protein."""
_PART = re.compile(r"[Ͱ-Ͽ]|[^\W_Ͱ-Ͽ]+")
_JOINED = re.compile(rf"([A-Za-z]{{2,}})([0-9]{{1,4}})|([A-Z]{{2,}}[A-Z0-9]*)({'|'.join(GREEK)})")


Why = Literal["spelling", "abbreviation", "synonym"]
"""Spelling: other ways to write the same word."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A word that no document has, and what was taken for it."""

    word: str
    correction: str


@dataclass(frozen=True, slots=True)
class Expansion:
    """Words of the question, and what was searched for beside them."""

    words: str
    also: tuple[str, ...]
    why: Why


@dataclass(frozen=True, slots=True)
class Ways:
    """Ways to write a word, as texts that a document may have; the first is the question's."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Abbreviated:
    """An abbreviation and its long form, one of which the question has."""

    short: Ways
    long: "tuple[str | Ways, ...]"
    asked_long: bool
    read_long: bool
    """Whether a ranker reads the long form."""
    dominant: bool
    """Whether the abbreviation nearly always has this long form."""


Piece = str | Ways | Abbreviated


@dataclass(frozen=True, slots=True)
class Reading:
    """A question as it was understood."""

    asked: str
    wording: Every
    pieces: tuple[Piece, ...] = ()
    """The question in order: texts between, and what may be written otherwise."""
    corrections: tuple[Correction, ...] = ()
    expansions: tuple[Expansion, ...] = ()

    @property
    def text(self) -> str:
        """The question, its misspelt words corrected."""
        return as_asked(self.pieces)

    def __bool__(self) -> bool:
        """Whether anything was understood otherwise than it was asked."""
        return bool(self.corrections or self.expansions)


def as_asked(pieces: Iterable[Piece]) -> str:
    """As the question has it."""
    return "".join(map(_asked, pieces))


def _asked(piece: Piece) -> str:
    match piece:
        case str():
            return piece
        case Ways(texts):
            return texts[0]
        case Abbreviated(short, long, asked_long):
            return as_asked(long if asked_long else (short,))


def read(question: str, evidence: Evidence, synonyms: Synonyms = NO_SYNONYMS) -> Reading:
    """Read a question with what an index knows. Raises what the index raises."""
    text = normalised(question).strip()
    if len(text) > MAX_CHARACTERS:
        return Reading(question, Every((Words(text),)), (text,))
    return _Reader(question, text, evidence, synonyms).read()


@dataclass(slots=True)
class _Chunk:
    """A word of the question, perhaps with hyphens."""

    text: str
    begin: int
    end: int
    parts: tuple[str, ...] = field(init=False)
    stop: bool = field(init=False)

    def __post_init__(self) -> None:
        self.parts = tuple(_parts(self.text))
        self.stop = self.text.lower() in _STOP


def _chunks(text: str) -> list[_Chunk]:
    chunks = [_Chunk(found.group(), found.start(), found.end()) for found in _CHUNK.finditer(text)]
    if not text.isupper():
        # "Treatment of ALL" in capitals means leukaemia.
        for chunk in chunks[1:]:
            chunk.stop &= not _CAPITALS.fullmatch(chunk.text)
    return chunks


def _parts(chunk: str) -> Iterator[str]:
    """ "TNFα" and "TNF-α" have two parts, as have "IL6" and "IL-6"."""
    for text in chunk.split("-"):
        for part in _PART.findall(text):
            joined = _JOINED.fullmatch(part)
            yield from filter(None, joined.groups()) if joined else (part,)


def _spellings(part: str) -> list[str]:
    """The part itself first, then other ways to write it, some of which may be no words."""
    lower = part.lower()
    found = [part, *spelt_otherwise(lower)]
    if other := GREEK.get(lower) or GREEK_NAMES.get(lower):
        found.append(other)
    return found


def _cuts(parts: Sequence[str]) -> Iterator[tuple[tuple[str, ...], ...]]:
    """All ways to join neighbouring parts; the first joins none, the last all."""
    for joins in product((False, True), repeat=len(parts) - 1):
        runs = [[parts[0]]]
        for part, joined in zip(parts[1:], joins, strict=True):
            if joined:
                runs[-1].append(part)
            else:
                runs.append([part])
        yield tuple(map(tuple, runs))


def _joined(run: Sequence[str]) -> list[str]:
    """One word of several parts, each in all its spellings."""
    return ["".join(texts) for texts in product(*map(_spellings, run))][:8]


class _Reader:
    """Reads one question."""

    def __init__(self, question: str, text: str, evidence: Evidence, synonyms: Synonyms) -> None:
        self._question = question
        self._text = text
        self._evidence = evidence
        self._synonyms = synonyms
        self._counts: dict[str, int] = {}
        self._size = evidence.size()
        self._corrections: list[Correction] = []
        self._expansions: list[Expansion] = []

    def read(self) -> Reading:
        chunks = _chunks(self._text)
        self._look_up(chunks)
        if self._correct(chunks):
            chunks = _chunks(self._text)
            self._look_up(chunks)
        long = self._long_forms(chunks)
        short = self._short_forms(chunks, long)
        # Of an abbreviation and a long form that are both there, a ranker reads both.
        both = {short_key(meant.short) for meant, _ in long.values()}
        both &= {short_key(chunk.text) for chunk in chunks if not chunk.stop}
        wordings: list[Wording] = []
        pieces: list[Piece] = []
        seen: set[str] = set()
        at, number = 0, 0
        while number < len(chunks):
            chunk = chunks[number]
            pieces.append(self._text[at : chunk.begin])
            meant, length = long.get(number) or (short.get(number), 1)
            last = chunks[number + length - 1]
            phrase = self._text[chunk.begin : last.end]
            number, at = number + length, last.end
            if meant is not None:
                key = short_key(meant.short)
                if key in seen:  # the question has both
                    pieces.append(phrase)
                    continue
                seen.add(key)
                asked_long = number - length in long
                wordings.append(self._abbreviated(meant, phrase, asked_long=asked_long, pieces=pieces))
                if key in both:
                    pieces[-1] = phrase
                continue
            wording, ways = self._written(chunk)
            pieces.append(ways if len(ways.texts) > 1 else chunk.text)
            if wording is not None and not chunk.stop:
                wordings.append(wording)
                self._expand("spelling", chunk.text, ways.texts[1:])
        pieces.append(self._text[at:])
        wordings = self._with_synonyms(chunks, wordings)
        return Reading(
            self._question,
            Every(tuple(wordings)),
            tuple(piece for piece in pieces if piece != ""),
            tuple(self._corrections),
            tuple(self._expansions),
        )

    def _expand(self, why: Why, words: str, also: Iterable[str]) -> None:
        lower = words.lower()
        if others := tuple(dict.fromkeys(text for text in also if text.lower() != lower)):
            self._expansions.append(Expansion(words, others, why))

    # Counts

    def _look_up(self, chunks: Iterable[_Chunk]) -> None:
        """Learn at once how many documents have what the chunks may be written as."""
        wanted: dict[str, None] = {}
        for chunk in chunks:
            for part in chunk.parts:
                wanted |= dict.fromkeys(_spellings(part))
            if 1 < len(chunk.parts) <= MAX_PARTS:
                for cut in _cuts(chunk.parts):
                    for run in cut:
                        if len(run) > 1:
                            wanted |= dict.fromkeys(_joined(run))
        self._count(wanted)

    def _count(self, texts: Iterable[str]) -> None:
        unknown = [text for text in texts if text not in self._counts]
        if unknown:
            self._counts |= zip(unknown, self._evidence.counts(unknown), strict=True)

    def _rarity(self, text: str) -> float:
        return rarity(self._counts[text], self._size)

    # Words

    def _known(self, texts: Sequence[str]) -> list[str]:
        return [text for text in texts if self._counts[text]]

    def _one_of(self, texts: Sequence[str]) -> Wording | None:
        """A word in several spellings: the rarer ones count as much as the most frequent one."""
        known = self._known(texts)
        if not known:
            return None
        usual = min(map(self._rarity, known))
        ways = tuple(Words(text, min(1.0, usual / self._rarity(text))) for text in known)
        return ways[0] if len(ways) == 1 else Best(ways)

    def _written(self, chunk: _Chunk) -> tuple[Wording | None, Ways]:
        """A chunk in all ways that the index has, and as texts."""
        parts = chunk.parts
        if len(parts) == 1:
            spellings = _spellings(parts[0])
            texts = self._known(spellings)
            return self._one_of(spellings), Ways(tuple(dict.fromkeys([chunk.text, *texts])))
        if len(parts) > MAX_PARTS:
            some = [wording for part in parts if (wording := self._one_of(_spellings(part)))]
            return (Every(tuple(some)) if some else None), Ways((chunk.text,))
        ways: list[Wording] = []
        texts = [chunk.text]
        # Words of letters alone are rewritten for no ranker: each way has its own vectors.
        rewritten = any(part.isdigit() or part in GREEK_NAMES or part.lower() in GREEK for part in parts)
        for cut in _cuts(parts):
            runs = [_spellings(run[0]) if len(run) == 1 else _joined(run) for run in cut]
            found = [self._one_of(run) for run in runs]
            if not any(found) or any(len(run) > 1 and not each for run, each in zip(cut, found, strict=True)):
                continue
            wordings = tuple(each for each in found if each is not None)
            ways.append(wordings[0] if len(wordings) == 1 else Every(wordings))
            if rewritten:
                known = [self._known(run) or run[:1] for run in runs]
                texts += ["-".join(each) for each in product(*known)][:8]
        if not ways:
            return None, Ways((chunk.text,))
        return (ways[0] if len(ways) == 1 else Best(tuple(ways))), Ways(tuple(dict.fromkeys(texts)))

    # Misspelt words

    def _correct(self, chunks: Sequence[_Chunk]) -> bool:
        """Correct, in the text, the words that no document has. Whether there were any."""
        found: list[tuple[_Chunk, str]] = []
        context = " ".join(chunk.text for chunk in chunks if not chunk.stop and self._has_known(chunk))
        for chunk in chunks:
            if self._has_known(chunk) or not correctable(chunk.text):
                continue
            correction = corrected(chunk.text, context, self._evidence)
            if correction is not None:
                found.append((chunk, correction))
        for chunk, correction in reversed(found):
            self._text = self._text[: chunk.begin] + correction + self._text[chunk.end :]
        self._corrections += [Correction(chunk.text, correction) for chunk, correction in found]
        return bool(found)

    def _has_known(self, chunk: _Chunk) -> bool:
        return chunk.stop or any(self._known(_spellings(part)) for part in chunk.parts)

    # Abbreviations

    def _long_forms(self, chunks: Sequence[_Chunk]) -> dict[int, tuple[Meaning, int]]:
        """What long forms in the question are abbreviated to, by the first chunk, and their chunks."""
        phrases = self._phrases(chunks, shortest=2)
        known = self._evidence.definitions((), {*phrases.values()})
        others = self._evidence.definitions({short_key(each.short) for each in known}, ()) if known else ()
        taken: set[int] = set()
        found: dict[int, tuple[Meaning, int]] = {}
        for (begin, length), key in phrases.items():
            numbers = range(begin, begin + length)
            if taken.isdisjoint(numbers) and (meant := of_long_form(key, known, others)):
                taken.update(numbers)
                found[begin] = meant, length
        return found

    def _short_forms(
        self, chunks: Sequence[_Chunk], long: Mapping[int, tuple[Meaning, int]]
    ) -> dict[int, Meaning]:
        """What abbreviations in the question mean, by their chunk."""
        taken = {begin + more for begin, (_, length) in long.items() for more in range(length)}
        # What the question itself defines means nothing else, and has its long form there.
        defined = {short_key(own.short) for own in definitions(self._text)}
        defined -= {short_key(meant.short) for meant, _ in long.values()}
        shorts = {
            number: short_key(chunk.text)
            for number, chunk in enumerate(chunks)
            if number not in taken
            and not chunk.stop
            and _like_abbreviation(chunk.text)
            and self._text[max(0, chunk.begin - 1) : chunk.begin] != "'"
        }
        shorts = {number: key for number, key in shorts.items() if key not in defined}
        known = self._evidence.definitions({*shorts.values()}, ()) if shorts else ()
        found: dict[int, Meaning] = {}
        for number, key in shorts.items():
            text = chunks[number].text
            context = " ".join(chunk.text for chunk in chunks if not chunk.stop and chunk.text != text)
            own = [each for each in known if short_key(each.short) == key]
            if meant := of_abbreviation(text, own, context, self._evidence):
                found[number] = meant
        longs = {long_key(meant.long) for meant in found.values()}
        of_longs = self._evidence.definitions((), longs) if longs else ()
        return {number: meant for number, meant in found.items() if is_usual(meant, of_longs)}

    def _phrases(self, chunks: Sequence[_Chunk], shortest: int) -> dict[tuple[int, int], str]:
        """Keys of phrases by their first chunk and number of chunks, the longest first."""
        words = [long_key(chunk.text) for chunk in chunks]
        return {
            (begin, length): "".join(words[begin : begin + length])
            for length in range(min(LONGEST_PHRASE, len(chunks)), 0, -1)
            for begin in range(len(chunks) - length + 1)
            if not chunks[begin].stop
            and not chunks[begin + length - 1].stop
            and sum(len(chunk.parts) for chunk in chunks[begin : begin + length]) >= shortest
        }

    def _abbreviated(self, meant: Meaning, asked: str, *, asked_long: bool, pieces: list[Piece]) -> Wording:
        """An abbreviation or its long form, of which the better one counts; its piece is appended."""
        short, long = (meant.short, asked) if asked_long else (asked, meant.long)
        chunks = _chunks(long)
        of_short = _chunks(short)[0]
        self._look_up([of_short, *chunks])
        self._count([short, plain := _POSSESSIVE.sub("", long), usual := _POSSESSIVE.sub("", meant.long)])
        wording, short_ways = self._written(of_short)
        texts: list[str | Ways] = []
        words: list[Wording] = []
        at = 0
        for chunk in chunks:
            found, ways = self._written(chunk)
            texts += [long[at : chunk.begin], ways if len(ways.texts) > 1 else chunk.text]
            at = chunk.end
            if found is not None and not chunk.stop:
                words.append(found)
        written = max(self._counts[plain], self._counts[usual])
        ratio = self._counts[short] / max(written, 1)
        common = meant.dominant and ratio > COMMON
        weight = 1.0
        if common or not asked_long:
            # The many words of a long form would count for more than the abbreviation that was asked.
            total = sum(self._rarity(part) for chunk in chunks if not chunk.stop for part in chunk.parts)
            weight = min(1.0, sum(map(self._rarity, of_short.parts)) / max(total, 0.01))
        # Names of genes and trials, such as BRCA1, hERG and ARISTOTLE, are hardly called by their long form.
        word = len(chunks) == 1 and written < self._counts[short]
        name = word or len(chunks) > LONGEST_READ or _like_name(short)
        if asked_long:
            rather = PREVAILING_NAME if _like_name(short) else PREVAILING
            read_long = not (meant.dominant and ratio > rather)
        else:
            there = long_key(meant.long) in long_key(self._text)
            read_long = not (common or name or there or _SYMBOLS.search(self._text))
        parts = tuple(text for text in texts if text != "")
        pieces.append(Abbreviated(short_ways, parts, asked_long, read_long, meant.dominant))
        self._expand("abbreviation", asked, [short if asked_long else long])
        of_long = Every(tuple(words), weight)
        return Best((of_long, wording)) if wording is not None else of_long

    # Synonyms

    def _with_synonyms(self, chunks: Sequence[_Chunk], wordings: list[Wording]) -> list[Wording]:
        """Synonyms count for less than the words that were asked."""
        if not self._synonyms:
            return wordings
        phrases = {
            key: self._text[chunks[begin].begin : chunks[begin + length - 1].end]
            for (begin, length), key in self._phrases(chunks, shortest=1).items()
        }
        for key, others in self._synonyms.of(phrases).items():
            self._count(others)
            if known := self._known(others):
                wordings.append(Best(tuple(Words(text, SYNONYM_WEIGHT) for text in known)))
                self._expand("synonym", phrases[key], known)
        return wordings


def _like_abbreviation(text: str) -> bool:
    """ "AIDS" and "mTOR" look like one, "Aids" and "aids" are words."""
    return len(text) <= 12 and (
        sum(map(str.isupper, text)) > 1 or any(map(str.isdigit, text)) or text[1:] != text[1:].lower()
    )


def _like_name(short: str) -> bool:
    """ "FGFR3", "circRNA" and "RNAseq", but not "MSCs"."""
    return any(map(str.isdigit, short)) or any(map(str.islower, short.removesuffix("s")))
