"""Texts of no index, ranked for a question."""

from collections.abc import Sequence
from dataclasses import dataclass

from bioqa.app.answers.answering import rank_and_select
from bioqa.app.answers.reranking import GivenText, ScoredText, as_retrieved, scored_texts
from bioqa.asking import Ranker, checked, default_ranker


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
    given = [GivenText(each) if isinstance(each, str) else GivenText(each[1], each[0]) for each in texts]
    if not given:
        return []
    [answer] = rank_and_select(ranker, [as_retrieved(given, checked(question).body, ranker)])
    return [_ranked(each, given[each.position]) for each in scored_texts(answer, ranker)]


def _ranked(each: ScoredText, given: GivenText) -> RankedText:
    sections = {"title": given.title, "abstract": given.text}
    sentences = tuple(
        TextSentence(found.score, sections[found.sentence.section][found.sentence.begin : found.sentence.end])
        for found in each.sentences
    )
    return RankedText(each.position, each.score, given.text, given.title, sentences)
