"""Rankers, and the questions put to them."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Literal, TypeVar, get_args

from bioqa.answered import Answer
from bioqa.app.answers import answering, explaining
from bioqa.app.answers.answering import Answerer, Order, SearchOptions
from bioqa.app.answers.opening import load_ranker as load_for
from bioqa.app.settings import MAX_CANDIDATES, load_settings
from bioqa.bioasq.domain import MAX_ITEMS, Question
from bioqa.bioasq.trec import pmid as pmid_in
from bioqa.indexer.search.filtering.filters import NO_FILTERS, Filters
from bioqa.indexer.search.notation.interpretation import Mode, interpret
from bioqa.searching import Index
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import has_lone_surrogate

Ranker = answering.Ranker
"""A loaded checkpoint, as ``load_ranker`` gives it; anything that keeps its promises will do."""

Explanation = explaining.Explanation
"""Why an article is, or is not, in an answer, as ``explain`` gives it."""

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
    order: Order = "relevance",
    offset: int = 0,
    facets: bool = False,
    syntax: Mode = "auto",
    literal: bool = False,
    weak_snippets: bool = False,
) -> Answer:
    """Answer a question from an index.

    ``ranker``: ``load_ranker()``, loaded once, if None. ``candidates``: how many documents BM25 fetches to be
    ranked. ``filters`` decide which documents can be found. ``order``: by "relevance", or the candidates by
    "date", the newest first. ``offset``: ``next_offset`` of the answer before, for further results. With
    ``facets``, the best 1,000 documents are counted by year, type and the like. ``syntax``: whether
    identifiers, PubMed's tags, phrases and AND, OR, NOT are recognised: "auto" where they show themselves,
    "always", or "never". With ``literal``, other spellings, abbreviations and synonyms are not searched for,
    and misspelt words not corrected. With ``weak_snippets``, snippets that are much weaker than the best are
    not left out. Raises BioqaError if the question is empty, has a fault in its notation or an option that
    cannot be used, or if the index cannot be used.

    >>> index = bioqa.open_index("sample-index")
    >>> answer = bioqa.ask("Which genes influence the dose of warfarin?", index)
    >>> answer.documents[0].title
    'Why some people bleed on small doses of warfarin.'
    >>> best = answer.snippets[0]
    >>> best.pmid, best.section, best.begin, best.end
    ('90000032', 'abstract', 108, 292)
    >>> best.text
    'Since S-warfarin is cleared almost entirely by cytochrome P450 2C9, the defective alleles ...'
    >>> newest = bioqa.ask("dose of warfarin AND case reports[pt]", index, order="date", facets=True)
    >>> newest.interpretation.words, newest.interpretation.restriction
    ('dose of warfarin', '"case reports"[pt]')
    >>> newest.facets.documents, newest.next_offset
    (1, None)
    """
    options = replace(
        _options(max_documents, max_snippets, candidates, filters, literal, weak_snippets),
        order=_one_of("order", order, Order),
        offset=_between("offset", offset, 0, MAX_CANDIDATES - 1),
        facets=facets,
    )
    return Answer(_answer(question, index, ranker, options, syntax))


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
    weak_snippets: bool = False,
) -> Iterator[Answer]:
    """``ask`` for each question, answered as they are taken; quicker where the index is far away.

    For test sets: notation is never looked for.

    >>> index = bioqa.open_index("sample-index")
    >>> questions = bioqa.read_testset(bioqa.sample().questions)[:3]
    >>> [len(answer.documents) for answer in bioqa.ask_all(questions, index)]
    [10, 10, 10]
    """
    options = _options(max_documents, max_snippets, candidates, filters, literal, weak_snippets)
    answerer = Answerer(index.back_end, ranker or default_ranker())
    asked = map(checked, questions)
    while some := [*islice(asked, AT_ONCE)]:
        yield from map(Answer, answerer.answers(some, options))


def explain(
    question: str | Question,
    pmid: str | int,
    index: Index,
    ranker: Ranker | None = None,
    *,
    max_documents: int = MAX_ITEMS,
    max_snippets: int = MAX_ITEMS,
    candidates: int = 100,
    filters: Filters = NO_FILTERS,
    syntax: Mode = "auto",
    literal: bool = False,
    weak_snippets: bool = False,
) -> Explanation:
    """Why an article is, or is not, in the answer that ``ask`` gives, as ``bioqa explain`` shows it.

    ``pmid``: a PMID or an address of PubMed. ``retrieval``, ``ranking`` and ``selection`` say where the
    article and its best sentences stood at each stage, and what carried them; ``needed`` what would have had
    to be different; ``as_dict()`` has all of it, as ``POST /v1/explain`` returns it. The ranker is asked up
    to fifteen times more than for an answer. Raises BioqaError as ``ask`` does, for what is no PMID, and for
    a question without words to rank by.

    >>> index = bioqa.open_index("sample-index")
    >>> explained = bioqa.explain("Which genes influence the dose of warfarin?", 90000032, index)
    >>> explained.retrieval.is_candidate, explained.ranking.rank, explained.selection.selected
    (True, 1, True)
    >>> bioqa.explain("Which genes influence the dose of warfarin?", "1", index).needed
    ('The index does not have the article: load a file of MEDLINE that does.',)
    """
    options = replace(
        _options(max_documents, max_snippets, candidates, filters, literal, weak_snippets),
        explained=pmid_in(str(pmid)),
    )
    explanation = _answer(question, index, ranker, options, syntax).explanation
    if explanation is None:
        raise BioqaError("the question has no words to rank by: its documents are only listed")
    return explanation


@cache
def default_ranker() -> Ranker:
    return load_ranker()


def _text(place: str | Path | None) -> str | None:
    return None if place is None else str(place)


def _options(
    documents: int,
    snippets: int,
    candidates: int,
    filters: Filters,
    literal: bool,
    weak_snippets: bool,
) -> SearchOptions:
    _between("max_documents", documents, 1)
    _between("max_snippets", snippets, 0)
    _between("candidates", candidates, 1)
    return SearchOptions(
        documents, snippets, candidates, filters, literal=literal, weak_snippets=weak_snippets
    )


def _answer(
    question: str | Question, index: Index, ranker: Ranker | None, options: SearchOptions, syntax: Mode
) -> answering.Answer:
    """With what notation the question has, added to the options."""
    asked = checked(question)
    interpretation = interpret(asked.body, _one_of("syntax", syntax, Mode))
    answerer = Answerer(index.back_end, ranker or default_ranker())
    return answerer.answer(asked, replace(options, interpretation=interpretation))


def _between(name: str, value: int, least: int, most: int | None = None) -> int:
    if value < least or (most is not None and value > most):
        allowed = f"{least} or more" if most is None else f"from {least} to {most}"
        raise BioqaError(f"{name} is {value}; it must be {allowed}")
    return value


Named = TypeVar("Named", bound=str)


def _one_of(name: str, value: Named, names: object) -> Named:
    if value not in get_args(names):
        raise BioqaError(f"{name} is {value!r}; it must be one of {', '.join(get_args(names))}")
    return value


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
