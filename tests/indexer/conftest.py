"""An index of the test's own in Elasticsearch."""

from collections.abc import Iterator

import pytest
from elasticsearch import Elasticsearch

from bioqa.indexer.search.elastic.address import IndexAddress
from bioqa.indexer.search.elastic.connection import connect


@pytest.fixture
def address(elastic_url: str, elastic_name: str) -> IndexAddress:
    return IndexAddress((elastic_url,), elastic_name)


@pytest.fixture
def client(address: IndexAddress) -> Iterator[Elasticsearch]:
    with connect(address) as client:
        yield client
