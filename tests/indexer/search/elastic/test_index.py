"""Elasticsearch behind the search protocol: its mapping, who may use which index, and events out of order.

What every back end does is in test_base.py.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import partial
from typing import Any

import pytest
from elasticsearch import BadRequestError, Elasticsearch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bioqa.bioasq.domain import Document
from bioqa.indexer.medline.events import Delete, Upsert
from bioqa.indexer.search.base import Applied
from bioqa.indexer.search.elastic.address import IndexAddress
from bioqa.indexer.search.elastic.connection import connect
from bioqa.indexer.search.elastic.index import ElasticIndex
from bioqa.indexer.search.elastic.mapping import Shape
from bioqa.indexer.search.filtering.filters import Filters
from bioqa.indexer.search.records import EncodedEvent, Record, encode
from bioqa.system.errors import BioqaError
from tests.indexer.documents import document
from tests.proxies import Proxy

Create = Callable[..., ElasticIndex]


@pytest.fixture
def client(elastic_url: str) -> Iterator[Elasticsearch]:
    """To look behind the index's back."""
    with Elasticsearch(elastic_url, request_timeout=60) as client:
        yield client


@pytest.fixture
def where(elastic_url: str, elastic_name: str) -> IndexAddress:
    return IndexAddress((elastic_url,), elastic_name)


@pytest.fixture
def create(where: IndexAddress) -> Iterator[Create]:
    """Makes indexes whose names begin with the test's."""
    made: list[ElasticIndex] = []

    def create(suffix: str = "", joiner: str = "", shape: Shape | None = None) -> ElasticIndex:
        at = IndexAddress(where.hosts, where.name + suffix)
        made.append(ElasticIndex.create(connect(at), at, joiner, shape or Shape()))
        return made[-1]

    yield create
    for index in made:
        index.close()


@pytest.fixture
def index(create: Create) -> ElasticIndex:
    return create()


def fill(index: ElasticIndex, *documents: Document) -> None:
    index.apply(Upsert(d) for d in documents)
    index.commit()


def found(index: ElasticIndex, question: str, size: int = 100) -> list[tuple[str, float]]:
    return [(c.document.pmid, round(c.score, 5)) for c in index.search(question, size)]


def titles(index: ElasticIndex) -> dict[str, str]:
    index.commit()
    documents = index.get([str(n) for n in range(1, 50)])
    assert index.stats().documents == len(documents)
    return {pmid: document.title for pmid, document in documents.items()}


# The mapping


def test_the_mapping_is_strict(index: ElasticIndex, client: Elasticsearch) -> None:
    with pytest.raises(BadRequestError, match="strict_dynamic_mapping_exception"):
        client.index(index=index.name, id="1", document={"pmid": 1, "journal": "A journal."})


def test_only_what_is_searched_is_indexed(index: ElasticIndex, client: Elasticsearch) -> None:
    fill(index, document(1, "Insulin.", "Sugar."))
    fields = client.indices.get_mapping(index=index.name)[index.name]["mappings"]["properties"]
    searched = {
        name for name, field in fields.items() if field.get("index", True) and field.get("enabled", True)
    }
    assert searched == {"text", "title", "keys", "defined", "published", "has_title", "has_abstract"}
    kept = client.get(index=index.name, id="1")["_source"]
    assert kept["title"] == "Insulin."
    assert "text" not in kept  # the two texts are stored once
    assert "keys" not in kept  # nor is what is made of the rest


def test_k1_and_b_take_effect(create: Create) -> None:
    texts = [
        "Insulin here.",
        "Insulin insulin insulin.",
        "Insulin among very many other words of little use.",
    ]
    scores = {}
    for k1, b in [(1.2, 0.75), (0.0, 0.75), (1.2, 0.0)]:
        index = create(f"-{k1}-{b}", shape=Shape(k1=k1, b=b))
        fill(index, *(document(n, text) for n, text in enumerate(texts, 1)))
        scores[k1, b] = dict(found(index, "insulin"))
    usual, no_counts, no_lengths = scores.values()
    assert usual["2"] > usual["1"] > usual["3"]
    assert no_counts["1"] == no_counts["2"] == no_counts["3"]
    assert no_lengths["2"] > no_lengths["1"] == no_lengths["3"]


def test_several_shards_change_no_answer(create: Create) -> None:
    words = ["insulin", "glucagon", "amylin", "leptin", "ghrelin"]
    documents = [document(n, f"{words[n % 5]} {words[n * n % 3]} {words[n % 2]}.") for n in range(1, 80)]
    one, three = create("-one"), create("-three", shape=Shape(shards=3))
    for index in (one, three):
        fill(index, *documents)
    for question in ("insulin", "glucagon amylin", "leptin in ghrelin"):
        for size in (1, 7, 100):
            assert found(one, question, size) == found(three, question, size)
    assert one.search_many(words) == [one.search(word) for word in words]
    assert [[c.document for c in some] for some in three.search_many(words)] == [
        [c.document for c in some] for some in one.search_many(words)
    ]


# Whose index it is


def test_an_index_is_found_again(create: Create, where: IndexAddress) -> None:
    fill(create(joiner=" "), document(1, "Insulin."))
    assert create(joiner=" ").stats().documents == 1
    with ElasticIndex.open(connect(where), where) as opened:
        assert (opened.name, opened.joiner) == (where.name, " ")
        assert found(opened, "insulin")[0][0] == "1"


def test_another_joiner_is_refused(create: Create) -> None:
    create(joiner="")
    with pytest.raises(BioqaError, match="joins abstract parts with '', not ' '"):
        create(joiner=" ")


def test_another_format_is_refused(create: Create, client: Elasticsearch, where: IndexAddress) -> None:
    index = create()
    client.indices.put_mapping(index=index.name, meta={"bioqa": {"format": 99, "joiner": ""}})
    open_again = partial(ElasticIndex.open, client, where)
    for again in (create, open_again):
        with pytest.raises(BioqaError, match=f"the index {index.name} has format 99, and this bioqa reads"):
            again()


def test_the_index_of_another_program_is_refused(
    create: Create, client: Elasticsearch, where: IndexAddress
) -> None:
    client.indices.create(index=where.name)
    open_again = partial(ElasticIndex.open, client, where)
    for again in (create, open_again):
        with pytest.raises(BioqaError, match=f"the index {where.name} at .* was not made by bioqa"):
            again()
    assert client.count(index=where.name)["count"] == 0


def test_an_alias_is_opened(create: Create, client: Elasticsearch, where: IndexAddress) -> None:
    index = create("-2026")
    fill(index, document(1, "Insulin."))
    client.indices.put_alias(index=index.name, name=where.name)
    with ElasticIndex.open(connect(where), where) as opened:
        assert opened.name == index.name
        assert found(opened, "insulin")[0][0] == "1"
        assert opened.stats().name == index.name
    assert create().name == index.name  # to load into, too


def test_an_alias_of_two_indices_is_refused(
    create: Create, client: Elasticsearch, where: IndexAddress
) -> None:
    for suffix in ("-b", "-a"):
        client.indices.put_alias(index=create(suffix).name, name=where.name)
    both = f"{where.name} stands for 2 indices, not one: {where.name}-a, {where.name}-b"
    with pytest.raises(BioqaError, match=both):
        ElasticIndex.open(client, where)


def test_answers_follow_the_alias(create: Create, client: Elasticsearch, where: IndexAddress) -> None:
    old, new = create("-old"), create("-new")
    fill(old, document(1, "Insulin."))
    fill(new, document(2, "Insulin."), document(3, "Glucagon."))
    client.indices.put_alias(index=old.name, name=where.name)
    with ElasticIndex.open(connect(where), where) as opened:
        assert [pmid for pmid, _ in found(opened, "insulin")] == ["1"]
        client.indices.update_aliases(
            actions=[
                {"remove": {"index": old.name, "alias": where.name}},
                {"add": {"index": new.name, "alias": where.name}},
            ]
        )
        assert [pmid for pmid, _ in found(opened, "insulin")] == ["2"]
        assert list(opened.get(["1", "2", "3"])) == ["2", "3"]
        assert (opened.stats().name, opened.stats().documents) == (new.name, 2)


def test_notes_are_kept_with_the_index(create: Create, where: IndexAddress) -> None:
    index = create(joiner=" ")
    index.annotate(release=2026)
    index.annotate(complete=True)
    with ElasticIndex.open(connect(where), where) as opened:
        assert opened.notes["release"] == 2026
        assert opened.notes["complete"] is True
        assert opened.joiner == " "


# One round trip for an answer


def test_an_answer_needs_one_round_trip(elastic_url: str, index: ElasticIndex) -> None:
    fill(
        index, *(document(n, "Insulin.", "Sugar. Blood.", published=date(2001, 1, 1)) for n in range(1, 120))
    )
    with Proxy(elastic_url) as proxy:
        where = IndexAddress((proxy.url,), index.name)
        with ElasticIndex.open(connect(where), where) as opened:
            before = len(proxy.seen)
            assert len(opened.search("insulin", 100, Filters(published_before=date(2010, 1, 1)))) == 100
            assert len(proxy.seen) - before == 1
            questions = [f"insulin {n}" for n in range(30)]
            assert [len(found) for found in opened.search_many(questions, 100)] == [100] * 30
            assert len(proxy.seen) - before == 2
            assert opened.search("") == []
            assert opened.search_many(["", " "]) == [[], []]
            assert len(proxy.seen) - before == 2


# Events out of order


def record(pmid: int, title: str, version: int = 1, abstract: str = "") -> Record:
    return encode(document(pmid, title, abstract, version=version))


def write(index: ElasticIndex, order: int, *changes: EncodedEvent) -> Applied:
    return index.write(changes, order) + index.drain()


def test_a_revision_that_comes_late_changes_nothing(index: ElasticIndex) -> None:
    assert write(index, 200, record(1, "New."), record(2, "New.")) == Applied(upserted=2)
    assert write(index, 100, record(1, "Old."), record(3, "Old.")) == Applied(upserted=1, stale=1)
    assert titles(index) == {"1": "New.", "2": "New.", "3": "Old."}


def test_what_was_deleted_stays_deleted(index: ElasticIndex) -> None:
    assert write(index, 100, record(1, "First.")) == Applied(upserted=1)
    assert write(index, 300, 1, 2) == Applied(deleted=1, stale=1)
    # Late: written before the deletions, of which one came before anything else was known of the document.
    assert write(index, 200, record(1, "Late."), record(2, "Late.")) == Applied(stale=2)
    assert write(index, 201, record(1, "Late.", version=9)) == Applied(stale=1)
    assert titles(index) == {}
    assert write(index, 400, record(1, "Back.")) == Applied(upserted=1)
    assert write(index, 300, 1, 2) == Applied(stale=2)
    assert write(index, 500, record(1, "Back again.", version=2)) == Applied(upserted=1)
    assert titles(index) == {"1": "Back again."}


def test_replays_change_nothing(index: ElasticIndex) -> None:
    changes: list[EncodedEvent] = [record(1, "One."), record(2, "Two."), 1, record(3, "Three.")]
    changes += [record(2, "Two, revised."), 3, 3]
    for _ in range(3):
        assert write(index, 10, *changes).events == len(changes)
        assert titles(index) == {"2": "Two, revised."}


def test_events_of_one_document_in_parallel_requests(index: ElasticIndex) -> None:
    """Each fills a good part of a request, so that several are under way at once."""
    long = "Many words of no use. " * 20_000
    changes: list[EncodedEvent] = [
        record(pmid, f"Title {n}.", abstract=long) for n in range(15) for pmid in (1, 2)
    ]
    changes[20:20] = [1]
    assert sum(len(change.abstract) for change in changes if isinstance(change, Record)) > 12_000_000
    applied = write(index, 1000, *changes)
    assert applied.events == len(changes)
    assert applied.rejected == ()
    assert titles(index) == {"1": "Title 14.", "2": "Title 14."}


_CHANGES = st.lists(st.tuples(st.integers(1, 3), st.booleans()), min_size=1, max_size=9)


_FRESH_PMIDS = itertools.count(1, 10)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=_CHANGES, data=st.data())
def test_the_order_of_arrival_does_not_matter(
    index: ElasticIndex, changes: Sequence[tuple[int, bool]], data: st.DataObject
) -> None:
    """PMID versions rise with time, as NLM's do. True stands for a deletion."""
    first = next(_FRESH_PMIDS)
    expected: dict[str, str] = {}
    events: list[tuple[int, EncodedEvent]] = []
    for order, (number, deleted) in enumerate(changes, 1):
        pmid = first + number
        if deleted:
            expected.pop(str(pmid), None)
            events.append((order, pmid))
        else:
            expected[str(pmid)] = f"Title {order}."
            events.append((order, record(pmid, f"Title {order}.", version=1 + order // 4)))
    places = data.draw(st.permutations(range(len(events))))
    replayed = data.draw(st.lists(st.sampled_from(range(len(events))), max_size=3))
    arrivals = [events[place] for place in (*places, *replayed)]
    applied = sum((write(index, order, change) for order, change in arrivals), Applied())
    assert applied.events == len(arrivals)
    index.commit()
    held = index.get([str(first + number) for number in range(1, 4)])
    assert {pmid: document.title for pmid, document in held.items()} == expected


def test_apply_goes_on_where_another_writer_ended(create: Create) -> None:
    first = create()
    fill(first, document(1, "First."))
    first.apply([Delete("1")])
    second = create()
    assert second.apply([Upsert(document(1, "Second."))]) == Applied(upserted=1)
    assert titles(second) == {"1": "Second."}


# What the server does behind one's back


def test_an_index_made_anew_while_writing_is_noticed(create: Create, client: Elasticsearch) -> None:
    index = create()
    write(index, 1, record(1, "One."))
    client.indices.delete(index=index.name)
    create()
    with pytest.raises(BioqaError, match=f"the index {index.name} was deleted and created anew"):
        index.commit()


def test_an_index_deleted_while_it_is_read(index: ElasticIndex, client: Elasticsearch) -> None:
    client.indices.delete(index=index.name)
    asks: list[Callable[[], Any]] = [
        lambda: index.search("insulin"),
        lambda: index.search_many(["insulin"]),
        lambda: index.get(["1"]),
        index.stats,
    ]
    for ask in asks:
        with pytest.raises(BioqaError, match=f"no index {index.name} "):
            ask()
