"""The search form: a question and its options, as the page's address has them. Every search can be shared so.

The options are those of every face (``bioqa.app.answers.question.Options``), by their short names where they
have one.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from pydantic import AfterValidator, ValidationError

from bioqa.app.answers.question import (
    FILTERS,
    MAX_SIZE,
    ExplainOptions,
    Options,
    names_of,
    option_names,
    read_texts,
    takes_many,
)
from bioqa.indexer.search.notation.named_filters import begin_of_last

SHORT = {name: option_names(name, field)[0] for name, field in Options.model_fields.items()}
"""The names of options in addresses."""

LABELS = {name: names_of(Options.model_fields[name]).label for name in FILTERS}
"""What is said of a filter that is set."""

COMMON_FILTERS = {
    "types": {
        "Trial": "Randomized Controlled Trial",
        "Meta-analysis": "Meta-Analysis",
        "Systematic review": "Systematic Review",
        "Guideline": "Practice Guideline",
    },
    "headings": {
        "Humans": "Humans",
        "Adults": "Adult",
        "Children": "Child",
        "Aged": "Aged",
        "Women": "Female",
        "Men": "Male",
    },
}
"""Filters that are one click on the page: what each is called there, and its name in MEDLINE. Those of people
are MeSH's check tags, which indexers give to every article that is about them."""

MOST_LINKED = 100_000
"""Characters of the links that take a filter away: each repeats all others."""

FLAGS = tuple(name for name in FILTERS if Options.model_fields[name].annotation is bool)
LISTS = tuple(name for name in FILTERS if takes_many(Options.model_fields[name]))


def _refuse_empty(value: str | None) -> str | None:
    if value is not None and not value.strip():
        raise ValueError("is empty: please type one")
    return value


Typed = Annotated[str | None, AfterValidator(_refuse_empty)]


class SearchForm(Options):
    q: Typed = None
    ranker: str | None = None

    def address(self, **changes: object) -> str:
        """Return the query that reproduces this answer, with changes; defaults are left out."""
        changed = self.model_copy(update=changes)
        values = changed.model_dump(mode="json", exclude_defaults=True, exclude={"pmid"})
        # The page has as many sentences as articles, unless it is told otherwise.
        if values.get("max_snippets") == values.get("max_documents"):
            values.pop("max_snippets", None)
        ordered = {"q": values.pop("q", None), **values}
        pairs = {SHORT.get(name, name): _text(value) for name, value in ordered.items() if value is not None}
        return urlencode(pairs, doseq=True)

    def narrow(self, **changes: object) -> str:
        """Return the query with changes, from the first result on."""
        return self.address(**changes, offset=0)

    def in_years(self, first: int, last: int) -> str:
        after, before = date(min(first, 9999), 1, 1), date(last + 1, 1, 1) if last < 9999 else None
        return self.narrow(published_after=after, published_before=before, undated=False)

    def also(self, option: str, value: str) -> str:
        return self.narrow(**{option: (*getattr(self, option), value)})

    def without(self, option: str, value: str | None = None) -> str:
        """Return the query without a filter, or without one of its values."""
        default = Options.model_fields[option].default
        if value is not None:
            default = tuple(other for other in getattr(self, option) if other != value)
        return self.narrow(**{option: default})

    def instead(self, option: str, value: str, other: str) -> str:
        """Return the query with another name in place of one of a filter's."""
        names = getattr(self, option)
        return self.narrow(**{option: tuple(other if name == value else name for name in names)})

    def common_filters(self) -> Iterator[tuple[str, str]]:
        """Yield the filters that clinicians use most, unless they are set, each with its query."""
        for option, names in COMMON_FILTERS.items():
            for label, value in names.items():
                if value not in getattr(self, option):
                    yield label, self.also(option, value)
        if self.published_after is None:
            for years in (1, 5, 10):
                label = "Last year" if years == 1 else f"Last {years} years"
                yield label, self.narrow(published_after=begin_of_last(years, "year"))

    def filters_set(self) -> Iterator[tuple[str, str, str | None]]:
        """Yield the filters that are set: what to say of each, its value, and the query without it, or None
        where it would make the page too large."""
        links = MOST_LINKED // len(self.address())
        for name, label in LABELS.items():
            value = getattr(self, name)
            values = value if isinstance(value, tuple) else (value,) if value else ()
            for single in values:
                links -= 1
                address = self.without(name, single if value is values else None) if links >= 0 else None
                yield label, "" if single is True else str(single), address

    def drop_filters(self) -> str:
        return self.narrow(**{name: Options.model_fields[name].default for name in FILTERS})


class ExplainForm(SearchForm, ExplainOptions):
    """A search, and the article in question."""


def _text(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value


Form = TypeVar("Form", bound=SearchForm)


def read_form(form: type[Form], parameters: Sequence[tuple[str, str]]) -> Form:
    """Raises RequestValidationError. A field may hold several values, with semicolons between them: names of
    headings contain commas."""
    values = values_of(form, parameters)
    if any(name == "q" for name, _ in parameters):
        values.setdefault("q", "")  # an empty question is a fault, not the start page
    for name in LISTS:
        if separate := _separate(values.pop(name, ())):
            values[name] = separate
    size = values.get("max_documents")
    if isinstance(size, int) and 0 < size <= MAX_SIZE:
        values.setdefault("max_snippets", size)
    # Anybody may add parameters to an address.
    options = {name: value for name, value in values.items() if name in form.model_fields}
    try:
        return form.model_validate(options)
    except ValidationError as error:
        raise RequestValidationError(
            [
                {**fault, "loc": ("query", SHORT.get(str(fault["loc"][0]), fault["loc"][0]))}
                if fault["loc"]
                else {**fault, "loc": ("query",)}
                for fault in error.errors()
            ]
        ) from error


def values_of(form: type[SearchForm], parameters: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """What an address has, by options' full names and unchecked. Former names are read, too."""
    return read_texts(form, (_current(*parameter) for parameter in parameters))


def _current(name: str, value: str) -> tuple[str, str]:
    # Until 0.2, syntax=never was asis=1.
    return ("syntax", "never" if value else "") if name == "asis" else (name, value)


def _separate(values: Iterable[str]) -> tuple[str, ...]:
    separate = (part.strip() for value in values for part in value.split(";"))
    return tuple(dict.fromkeys(filter(None, separate)))


def _search_form(request: Request) -> SearchForm:
    return read_form(SearchForm, request.query_params.multi_items())


def _explain_form(request: Request) -> ExplainForm:
    # By date, or further on, only the documents of the answer would be ranked.
    ignored = {"order", "offset", "facets"}
    given = request.query_params.multi_items()
    return read_form(ExplainForm, [pair for pair in given if pair[0] not in ignored])


SearchFormQuery = Annotated[SearchForm, Depends(_search_form)]
ExplainFormQuery = Annotated[ExplainForm, Depends(_explain_form)]
