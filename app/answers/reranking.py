"""Texts that a request brings along, ranked as documents of the index are."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from bioqa.app.answers.answering import Answer, Found, Ranks, Wanted
from bioqa.bioasq.domain import Document, Question, Sentence
from bioqa.bioasq.labels import is_label
from bioqa.indexer.medline.sentences import sentences_of
from bioqa.models.answers.lexical import CALIBRATION
from bioqa.models.answers.ranking import RankedDocument
from bioqa.models.answers.selection import Calibration, probability

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class GivenText:
    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class TextDocument(Document):
    """A text with its places among those given; without a PMID, as rankers know what is of no index."""

    places: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RatedSentence:
    """A sentence of the title, or of the text (the section ``abstract``); ``score`` in [0, 1]."""

    sentence: Sentence
    score: float


@dataclass(frozen=True, slots=True)
class RatedText:
    """``place`` among the texts given; ``score`` in [0, 1]."""

    place: int
    score: float
    sentences: tuple[RatedSentence, ...]
    """All that answers select from, best first; equal scores keep reading order."""


def cut_after(text: str, words: int | None) -> str:
    """The text up to the end of that word, from 1; words are parted by white space. None cuts nothing."""
    # No text has more words than characters, and a number may be larger than any place can be.
    if words is None or words > len(text):
        return text
    last = next(islice(_WORD.finditer(text), words - 1, None), None)
    return text if last is None else text[: last.end()]


def found_in(texts: Sequence[GivenText], question: str, ranker: Ranks) -> Found:
    """The texts in the place of what an index would have found, all to be handed out.

    Each once, for equal ones must not differ, not even by how a computer rounds.
    """
    places: dict[GivenText, list[int]] = {}
    for place, text in enumerate(texts):
        places.setdefault(text, []).append(place)
    documents = [
        TextDocument("", 1, t.title, t.text, None, sentences_of(t.title, t.text, ()), places=tuple(of_text))
        for t, of_text in places.items()
    ]
    candidates = ranker.candidates(question.strip(), documents)
    candidates.sort(key=lambda candidate: -candidate.score)  # as an index gives them
    wanted = Wanted(max_documents=len(documents), max_snippets=0)
    return Found(Question("", question), wanted, candidates, index="", retrieve_ms=0.0)


def rated(answer: Answer, ranker: Ranks) -> list[RatedText]:
    """The texts of an answer, best first; equal ones in the order given.

    A text's score is the sigmoid of the ranker's, so it tells the order and little more; a sentence's is the
    one that snippets are selected by, but for the document's share in it.
    """
    calibration = CALIBRATION if answer.degraded else ranker.calibration
    return [text for each in answer.documents for text in _rated(each, calibration)]


def _rated(ranked: RankedDocument, calibration: Calibration) -> list[RatedText]:
    document = ranked.document
    assert isinstance(document, TextDocument)
    scores = probability(ranked.sentence_scores, calibration).tolist()
    rated = [RatedSentence(*pair) for pair in zip(document.sentences, scores, strict=True)]
    sentences = [each for each in rated if not is_label(document, each.sentence)]
    best_first = tuple(sorted(sentences, key=lambda each: -each.score))
    # tanh does not overflow where exp would.
    score = 0.5 * (1.0 + math.tanh(0.5 * ranked.score))
    return [RatedText(place, score, best_first) for place in document.places]
