"""Turning questions and conditions into queries of tantivy.

Queries are built from terms and never parsed, so no character of a question acts as an operator.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import tantivy

from bioqa.indexer.search.evidence import SHORTEST_BEGINNING
from bioqa.indexer.search.filtering.conditions import (
    AllOf,
    AnyOf,
    Condition,
    HasBeginning,
    HasKey,
    HasPhrase,
    HasPmid,
    HasWords,
    Narrower,
    Place,
    Published,
    Without,
    no_narrower,
)
from bioqa.indexer.search.filtering.filters import Filters
from bioqa.indexer.search.filtering.truncation import completions
from bioqa.indexer.search.records import NO_DATE
from bioqa.indexer.search.tantivy.hits import both
from bioqa.indexer.search.tantivy.schema import KEYS, TEXT, TITLE, analyzer
from bioqa.indexer.search.wording import Best, Every, Wording, Words
from bioqa.system.characters import encodable

_WORD = re.compile(r"[^\W_]+")
"""Words as the analyser splits them, which does not tell their positions."""

_FIELDS: dict[Place, str] = {"title": TITLE, "text": TEXT}


class QueryMaker:
    """Makes queries for indexes of one schema. Thread-safe."""

    def __init__(self, schema: Any, narrower: Narrower = no_narrower) -> None:
        self._schema = schema
        self._narrower = narrower
        self._analyzer = analyzer()

    def query(self, question: str | Wording | None, filters: Filters) -> Any:
        """What matches a question, among the documents that pass; None if it has no word. Without a question,
        all documents that pass, with one score."""
        passing = self.passing(filters)
        if question is None:
            return tantivy.Query.all_query() if passing is None else passing
        matching = self.matching(question)
        return matching if matching is None or passing is None else both(matching, passing)

    def matching(self, question: str | Wording) -> Any:
        """What matches a question; None if it has no word."""
        return self.wording(Words(question) if isinstance(question, str) else question)

    def passing(self, filters: Filters) -> Any:
        """The documents that pass; None if all do."""
        restriction = filters.condition()
        return self.condition(restriction) if restriction.parts else None

    def wording(self, wording: Wording) -> Any:
        """What matches a wording; None if it has no word. Words are weighted by their frequency in it."""
        make, occur = tantivy.Query, tantivy.Occur
        match wording:
            case Words(text, weight):
                queries = [
                    self._boost(make.term_query(self._schema, TEXT, word, "freq"), times * weight)
                    for word, times in Counter(self.words(text)).items()
                ]
                return make.boolean_query([(occur.Should, query) for query in queries]) if queries else None
            case Every(parts, weight):
                queries = [query for part in parts if (query := self.wording(part)) is not None]
                query = make.boolean_query([(occur.Should, query) for query in queries]) if queries else None
                return self._boost(query, weight)
            case Best(ways, weight):
                queries = [query for way in ways if (query := self.wording(way)) is not None]
                return self._boost(make.disjunction_max_query(queries), weight) if queries else None

    def _boost(self, query: Any, weight: float) -> Any:
        return query if query is None or weight == 1.0 else tantivy.Query.boost_query(query, float(weight))

    def phrase(self, text: str) -> Any:
        """The documents with this phrase; None if it has no word."""
        placed = [*self._placed_words(text)]
        return self._phrase(TEXT, placed) if placed else None

    def near(self, word: str) -> list[Any]:
        """The documents with words whose stem is one edit from the word's; those with a stem that the word
        begins with; and those with a stem one edit from such a beginning."""
        make, occur = tantivy.Query, tantivy.Occur
        begins = [word[:length] for length in range(SHORTEST_BEGINNING, len(word))]
        alternatives = (
            [make.fuzzy_term_query(self._schema, TEXT, stem) for stem in self.words(word)],
            [self._has(TEXT, begin) for begin in begins],
            [make.fuzzy_term_query(self._schema, TEXT, begin) for begin in begins[1:]],
        )
        return [
            make.boolean_query([(occur.Should, query) for query in queries])
            for queries in alternatives
            if queries
        ]

    def farther(self, word: str) -> Any:
        """The documents with words whose stem is two edits from the word's, or fewer."""
        make, occur = tantivy.Query, tantivy.Occur
        queries = [
            make.fuzzy_term_query(self._schema, TEXT, stem, distance=2, transposition_cost_one=True)
            for stem in self.words(word)
        ]
        return make.boolean_query([(occur.Should, query) for query in queries])

    def most(self, condition: Condition, searcher: Any) -> int:
        """How many documents meet a condition at most, as far as a look at words tells."""
        match condition:
            case HasKey():
                return sum(searcher.doc_freq(KEYS, key) for key in condition.keys(self._narrower))
            case HasPmid():
                return 1
            case HasWords(place, text) | HasPhrase(place, text):
                field = _FIELDS[place]
                counts = [searcher.doc_freq(field, word) for word in self.words(text)]
                return min(counts, default=int(searcher.num_docs))
            case AllOf(parts):
                return min((self.most(part, searcher) for part in parts), default=int(searcher.num_docs))
            case AnyOf(parts):
                return sum(self.most(part, searcher) for part in parts)
            case HasBeginning() | Published() | Without():
                return int(searcher.num_docs)

    def condition(self, condition: Condition) -> Any:
        """The documents that meet a condition; their scores mean nothing."""
        match condition:
            case HasKey():
                return self._any([self._has(KEYS, key) for key in condition.keys(self._narrower)])
            case HasPmid():
                return tantivy.Query.term_query(self._schema, "pmid", condition.pmid)
            case HasWords(place, text):
                return self._all(
                    [self._has(_FIELDS[place], word) for word in dict.fromkeys(self.words(text))]
                )
            case HasBeginning(place, beginning):
                return self._beginning(_FIELDS[place], beginning)
            case HasPhrase(place, text):
                return self._phrase(_FIELDS[place], [*self._placed_words(text)])
            case Published():
                return self._match_published(condition)
            case AllOf(parts):
                without = [part.part for part in parts if isinstance(part, Without)]
                wanted = [part for part in parts if not isinstance(part, Without)]
                return self._all([*map(self.condition, wanted)], [*map(self.condition, without)])
            case AnyOf(parts):
                return self._any([*map(self.condition, parts)])
            case Without(part):
                return self._all([], [self.condition(part)])

    def _any(self, queries: Sequence[Any]) -> Any:
        if len(queries) == 1:
            return queries[0]
        return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])

    def _all(self, queries: Sequence[Any], excluded: Sequence[Any] = ()) -> Any:
        if len(queries) == 1 and not excluded:
            return queries[0]
        occur = tantivy.Occur
        wanted = queries or [tantivy.Query.all_query()]
        return tantivy.Query.boolean_query(
            [(occur.Must, query) for query in wanted] + [(occur.MustNot, query) for query in excluded]
        )

    def _beginning(self, field: str, beginning: str) -> Any:
        stems = dict.fromkeys(self.words(" ".join(completions(beginning))))
        others = [self._has(field, stem) for stem in stems if not stem.startswith(beginning)]
        begins = tantivy.Query.regex_query(self._schema, field, f"{re.escape(beginning)}.*")
        return self._any([begins, *others])

    def _phrase(self, field: str, words: Sequence[tuple[int, str]]) -> Any:
        if len(words) > 1:
            return tantivy.Query.phrase_query(self._schema, field, list(words))
        return self._all([self._has(field, word) for _, word in words])

    def _has(self, field: str, term: str) -> Any:
        return tantivy.Query.term_query(self._schema, field, term, "basic")

    def _match_published(self, condition: Published) -> Any:
        dated = tantivy.Query.range_query(
            self._schema,
            "published",
            tantivy.FieldType.Unsigned,
            lower_bound=condition.after.toordinal() if condition.after else NO_DATE + 1,
            upper_bound=condition.before.toordinal() - 1 if condition.before else None,
        )
        if not condition.undated:
            return dated
        undated = tantivy.Query.range_query(
            self._schema, "published", tantivy.FieldType.Unsigned, upper_bound=NO_DATE
        )
        return tantivy.Query.boolean_query([(tantivy.Occur.Should, dated), (tantivy.Occur.Should, undated)])

    def words(self, text: str) -> list[str]:
        """The words of a text, as the analyser has them."""
        words: list[str] = self._analyzer.analyze(encodable(text))
        return words

    def _placed_words(self, text: str) -> Iterator[tuple[int, str]]:
        """The words and their positions, those of stop words being left free."""
        for position, word in enumerate(_WORD.findall(text)):
            yield from ((position, analysed) for analysed in self.words(word))
