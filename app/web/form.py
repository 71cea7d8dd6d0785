"""The search form's fields, as the address has them: every search can be shared by its address."""

from datetime import date
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Query
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from bioqa.app.answers.answering import Order, SearchOptions
from bioqa.app.http.schemas import Day
from bioqa.app.settings import MAX_CANDIDATES
from bioqa.bioasq.domain import MAX_ITEMS
from bioqa.indexer.search.filtering.filters import MAX_VALUES, Filters
from bioqa.indexer.search.notation.interpretation import interpret

FILTERS = {
    "after": "published_after",
    "before": "published_before",
    "undated": "undated",
    "type": "types",
    "language": "languages",
    "mesh": "headings",
    "journal": "journals",
    "author": "authors",
    "abstract": "has_abstract",
    "free": "free_full_text",
    "unretracted": "exclude_retracted",
}
"""The filters' names by those of the form's fields."""

FIELDS = {filter: field for field, filter in FILTERS.items()}

LABELS = {
    "after": "published from",
    "before": "published before",
    "undated": "undated ones too",
    "type": "type",
    "language": "language",
    "mesh": "MeSH heading",
    "journal": "journal",
    "author": "author",
    "abstract": "with an abstract",
    "free": "free full text",
    "unretracted": "without retracted articles",
}
"""What is said of a filter that is set."""


def _absent(value: object) -> object:
    """Forms also send empty fields."""
    return None if value == "" else value


def _asked(value: str | None) -> str | None:
    if value is not None and not value.strip():
        raise ValueError("is empty: please type one")
    return value


def _values(value: object) -> object:
    """The values of a field that is repeated, or has semicolons: names of headings contain commas."""
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list | tuple):
        return given
    separate = [part.strip() for each in given for part in str(each).split(";")]
    return tuple(dict.fromkeys(filter(None, separate)))


Values = Annotated[tuple[str, ...], Field(max_length=MAX_VALUES), BeforeValidator(_values)]


class SearchForm(BaseModel):
    q: Annotated[str | None, AfterValidator(_asked)] = None
    after: Annotated[Day | None, BeforeValidator(_absent)] = None
    before: Annotated[Day | None, BeforeValidator(_absent)] = None
    undated: bool = False
    type: Values = ()
    language: Values = ()
    mesh: Values = ()
    journal: Values = ()
    author: Values = ()
    abstract: bool = False
    free: bool = False
    unretracted: bool = False
    order: Annotated[Order, BeforeValidator(lambda given: given or "relevance")] = "relevance"
    offset: Annotated[int, Field(ge=0, lt=MAX_CANDIDATES)] = 0
    ranker: Annotated[str | None, BeforeValidator(_absent)] = None
    n: Annotated[int, Field(ge=1, le=100)] = MAX_ITEMS
    asis: bool = False
    """The question is taken as it is, whatever it looks like."""
    literal: bool = False
    """Only the question's own words are searched for."""

    counts: bool = False
    """Counts by year and type are in the page; a script fetches them later, as they take longer than it."""

    def address(self, **changes: object) -> str:
        """Return the query that reproduces this answer, with changes; defaults are left out."""
        changed = self.model_copy(update=changes)
        return urlencode(changed.model_dump(mode="json", exclude_defaults=True), doseq=True)

    def narrowed(self, **changes: object) -> str:
        """Return the query with changes, from the first result on."""
        return self.address(**changes, offset=0)

    def in_years(self, first: int, last: int) -> str:
        after, before = date(min(first, 9999), 1, 1), date(last + 1, 1, 1) if last < 9999 else None
        return self.narrowed(after=after, before=before, undated=False)

    def also(self, field: str, value: str) -> str:
        return self.narrowed(**{field: (*getattr(self, field), value)})

    def without(self, field: str, value: str | None = None) -> str:
        """Return the query without a filter, or without one of its values."""
        default = SearchForm.model_fields[field].default
        if value is not None:
            default = tuple(each for each in getattr(self, field) if each != value)
        return self.narrowed(**{field: default})

    def chosen(self) -> list[tuple[str, str, str]]:
        """Return the filters that are set: what to say of each, its value, and the query without it."""
        found = []
        for field, label in LABELS.items():
            value = getattr(self, field)
            if isinstance(value, tuple):
                found += [(label, each, self.without(field, each)) for each in value]
            elif value:
                found.append((label, "" if value is True else str(value), self.without(field)))
        return found

    def filters(self) -> Filters:
        """Raises FilterError for filters that cannot be used together, or name what there is not."""
        given: dict[str, Any] = {filter: getattr(self, field) for field, filter in FILTERS.items()}
        return Filters(**given)

    def options(self, size: int, candidates: int, *, facets: bool = False) -> SearchOptions:
        """Raises FilterError and SyntaxFault."""
        return SearchOptions(
            size,
            size,
            candidates,
            self.filters(),
            self.order,
            self.offset,
            facets,
            interpret(self.q or "", "never" if self.asis else "auto"),
            self.literal,
        )


SearchFormQuery = Annotated[SearchForm, Query()]
