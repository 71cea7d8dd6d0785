"""Synonyms beside an index in Elasticsearch. What those in a file do, too, is in test_synonyms.py."""

from pathlib import Path

import pytest
from elasticsearch import Elasticsearch

from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.search.defined import long_key
from bioqa.indexer.search.elastic.address import IndexAddress
from bioqa.indexer.search.elastic.connection import connect
from bioqa.indexer.search.elastic.index import ElasticIndex
from bioqa.indexer.search.elastic.synonyms import (
    LOOKED_FOR_EVERY_S,
    SynonymsAlias,
    build,
    synonyms_name,
)
from bioqa.indexer.search.filtering.filters import Filters
from bioqa.indexer.search.notation.interpretation import interpret
from bioqa.indexer.search.questions.reading import Expansion
from bioqa.indexer.search.synonyms import Built, SynonymsError, read_descriptors
from bioqa.system.errors import BioqaError
from tests.indexer.documents import document
from tests.indexer.search.cited import CITED
from tests.indexer.search.test_synonyms import DESCRIPTORS, WHOLE
from tests.proxies import Proxy


def _indices(client: Elasticsearch, address: IndexAddress) -> list[str]:
    return sorted(client.indices.get(index=f"{synonyms_name(address.name)}*", expand_wildcards="all").body)


def test_they_are_found_within_a_minute(client: Elasticsearch, address: IndexAddress) -> None:
    now = 0.0
    alias = SynonymsAlias(client, address, clock=lambda: now)
    assert not alias.current()
    assert build(DESCRIPTORS, client, address) == Built(descriptors=2, terms=2)
    assert not alias.current()
    now += LOOKED_FOR_EVERY_S
    first = alias.current()
    assert first.of([long_key("brassy fever")])
    now += LOOKED_FOR_EVERY_S
    assert alias.current() is first
    build(DESCRIPTORS, client, address)
    now += LOOKED_FOR_EVERY_S
    assert alias.current() is not first
    # Until it looks again, a service that still has the old ones finds none, and fails at nothing.
    assert first.of([long_key("brassy fever")]) == {}


def test_new_ones_replace_old_ones_and_what_killed_runs_left(
    client: Elasticsearch, address: IndexAddress
) -> None:
    build(DESCRIPTORS, client, address)
    (first,) = _indices(client, address)
    left = client.indices.get_mapping(index=first)[first]["mappings"]
    client.indices.create(index=f"{synonyms_name(address.name)}-left", mappings=left)
    client.indices.create(index=f"{synonyms_name(address.name)}-another")
    build(DESCRIPTORS, client, address)
    (now,) = {*_indices(client, address)} - {f"{synonyms_name(address.name)}-another"}
    assert now != first
    assert [*client.indices.get_alias(index=synonyms_name(address.name)).body] == [now]


def test_a_broken_file_leaves_the_old_ones(
    client: Elasticsearch, address: IndexAddress, tmp_path: Path
) -> None:
    build(DESCRIPTORS, client, address)
    before = _indices(client, address)
    (tmp_path / "desc.xml").write_bytes(WHOLE[:-500])
    with pytest.raises(SynonymsError, match=r"desc\.xml: broken XML"):
        build(tmp_path / "desc.xml", client, address)
    assert _indices(client, address) == before


@pytest.mark.parametrize("request_", ["_bulk", "_aliases"])
def test_a_lost_answer_changes_nothing(client: Elasticsearch, address: IndexAddress, request_: str) -> None:
    build(DESCRIPTORS, client, address)
    before = _indices(client, address)
    with Proxy(address.hosts[0]) as proxy, connect(IndexAddress((proxy.url,), address.name)) as through:
        proxy.fail(request_, drop=True, answered=True)
        build(DESCRIPTORS, through, address)
    (now,) = _indices(client, address)
    assert [now] != before
    assert client.count(index=now)["count"] == client.count(index=synonyms_name(address.name))["count"]
    assert client.count(index=now)["count"] == len(read_descriptors(DESCRIPTORS))


def test_what_cannot_be_written_is_removed(client: Elasticsearch, address: IndexAddress) -> None:
    client.indices.create(index=synonyms_name(address.name))  # somebody's own, where the alias should be
    with pytest.raises(BioqaError, match=synonyms_name(address.name)):
        build(DESCRIPTORS, client, address)
    assert _indices(client, address) == [synonyms_name(address.name)]
    with pytest.raises(SynonymsError, match="has format None"):
        SynonymsAlias(client, address).current()


def test_an_index_uses_them(client: Elasticsearch, address: IndexAddress) -> None:
    with ElasticIndex.create(connect(address), address) as index:
        index.apply(map(Upsert, (*CITED, document(900, "The tinsmith's ague of the young."))))
        index.commit()
        build(DESCRIPTORS, client, address)
        reading = index.read("Who gets brassy fever?")
        assert reading.expansions == (Expansion("brassy fever", ("Tinsmith's Ague",), "synonym"),)
        assert [found.document.pmid for found in index.search(reading.wording)] == ["900"]


def test_a_heading_finds_narrower_ones(client: Elasticsearch, address: IndexAddress, tmp_path: Path) -> None:
    lungs = WHOLE.replace(b"Brassy Fevers", b"Lung Diseases").replace(b"Tamsin Sign", b"Asthma")
    (tmp_path / "desc.xml").write_bytes(lungs)
    with ElasticIndex.create(connect(address), address) as index:
        index.apply(map(Upsert, CITED))
        index.commit()

        def found(query: str) -> list[str]:
            interpretation = interpret(query)
            assert interpretation is not None
            filters = Filters(restriction=interpretation.restriction)
            newest = sorted(each.pmid for each in index.newest(filters))
            assert index.count(None, filters) == len(newest)
            return newest

        build(tmp_path / "desc.xml", client, address)
        assert found("lung diseases[mh]") == found("asthma[mh]") == ["101", "102"]
        assert found("lung diseases[mh:noexp]") == found("lung diseases[mh] NOT asthma[mh:noexp]") == []
