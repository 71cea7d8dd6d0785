"""Telling a document's fault from a state of the whole, and a passing state from one that lasts."""

from typing import Any

import pytest

from bioqa.indexer.search.elastic.address import parse_address
from bioqa.indexer.search.elastic.faults import (
    describe_fault,
    is_document_fault,
    is_passing,
    lasting_state,
    require_whole,
)
from bioqa.system.errors import BioqaError

WHERE = parse_address("http://es:9200/pool")


def block(text: str) -> dict[str, Any]:
    return {"type": "cluster_block_exception", "reason": f"index [pool] blocked by: [{text}];"}


FLOOD = (
    "TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block"
)


@pytest.mark.parametrize(
    ("fault", "status", "words"),
    [
        (block("FORBIDDEN/4/index closed"), 403, "is closed: open it"),
        (
            block("FORBIDDEN/5/index read-only (api)"),
            403,
            "blocked pool by index.blocks.read_only,",
        ),
        (block("FORBIDDEN/6/cluster read-only (api)"), 403, "by cluster.blocks.read_only,"),
        (block("FORBIDDEN/7/index read (api)"), 403, "by index.blocks.read,"),
        (block("FORBIDDEN/8/index write (api)"), 403, "by index.blocks.write,"),
        (block("FORBIDDEN/9/index metadata (api)"), 403, "by index.blocks.metadata,"),
        (block(FLOOD), 429, "its disk is almost full"),
        (block("FORBIDDEN/12/index read-only / allow delete (api)"), 403, "its disk is almost full"),
        (block("FORBIDDEN/13/cluster read-only / allow delete (api)"), 403, "read_only_allow_delete"),
        (block("FORBIDDEN/77/of a plugin"), 403, "somebody has blocked pool by a block, which"),
        ({"type": "index_closed_exception", "reason": "closed"}, 400, "is closed: open it"),
    ],
)
def test_a_state_of_the_whole_lasts_and_is_named(fault: dict[str, Any], status: int, words: str) -> None:
    assert words in lasting_state(fault, "pool")
    assert words in describe_fault(fault, status, WHERE)
    assert ("disk" in words) == ("disk" in lasting_state(fault, "pool"))
    assert not is_document_fault(fault, status)
    assert not is_passing(fault, status)


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("index_not_found_exception", 404),
        ("security_exception", 403),
        ("security_exception", 401),
        ("validation_exception", 400),  # the cluster's limit of shards
        ("io_exception", 500),
        ("quota_exceeded", 402),
        ("insufficient_storage", 507),
    ],
)
def test_other_faults_of_the_whole(kind: str, status: int) -> None:
    fault = {"type": kind, "reason": "so it is"}
    assert not is_document_fault(fault, status)
    assert not is_passing(fault, status)


def test_faults_of_a_document() -> None:
    for kind in ("document_parsing_exception", "illegal_argument_exception", "unknown_exception"):
        assert is_document_fault({"type": kind}, 400)


def test_passing_faults() -> None:
    assert is_passing({"type": "es_rejected_execution_exception"}, 429)
    assert is_passing({"type": "unavailable_shards_exception"}, 503)
    assert is_passing(block("SERVICE_UNAVAILABLE/1/state not recovered / initialized"), 503)
    assert is_passing({}, 502)


def shards(failed: int = 0, **more: Any) -> dict[str, Any]:
    return {"_shards": {"total": 3, "failed": failed, **more}, "timed_out": False}


def test_an_answer_is_whole_or_none() -> None:
    require_whole(shards(), WHERE)
    failures = [{"reason": {"reason": "corrupt"}}]
    for answer, words in (
        (shards(1, failures=failures), "1 of 3 shards failed: corrupt"),
        (shards(1), "1 of 3 shards failed: no reason given"),
        (shards() | {"timed_out": True}, "timed out"),
        (shards() | {"terminated_early": True}, "terminated early"),
    ):
        with pytest.raises(BioqaError, match=f"partial answer, which is not used: .*{words}"):
            require_whole(answer, WHERE)
