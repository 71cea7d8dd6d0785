"""Texts of a request, ranked as documents of the index are."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from bioqa.app.answers.answer import Answer
from bioqa.app.answers.answering import LoadedRanker, Ranker, Retrieved
from bioqa.app.answers.question import DEFAULT_OPTIONS
from bioqa.bioasq.domain import Document, Question, Sentence
from bioqa.bioasq.labels import is_label
from bioqa.indexer.medline.sentences import sentences_of
from bioqa.indexer.search.questions.condensing import condense, is_long, words_of
from bioqa.indexer.search.stopwords import STOP_WORDS
from bioqa.models.answers.lexical import CALIBRATION, SCALE
from bioqa.models.answers.ranking import RankedDocument
from bioqa.models.answers.scale import Scale, sigmoid
from bioqa.models.answers.selection import Calibration, first_log_weights, probability

_WORD = re.compile(r"\S+")
_TERM = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class GivenText:
    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class TextDocument(Document):
    """A text with its positions in the request. Its PMID is empty: rankers know it as not indexed."""

    positions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence of the title, or of the text (section ``abstract``); ``score`` in [0, 1]."""

    sentence: Sentence
    score: float


@dataclass(frozen=True, slots=True)
class ScoredText:
    """``position`` in the request, from 0; ``score`` in [0, 1]."""

    position: int
    score: float
    sentences: tuple[ScoredSentence, ...]
    """All sentences that answers could select, best first; ties keep reading order."""


def truncate_words(text: str, words: int | None) -> str:
    """Return the first ``words`` words, which white space separates; None returns the whole text."""
    # A text has at most as many words as characters, and islice takes no number above sys.maxsize.
    if words is None or words > len(text):
        return text
    last = next(islice(_WORD.finditer(text), words - 1, None), None)
    return text if last is None else text[: last.end()]


def as_retrieved(texts: Sequence[GivenText], question: str, ranker: Ranker) -> Retrieved:
    """Turn texts into candidates, all of which the answer will hold.

    Equal texts become one candidate: ranked apart, rounding could give them different scores.
    """
    positions: dict[GivenText, list[int]] = {}
    for position, text in enumerate(texts):
        positions.setdefault(text, []).append(position)
    documents = [
        TextDocument(
            "", 1, t.title, t.text, None, sentences_of(t.title, t.text, ()), positions=tuple(of_text)
        )
        for t, of_text in positions.items()
    ]
    words = _condense(question, [*positions]) if is_long(question) else None
    candidates = ranker.candidates(words or question.strip(), documents)
    candidates.sort(key=lambda candidate: -candidate.score)  # the order in which an index returns them
    # Of the request's texts there may be more than an answer has documents.
    options = DEFAULT_OPTIONS.with_changes(max_documents=len(documents), max_snippets=0)
    return Retrieved(
        Question("", question), options, candidates, index="", retrieve_ms=0.0, condensed=words, words=words
    )


def _condense(question: str, texts: Sequence[GivenText]) -> str:
    """The words that carry a long question, by the texts of the request: there is nothing else."""
    words = words_of(question)
    having = Counter(term for text in texts for term in set(_terms(f"{text.title} {text.text}")))
    return condense(words, [_terms(word) for word in words], having, len(texts))


def _terms(text: str) -> list[str]:
    return [term for term in _TERM.findall(text.casefold()) if term not in STOP_WORDS]


def scored_texts(answer: Answer, ranker: LoadedRanker) -> list[ScoredText]:
    """Return the texts of an answer, best first; equal ones in the order of the request.

    Scores are probabilities if the ranker has a scale. Without one, a text's is the sigmoid of the ranker's,
    which gives the order alone, and a sentence's is the one that snippets are selected by, without the
    document's share.
    """
    calibration, scale = (CALIBRATION, SCALE) if answer.degraded else (ranker.calibration, ranker.scale)
    return [text for ranked in answer.ranked_documents for text in _score(ranked, calibration, scale)]


def _score(ranked: RankedDocument, calibration: Calibration, scale: Scale | None) -> list[ScoredText]:
    document = ranked.document
    assert isinstance(document, TextDocument)
    if scale is None:
        score = float(sigmoid(np.array(ranked.score)))
        of_sentences = probability(ranked.sentence_scores, calibration)
    else:
        score = ranked.score
        # What the request's other texts say must not count.
        of_sentences = scale.sentences(first_log_weights(replace(ranked, support=()), calibration))
    scored = [ScoredSentence(*pair) for pair in zip(document.sentences, of_sentences.tolist(), strict=True)]
    sentences = [sentence for sentence in scored if not is_label(document, sentence.sentence)]
    best_first = tuple(sorted(sentences, key=lambda sentence: -sentence.score))
    return [ScoredText(position, score, best_first) for position in document.positions]
