"""Rankers, and the questions put to them."""

import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Literal

from bioqa.answered import Answer
from bioqa.app.answers import answering
from bioqa.app.answers.answering import Answerer, SearchOptions
from bioqa.app.answers.opening import load_ranker as load_for
from bioqa.app.settings import load_settings
from bioqa.bioasq.domain import MAX_ITEMS, Question
from bioqa.bioasq.errors import BioqaError
from bioqa.bioasq.jsonfile import has_lone_surrogate
from bioqa.indexer.search.filters import NO_FILTERS, Filters
from bioqa.searching import Index

Ranker = answering.Ranker
"""A loaded checkpoint, as ``load_ranker`` gives it; anything that keeps its promises will do."""

AT_ONCE = 16
"""Questions whose candidates are fetched together; more would only cost memory."""


def load_ranker(
    ranker: str | Path | None = None,
    *,
    device: Literal["auto", "cpu", "cuda"] | None = None,
    budget_ms: float | None = None,
    threads: int | None = None,
) -> Ranker:
    """Load a ranker: the name of a bundled one, or a checkpoint's folder.

    What is not given is as ``BIOQA_RANKER``, ``BIOQA_DEVICE``, ``BIOQA_RANKER_BUDGET_MS`` and
    ``BIOQA_TORCH_THREADS`` say (docs/settings.md). ``device`` is an encoder's, ``budget_ms`` a cascade's;
    ``threads`` are torch's, for the whole process. The ranker has a ``name``, a ``hash`` of its files, its
    ``config``, and ``rank(question, candidates)``, which scores every candidate and all its sentences.
    Raises BioqaError, naming what is wrong with the checkpoint or the device.

    >>> ranker = bioqa.load_ranker("jpdrmm")
    >>> ranker.name
    'jpdrmm'
    >>> candidates = bioqa.open_index("sample-index").search("warfarin genes")
    >>> best = ranker.rank("warfarin genes", candidates).documents[0]
    >>> len(best.sentence_scores) == len(best.document.sentences)
    True
    """
    return load_for(
        load_settings(ranker=_text(ranker), device=device, ranker_budget_ms=budget_ms, torch_threads=threads)
    )


def ask(
    question: str | Question,
    index: Index,
    ranker: Ranker | None = None,
    *,
    max_documents: int = MAX_ITEMS,
    max_snippets: int = MAX_ITEMS,
    candidates: int = 100,
    filters: Filters = NO_FILTERS,
    literal: bool = False,
) -> Answer:
    """Answer a question from an index.

    ``ranker``: ``load_ranker()``, loaded once, if None. ``candidates``: how many documents BM25 fetches to be
    ranked. ``filters`` decide which documents can be found. With ``literal``, other spellings, abbreviations
    and synonyms are not searched for, and misspelt words not corrected. Raises BioqaError if the question is
    empty or the index cannot be used.

    >>> index = bioqa.open_index("sample-index")
    >>> answer = bioqa.ask("Which genes influence the dose of warfarin?", index)
    >>> answer.documents[0].title
    'Why some people bleed on small doses of warfarin.'
    >>> best = answer.snippets[0]
    >>> best.pmid, best.section, best.begin, best.end
    ('90000032', 'abstract', 108, 292)
    >>> best.text
    'Since S-warfarin is cleared almost entirely by cytochrome P450 2C9, the defective alleles ...'
    """
    options = _options(max_documents, max_snippets, candidates, filters, literal)
    asked = checked(question)
    return Answer(Answerer(index.back_end, ranker or default_ranker()).answer(asked, options))


def ask_all(
    questions: Iterable[str | Question],
    index: Index,
    ranker: Ranker | None = None,
    *,
    max_documents: int = MAX_ITEMS,
    max_snippets: int = MAX_ITEMS,
    candidates: int = 100,
    filters: Filters = NO_FILTERS,
    literal: bool = False,
) -> Iterator[Answer]:
    """``ask`` for each question, answered as they are taken; quicker where the index is far away.

    >>> index = bioqa.open_index("sample-index")
    >>> questions = bioqa.read_testset(bioqa.sample().questions)[:3]
    >>> [len(answer.documents) for answer in bioqa.ask_all(questions, index)]
    [10, 10, 10]
    """
    options = _options(max_documents, max_snippets, candidates, filters, literal)
    answerer = Answerer(index.back_end, ranker or default_ranker())
    asked = map(checked, questions)
    while some := [*islice(asked, AT_ONCE)]:
        yield from map(Answer, answerer.answers(some, options))


@cache
def default_ranker() -> Ranker:
    return load_ranker()


def _text(place: str | Path | None) -> str | None:
    return None if place is None else str(place)


def _options(
    documents: int, snippets: int, candidates: int, filters: Filters, literal: bool
) -> SearchOptions:
    for name, value, least in (
        ("max_documents", documents, 1),
        ("max_snippets", snippets, 0),
        ("candidates", candidates, 1),
    ):
        if value < least:
            raise BioqaError(f"{name} is {value}; it must be {least} or more")
    return SearchOptions(documents, snippets, candidates, filters, literal=literal)


def checked(question: str | Question) -> Question:
    body = question if isinstance(question, str) else question.body
    if not body.strip():
        raise BioqaError("the question is empty")
    if has_lone_surrogate(body):
        raise BioqaError("the question holds half a character (a lone surrogate)")
    if isinstance(question, Question):
        return question
    # An id as BioASQ's, 24 hexadecimal digits: the same question has the same one.
    return Question(hashlib.sha256(body.strip().encode()).hexdigest()[:24], body)
