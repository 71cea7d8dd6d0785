"""Rankers, and the questions put to them."""

import hashlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache, lru_cache, wraps
from itertools import islice
from pathlib import Path
from typing import Any, Literal, ParamSpec, Protocol, TypeVar, cast

from pydantic import model_validator

from bioqa.answered import Answer
from bioqa.app.answers import answer as answers
from bioqa.app.answers import answering, explaining
from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.opening import load_ranker as load_for
from bioqa.app.answers.question import FILTERS, ExplainOptions, Options, read
from bioqa.app.settings import load_settings
from bioqa.bioasq.domain import Question
from bioqa.indexer.search.filtering.filters import Filters
from bioqa.searching import Index, open_index
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import has_lone_surrogate, shorten

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


Parameters = ParamSpec("Parameters")
Asked = TypeVar("Asked", contravariant=True)
Result = TypeVar("Result", covariant=True)


class Asking(Protocol[Asked, Parameters, Result]):
    """A function that takes options by their names, which type checkers know."""

    def __call__(
        self,
        question: Asked,
        index: Index | str | Path,
        ranker: Ranker | str | Path | None = None,
        *args: Parameters.args,
        **options: Parameters.kwargs,
    ) -> Result: ...


def with_options(
    model: Callable[Parameters, Options],
) -> Callable[[Callable[[Asked, Index, Ranker, Options], Result]], Asking[Asked, Parameters, Result]]:
    """Let a function take the options of a model as keyword arguments, an index by its place, and a ranker by
    its name. Raises BioqaError for what cannot be used."""

    def decorate(
        answer: Callable[[Asked, Index, Ranker, Options], Result],
    ) -> Asking[Asked, Parameters, Result]:
        first = next(iter(inspect.signature(answer).parameters))

        @wraps(answer)
        def call(*positional: Any, **named: Any) -> Result:
            given = inspect.Signature(_positional(first)).bind(*positional, **_take_others(named, first))
            question, index, ranker = (*given.args, None)[:3]
            options = read(cast("type[Options]", model), named)
            return answer(question, _index(index), _ranker(ranker), options.ready(_default_candidates()))

        options = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=field.default)
            for name, field in cast("type[Options]", model).model_fields.items()
        ]
        call.__signature__ = inspect.Signature([*_positional(first), *options])  # type: ignore[attr-defined]
        return cast("Asking[Asked, Parameters, Result]", call)

    return decorate


def _positional(first: str) -> list[inspect.Parameter]:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [
        inspect.Parameter(first, kind),
        inspect.Parameter("index", kind),
        inspect.Parameter("ranker", kind, default=None),
    ]


def _take_others(named: dict[str, Any], first: str) -> dict[str, Any]:
    """Take the arguments that are no options out of the named ones."""
    return {name: named.pop(name) for name in (first, "index", "ranker") if name in named}


def _index(index: object) -> Index:
    if isinstance(index, Index):
        return index
    if isinstance(index, str | Path):
        return _open_once(str(index))
    raise BioqaError(f"index: must be an index, or the folder or URL of one, not {shorten(repr(index))}")


@lru_cache(maxsize=8)
def _open_once(location: str) -> Index:
    return open_index(location)


def _ranker(ranker: Any) -> Ranker:
    if ranker is None:
        return default_ranker()
    if isinstance(ranker, str | Path):
        return _load_once(str(ranker))
    if not hasattr(ranker, "rank") or not hasattr(ranker, "read_stored_tokens"):
        raise BioqaError(
            f"ranker: must be a ranker, or the name or folder of one, not {shorten(repr(ranker))}"
        )
    return cast("Ranker", ranker)


@lru_cache(maxsize=8)
def _load_once(location: str) -> Ranker:
    return load_ranker(location)


def as_answer(answer: answers.Answer) -> Answer:
    """The answer as Python hands it out."""
    return Answer(**{field.name: getattr(answer, field.name) for field in fields(answer)})


class AskOptions(Options):
    """Options of ``ask``; ``filters`` may hold those that are filters."""

    filters: Any = None

    @model_validator(mode="before")
    @classmethod
    def _with_filters(cls, data: dict[str, Any]) -> dict[str, Any]:
        filters = data.pop("filters", None)
        if isinstance(filters, Filters):
            if filters.restriction is not None:
                raise ValueError("filters: a restriction must stand in the question, in PubMed's notation")
            filters = {name: getattr(filters, name) for name in FILTERS}
        elif not isinstance(filters, Mapping | None):
            raise ValueError("filters: must be Filters or a dict of filters")
        return {**(filters or {}), **data}


@with_options(AskOptions)
def ask(question: str | Question, index: Index, ranker: Ranker, options: Options) -> Answer:
    """Answer a question from an index.

    ``index``: of ``open_index``, or its folder or URL. ``ranker``: of ``load_ranker``, or the name or folder
    of one; the default one, loaded once, if None. The other arguments are the options of every face. Filters
    (also as ``filters=Filters(…)``) decide which documents can be found, ``candidates`` how many of them are
    ranked. ``order``: by "relevance", or the candidates by "date", the newest first. ``offset``:
    ``next_offset`` of the answer before, for further results. With ``facets``, the best 1,000 documents are
    counted by year, type and the like. ``syntax``: whether identifiers, PubMed's tags, phrases and AND, OR,
    NOT are recognised: "auto" where they show themselves, "always", or "never". With ``literal``, other
    spellings, abbreviations and synonyms are not searched for, and misspelt words not corrected. With
    ``weak_snippets``, snippets that are much weaker than the best are not left out. Raises BioqaError if the
    question is empty, has a fault in its notation or an option that cannot be used, or if the index cannot be
    used.

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
    >>> bioqa.ask("Which genes influence the dose of warfarin?", index, candidates=5000)
    Traceback (most recent call last):
    bioqa.app.answers.question.OptionError: candidates: must be less than or equal to 1000
    """
    return as_answer(Answerer(index.back_end, ranker).answer(check_question(question), options))


class AskAllOptions(AskOptions):
    syntax: Literal["never"] = "never"


@with_options(AskAllOptions)
def ask_all(
    questions: Iterable[str | Question], index: Index, ranker: Ranker, options: Options
) -> Iterator[Answer]:
    """``ask`` for each question, answered as they are taken; quicker where the index is far away.

    For test sets: notation is never looked for.

    >>> index = bioqa.open_index("sample-index")
    >>> questions = bioqa.read_testset(bioqa.sample().questions)[:3]
    >>> [len(answer.documents) for answer in bioqa.ask_all(questions, index)]
    [10, 10, 10]
    """
    answerer = Answerer(index.back_end, ranker)
    options.as_filters()
    remaining = map(check_question, questions)

    def answers() -> Iterator[Answer]:
        while some := [*islice(remaining, AT_ONCE)]:
            yield from map(as_answer, answerer.answers(some, options))

    return answers()


class AskExplainOptions(AskOptions, ExplainOptions):
    pass


class Explains(Protocol[Parameters]):
    def __call__(
        self,
        question: str | Question,
        pmid: str | int,
        index: Index | str | Path,
        ranker: Ranker | str | Path | None = None,
        *args: Parameters.args,
        **options: Parameters.kwargs,
    ) -> Explanation: ...


def _known_to_type_checkers(
    model: Callable[Parameters, Options],
) -> Callable[[Callable[..., Explanation]], Explains[Parameters]]:
    return lambda explain: cast("Explains[Parameters]", explain)


@_known_to_type_checkers(AskOptions)
def explain(
    question: str | Question,
    pmid: str | int,
    index: Index | str | Path,
    ranker: Ranker | str | Path | None = None,
    **options: Any,
) -> Explanation:
    """Why an article is, or is not, in the answer that ``ask`` gives, as ``bioqa explain`` shows it.

    ``pmid``: a PMID or an address of PubMed; the options are those of ``ask`` without ``order``, ``offset``
    and ``facets``. ``retrieval``, ``ranking`` and ``selection`` say where the article and its best sentences
    stood at each stage, and what carried them; ``needed`` what would have had to be different; ``as_dict()``
    has all of it, as ``POST /v1/explain`` returns it. The ranker is asked up to fifteen times more than for
    an answer. Raises BioqaError as ``ask`` does, for what is no PMID, and for a question without words to
    rank by.

    >>> index = bioqa.open_index("sample-index")
    >>> explained = bioqa.explain("Which genes influence the dose of warfarin?", 90000032, index)
    >>> explained.retrieval.is_candidate, explained.ranking.rank, explained.selection.selected
    (True, 1, True)
    >>> bioqa.explain("Which genes influence the dose of warfarin?", "1", index).needed
    ('The index does not have the article: load a file of MEDLINE that does.',)
    """
    explanation = _explaining(question, index, ranker, pmid=pmid, **options)
    if explanation is None:
        raise BioqaError("the question has no words to rank by: its documents are only listed")
    return explanation


@with_options(AskExplainOptions)
def _explaining(
    question: str | Question, index: Index, ranker: Ranker, options: Options
) -> Explanation | None:
    return Answerer(index.back_end, ranker).answer(check_question(question), options).explanation


@cache
def _default_candidates() -> int:
    # Settings take milliseconds to read, which no question should wait for.
    return load_settings().candidates


@cache
def default_ranker() -> Ranker:
    return load_ranker()


def _text(location: str | Path | None) -> str | None:
    return None if location is None else str(location)


def check_question(question: str | Question) -> Question:
    body = question if isinstance(question, str) else question.body
    if not body.strip():
        raise BioqaError("the question is empty")
    if has_lone_surrogate(body):
        raise BioqaError("the question holds half a character (a lone surrogate)")
    if isinstance(question, Question):
        return question
    # An id as BioASQ's, 24 hexadecimal digits: the same question has the same one.
    return Question(hashlib.sha256(body.strip().encode()).hexdigest()[:24], body)
