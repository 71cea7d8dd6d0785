"""Counts over documents."""

from bioqa.app.answers.facets import MAX_VALUES, Counted, CountedYear, Counts, facets_of
from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import Heading, Metadata
from bioqa.indexer.search.records import Described
from tests.indexer.search.cited import CITED


def said(document: Document) -> Described:
    return Described(document.published, document.metadata)


def by_value(counts: Counts) -> dict[str, int]:
    return {counted.value: counted.documents for counted in counts}


def test_documents_are_counted_by_what_their_records_say() -> None:
    facets = facets_of(map(said, CITED))
    assert facets.documents == 6
    years = [(1999, 1), (2015, 2), (2016, 1), (2017, 1)]
    assert facets.years == tuple(CountedYear(*year) for year in years)
    assert (facets.undated, facets.free_full_text, facets.retracted) == (1, 1, 2)
    assert facets.types[0] == Counted("Journal Article", 2)
    assert by_value(facets.languages) == {"eng": 2, "fre": 1, "ger": 1}
    assert [*by_value(facets.journals).items()] == [("Invented J Med", 2), ("Lancet Invent", 1)]
    assert by_value(facets.headings) == {"Asthma": 2, "Humans": 2, "Rats": 1}


def test_nothing_is_counted_twice_in_one_document_and_ties_are_in_order() -> None:
    metadata = Metadata(types=("B", "A", "B"), headings=tuple(Heading(f"H{n:02}") for n in range(40)))
    facets = facets_of([Described(None, metadata)])
    assert facets.types == (Counted("A", 1), Counted("B", 1))
    assert [*by_value(facets.headings)] == [f"H{n:02}" for n in range(MAX_VALUES)]


def test_of_no_documents_there_are_no_counts() -> None:
    facets = facets_of([])
    assert (facets.documents, facets.years, facets.types) == (0, (), ())
