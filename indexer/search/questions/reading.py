"""Reading a question: other ways to write its words, abbreviations and long forms, synonyms, misspelt words.

Whatever way a thing is written in, the same is looked for: all ways that the index has, of which the best
counts (``Best``), and a rare way counts no more than the usual one. After the search, a ranker gets the
question in the ways that its candidates use most, and the candidates with the other ways rewritten, so that
it sees matches where it would see different words (bioqa.indexer.search.questions.rewriting).

Each step is linear in the question's words, of which there are at most ``condensing.LONG_TERMS``, and looks
at a bounded number of what the index knows of each. The engine's searches grow with the index, so their sum
has a limit of processor time (bioqa.indexer.search.questions.budget).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from bioqa.indexer.search.defined import short_key
from bioqa.indexer.search.evidence import Evidence
from bioqa.indexer.search.questions import abbreviations, names
from bioqa.indexer.search.questions.abbreviations import Mention, phrases
from bioqa.indexer.search.questions.budget import Budget, BudgetedEvidence, BudgetSpent
from bioqa.indexer.search.questions.chunks import Chunk, cut
from bioqa.indexer.search.questions.condensing import is_long
from bioqa.indexer.search.questions.corrections import correct, correctable
from bioqa.indexer.search.questions.known import KnownWords
from bioqa.indexer.search.questions.lay_words import Names, known_names
from bioqa.indexer.search.questions.names import Called
from bioqa.indexer.search.questions.pieces import Piece, join
from bioqa.indexer.search.synonyms import NO_SYNONYMS, Synonyms
from bioqa.indexer.search.wording import Best, Every, Wording, Words
from bioqa.system.characters import fold, normalise
from bioqa.system.identification import foreign_language, function_words
from bioqa.system.schema import DESCRIBED_BY_DOCSTRINGS

SYNONYM_WEIGHT = 0.5

MOST_CORRECTIONS = 8
"""Unknown words of one question that are looked up: each needs three searches and the words of up to 180
documents. BioASQ's questions have two."""

Why = Literal["spelling", "abbreviation", "name", "synonym"]
"""Spelling: other ways to write the same word. Name: brand names, British and American ones, lay words."""


@dataclass(frozen=True, slots=True)
class CorrectedWord:
    """A word that no document has, and what was taken for it."""

    __pydantic_config__ = DESCRIBED_BY_DOCSTRINGS

    word: str
    """As the question has it."""
    correction: str


@dataclass(frozen=True, slots=True)
class Expansion:
    """Words of the question, and what was searched for beside them."""

    __pydantic_config__ = DESCRIBED_BY_DOCSTRINGS

    words: str
    """As the question has them."""
    also: tuple[str, ...]
    why: Why
    """spelling: other ways to write the same word, such as Greek letters or hyphens. name: brand names,
    British and American names of drugs, lay words."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A question as it was understood."""

    asked: str
    wording: Every
    pieces: tuple[Piece, ...] = ()
    """The question in order: texts between, and what may be written otherwise."""
    corrections: tuple[CorrectedWord, ...] = ()
    expansions: tuple[Expansion, ...] = ()
    cut_short: bool = False
    """Whether reading would have taken too much processor time, so that the question is taken literally."""

    @property
    def text(self) -> str:
        """The question, its misspelt words corrected."""
        return join(self.pieces)

    @property
    def explained(self) -> str:
        """``text`` for an encoder, which may not know every name.

        What citations say for a name stands before it; a long form stands behind its abbreviation, and the
        reverse. The second of the two is in brackets.
        """
        explained = self.text
        for expansion in self.expansions:
            if expansion.why in ("name", "abbreviation"):
                explained = _explain(expansion, explained)
        return explained

    def __bool__(self) -> bool:
        """Whether anything was understood otherwise than it was asked."""
        return bool(self.corrections or self.expansions)


def _explain(expansion: Expansion, question: str) -> str:
    """The question with the first other way to say it beside what it is expanded by, unless it has both."""
    also = expansion.also[0]
    words = re.search(rf"(?<!\w){re.escape(expansion.words)}(?!\w)", question, re.IGNORECASE)
    if words is None or also.lower() in question.lower():
        return question
    pair = f"{also} ({words[0]})" if expansion.why == "name" else f"{words[0]} ({also})"
    return question[: words.start()] + pair + question[words.end() :]


def read(
    question: str, evidence: Evidence, synonyms: Synonyms = NO_SYNONYMS, budget: Budget | None = None
) -> Reading:
    """Read a question with what an index knows. A long one, such as an abstract, is taken literally: it has
    enough words of its own. So is one whose reading exceeds the budget (default: a second of processor time),
    and says so in ``cut_short``. Raises what the index raises.
    """
    text = normalise(question).strip()
    if is_long(text):
        return _literal(question, text)
    known_names()  # read once, a quarter of a second that the first question's budget need not pay
    try:
        return _Reader(text, BudgetedEvidence(evidence, budget or Budget()), synonyms).read(question)
    except BudgetSpent:
        return _literal(question, text, cut_short=True)


def _literal(question: str, text: str, *, cut_short: bool = False) -> Reading:
    return Reading(question, Every((Words(text),)), (text,), cut_short=cut_short)


class _Reader:
    """Reads one question."""

    def __init__(self, text: str, evidence: Evidence, synonyms: Synonyms) -> None:
        # As retrieval reads it, and rankers; what is foreign is seen by accents.
        self._text = fold(text)
        self._evidence = evidence
        self._synonyms = synonyms
        self._language = foreign_language(text)
        self._known = KnownWords(evidence)
        self._names: Names = known_names()
        self._wordings: list[Wording] = []
        self._pieces: list[Piece] = []
        self._expansions: list[Expansion] = []

    def read(self, question: str) -> Reading:
        chunks = self._cut()
        self._known.look_up(chunks)
        # What no citation has is right in another language.
        corrections = [] if self._language else self._correct(chunks)
        if corrections:
            chunks = self._cut()
            self._known.look_up(chunks)
        mentions = abbreviations.find(self._text, chunks, self._evidence)
        taken = {number + more for number, mention in mentions.items() for more in range(mention.words)}
        self._understand(chunks, mentions, names.find(chunks, self._names, self._known, taken))
        self._add_synonyms(chunks)
        return Reading(
            question,
            Every(tuple(self._wordings)),
            tuple(piece for piece in self._pieces if piece != ""),
            tuple(corrections),
            tuple(self._expansions),
        )

    def _cut(self) -> list[Chunk]:
        chunks = cut(self._text)
        if self._language:
            # Few citations have them, so all of these would come first: summaries in that language.
            grammar = {*map(fold, function_words(self._language))}
            for chunk in chunks:
                chunk.stop |= chunk.text.lower() in grammar and not chunk.text.isupper()
        return chunks

    # Misspelt words

    def _correct(self, chunks: Sequence[Chunk]) -> list[CorrectedWord]:
        """Correct, in the text, the words that no document has, except for names of what some have."""
        called = names.find(chunks, self._names, self._known)
        named = {number + more for number, call in called.items() for more in range(call.words)}
        known = [number in named or self._known.has(chunk) for number, chunk in enumerate(chunks)]
        context = " ".join(
            chunk.text for chunk, has in zip(chunks, known, strict=True) if has and not chunk.stop
        )
        unknown = (
            chunk for chunk, has in zip(chunks, known, strict=True) if not has and correctable(chunk.text)
        )
        corrections = [
            (chunk, correction)
            for chunk in islice(unknown, MOST_CORRECTIONS)
            if (correction := correct(chunk.text, context, self._evidence)) is not None
        ]
        # From the end, so that the places of those before stay right.
        for chunk, correction in reversed(corrections):
            self._text = self._text[: chunk.begin] + correction + self._text[chunk.end :]
        return [CorrectedWord(chunk.text, correction) for chunk, correction in corrections]

    # Words and abbreviations

    def _understand(
        self, chunks: Sequence[Chunk], mentions: Mapping[int, Mention], called: Mapping[int, Called]
    ) -> None:
        """Find what to search for, and cut the question into pieces, from its first word to its last."""
        # Of an abbreviation and a long form that are both there, a ranker reads both.
        in_full = {mention.key for mention in mentions.values() if mention.is_long}
        in_full &= {short_key(chunk.text) for chunk in chunks if not chunk.stop}
        understood: set[str] = set()
        at, number = 0, 0
        while number < len(chunks):
            chunk, mention, call = chunks[number], mentions.get(number), called.get(number)
            either = mention or call
            words = either.words if either else 1
            last = chunks[number + words - 1]
            self._pieces.append(self._text[at : chunk.begin])
            if call is not None:
                self._pieces.append(self._call(call, chunks[number : number + words]))
            elif mention is None:
                self._pieces.append(self._word(chunk))
            elif mention.key in understood:  # the question has both
                self._pieces.append(self._text[chunk.begin : last.end])
            else:
                understood.add(mention.key)
                phrase = self._text[chunk.begin : last.end]
                abbreviated = self._mention(mention, phrase)
                self._pieces.append(phrase if mention.key in in_full else abbreviated)
            number += words
            at = last.end
        self._pieces.append(self._text[at:])

    def _word(self, chunk: Chunk) -> Piece:
        wording, ways = self._known.write(chunk)
        if wording is not None and not chunk.stop:
            self._wordings.append(wording)
            self._expand("spelling", chunk.text, ways.texts[1:])
        return ways if len(ways.texts) > 1 else chunk.text

    def _mention(self, mention: Mention, phrase: str) -> Piece:
        both = abbreviations.write(mention, phrase, self._text, self._known)
        self._wordings.append(both.wording)
        self._expand("abbreviation", phrase, [both.other])
        return both.piece

    def _call(self, call: Called, chunks: Sequence[Chunk]) -> Piece:
        phrase = self._text[chunks[0].begin : chunks[-1].end]
        wordings, piece = names.write(call, phrase, chunks, self._known)
        self._wordings += wordings
        self._expand("name", phrase, call.others)
        return piece

    def _expand(self, why: Why, words: str, also: Iterable[str]) -> None:
        lower = words.lower()
        if others := tuple(dict.fromkeys(text for text in also if text.lower() != lower)):
            self._expansions.append(Expansion(words, others, why))

    # Synonyms

    def _add_synonyms(self, chunks: Sequence[Chunk]) -> None:
        """Search for synonyms, too, which count for less than the words that were asked."""
        if not self._synonyms:
            return
        by_key = {
            key: self._text[chunks[begin].begin : chunks[begin + length - 1].end]
            for (begin, length), key in phrases(chunks, shortest=1).items()
        }
        for key, others in self._synonyms.of(by_key).items():
            self._known.look_up_texts(others)
            if there := self._known.among(others):
                self._wordings.append(Best(tuple(Words(text, SYNONYM_WEIGHT) for text in there)))
                self._expand("synonym", by_key[key], there)
