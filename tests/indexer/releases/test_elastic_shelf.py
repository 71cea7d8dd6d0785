"""Releases in Elasticsearch: their alias and their notes."""

from typing import Any

import pytest

from bioqa.indexer.releases.elastic_shelf import NOTE, ElasticShelf
from bioqa.indexer.releases.shelf import Release, Shelf
from bioqa.indexer.search.elastic.address import NO_CREDENTIALS, parse_address
from bioqa.indexer.search.elastic.connection import connect
from bioqa.indexer.search.elastic.index import ElasticIndex
from bioqa.system.errors import BioqaError
from tests.proxies import Garbling


def build(shelf: Shelf, name: str) -> str:
    shelf.target(name, "").close()
    return name


def test_a_crash_between_alias_and_note_changes_nothing(elastic_url: str, elastic_name: str) -> None:
    where = parse_address(f"{elastic_url}/{elastic_name}")
    with ElasticShelf(where, NO_CREDENTIALS) as shelf, connect(where) as client:
        old, new = build(shelf, f"{elastic_name}-2024"), build(shelf, f"{elastic_name}-2025")
        shelf.serve(old, None)
        shelf.serve(new, old)
        index = ElasticIndex.open(client, where)
        index.annotate(**{NOTE: {"served": False, "previous": old}})
        assert shelf.serving() == Release(new, 2025, 1, served=True, previous=old)
        shelf.go_back(old)
        assert shelf.releases()[1] == Release(new, 2025, 1, served=True, previous=old)


def test_an_alias_of_something_else_is_told(elastic_url: str, elastic_name: str) -> None:
    where = parse_address(f"{elastic_url}/{elastic_name}")
    with ElasticShelf(where, NO_CREDENTIALS) as shelf, connect(where) as client:
        client.indices.create(index=f"{elastic_name}-mine", aliases={elastic_name: {}})
        with pytest.raises(BioqaError, match=rf"the alias {elastic_name} stands for {elastic_name}-mine"):
            shelf.serving()
        assert shelf.releases() == ()


@pytest.mark.parametrize(
    ("answer", "words"),
    [(b"<html></html>", "cannot be read"), ({"acknowledged": False}, "did not confirm in time")],
)
@pytest.mark.parametrize("pattern", ["/_aliases", "PUT .*/_mapping"])
def test_a_release_serves_only_if_the_server_confirms_it(
    elastic_url: str, elastic_name: str, pattern: str, answer: Any, words: str
) -> None:
    with (
        Garbling(elastic_url) as proxy,
        ElasticShelf(parse_address(f"{proxy.url}/{elastic_name}"), NO_CREDENTIALS) as shelf,
    ):
        name = build(shelf, f"{elastic_name}-2026")
        proxy.pattern, proxy.change = pattern, lambda _: answer
        with pytest.raises(BioqaError, match=words):
            shelf.serve(name, None)
