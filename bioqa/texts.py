"""Texts of no index, ranked for a question."""

from collections.abc import Sequence
from dataclasses import dataclass

from bioqa.app.answers.answering import rank_and_select
from bioqa.app.answers.reranking import GivenText, ScoredText, as_retrieved, scored_texts
from bioqa.asking import Ranker, check_question, default_ranker


@dataclass(frozen=True, slots=True)
class TextSentence:
    """A sentence of a ranked text, or of its title; ``score`` in [0, 1]."""

    score: float
    text: str


@dataclass(frozen=True, slots=True)
class RankedText:
    """``place`` among the texts given, from 0; ``score`` in [0, 1]; sentences, best first."""

    place: int
    score: float
    text: str
    title: str
    sentences: tuple[TextSentence, ...]


def rank(
    question: str, texts: Sequence[str | tuple[str, str]], ranker: Ranker | None = None
) -> list[RankedText]:
    """Rank texts of your own, best first: each a text, or a title with its text.

    ``ranker``: ``bioqa.load_ranker()``, loaded once, if None. Scores order these texts and mean little more.
    Raises BioqaError if the question is empty.

    >>> texts = ["Metformin lowers glucose. It is cheap.", ("Aspirin", "Aspirin thins the blood.")]
    >>> ranked = bioqa.rank("Does metformin lower glucose?", texts)
    >>> [each.place for each in ranked]
    [0, 1]
    >>> ranked[0].sentences[0].text
    'Metformin lowers glucose.'
    """
    ranker = ranker or default_ranker()
    given = [GivenText(text) if isinstance(text, str) else GivenText(text[1], text[0]) for text in texts]
    if not given:
        return []
    [answer] = rank_and_select(ranker, [as_retrieved(given, check_question(question).body, ranker)])
    return [_rank_text(scored, given[scored.position]) for scored in scored_texts(answer, ranker)]


def _rank_text(scored: ScoredText, given: GivenText) -> RankedText:
    sections = {"title": given.title, "abstract": given.text}
    sentences = tuple(
        TextSentence(
            ranked.score, sections[ranked.sentence.section][ranked.sentence.begin : ranked.sentence.end]
        )
        for ranked in scored.sentences
    )
    return RankedText(scored.position, scored.score, given.text, given.title, sentences)
