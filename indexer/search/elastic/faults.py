"""What Elasticsearch reports as wrong: of one document, of the index or cluster as a whole, or for a moment.

The difference decides what loading does. A document that the server refuses is counted and listed. A state of
the whole, such as a write block, is the fault of no document: loading stops, and notes nothing as loaded.
"""

import re
from collections.abc import Mapping
from typing import Any

from elasticsearch import ApiError

from bioqa.indexer.search.elastic.address import IndexAddress
from bioqa.system.errors import BioqaError

MAJOR = 9
"""Major version of the client, and so of the server."""

RETRIED_STATUS = (429, 502, 503, 504)
"""Status codes, of the server or of a proxy in front of it, after which a retry may succeed."""

MAX_REASON_LENGTH = 300
"""Limit on quotations from error messages, which may include a whole document."""

OTHER_MAJOR = "media_type_header_exception"
"""Error type of a server whose major version differs from the client's."""

BLOCKED = "cluster_block_exception"
CLOSED = "index_closed_exception"
MISSING = "index_not_found_exception"
FORBIDDEN = "security_exception"

_BLOCK = re.compile(r"\[(?:FORBIDDEN|TOO_MANY_REQUESTS)/(\d+)/([^\]]*)")
"""A block that stays until somebody removes it, as the server writes it: its number and its description."""

FLOOD_STAGE = 12
_SETTINGS_OF_BLOCKS = {
    5: "index.blocks.read_only",
    6: "cluster.blocks.read_only",
    7: "index.blocks.read",
    8: "index.blocks.write",
    9: "index.blocks.metadata",
    13: "cluster.blocks.read_only_allow_delete",
}

_WHOLE_INDEX = {BLOCKED, CLOSED, MISSING, FORBIDDEN, "validation_exception"}
"""Types of errors that concern the index, the cluster or the credentials, whatever their status."""

_OF_THE_DOCUMENT = (400, 413)
"""Status codes of a document that cannot be indexed."""


def is_document_fault(fault: Mapping[str, Any], status: int) -> bool:
    """Whether the server refuses this document, and would take others."""
    return status in _OF_THE_DOCUMENT and fault.get("type") not in _WHOLE_INDEX


def is_passing(fault: Mapping[str, Any], status: int) -> bool:
    """Whether a retry may succeed: the server is overloaded or starting, but not blocked."""
    return status in RETRIED_STATUS and not lasting_state(fault, "")


def lasting_state(fault: Mapping[str, Any], name: str) -> str:
    """Describe the state in which the index ``name`` stays until somebody changes it; "" if it is another
    error."""
    kind, reason = str(fault.get("type", "")), str(fault.get("reason", ""))
    if kind == CLOSED:
        return f"the index {name} is closed: open it, and run this again to resume"
    if kind != BLOCKED:
        return ""
    blocks = [(int(number), text) for number, text in _BLOCK.findall(reason)]
    return "; ".join(_block(number, text, name) for number, text in blocks)


def _block(number: int, text: str, name: str) -> str:
    quoted = f"({number}/{text})"
    if number == FLOOD_STAGE:
        return (
            f"Elasticsearch takes no writes into {name}: its disk is almost full; free some space (the block "
            f"is then removed automatically) and run this again to resume {quoted}"
        )
    if number == 4:
        return f"the index {name} is closed: open it, and run this again to resume {quoted}"
    setting = _SETTINGS_OF_BLOCKS.get(number, "a block")
    return (
        f"somebody has blocked {name} by {setting}, which does not go away by itself: remove the block, and "
        f"run this again to resume {quoted}"
    )


def describe_fault(fault: Mapping[str, Any], status: int, address: IndexAddress) -> str:
    """Describe an error object from a response of the server."""
    kind, hosts = str(fault.get("type", "")), ", ".join(address.hosts)
    causes = fault.get("root_cause") or [fault]
    # Cut at the first brace: internal objects of the server follow.
    reason = str(causes[0].get("reason") or fault.get("reason")).split("{")[0][:MAX_REASON_LENGTH]
    if kind == OTHER_MAJOR:
        return wrong_version(
            address, "an Elasticsearch of another major version (it refuses this client's requests)"
        )
    if kind == MISSING:
        return f"no index {address.name} at {hosts}"
    if state := lasting_state(fault, address.name):
        return state
    if kind == FORBIDDEN:
        return f"these credentials do not allow it at {hosts} ({status}): {reason}"
    if status == 503 and kind in ("search_phase_execution_exception", "no_shard_available_action_exception"):
        return (
            f"shards of the index {address.name} at {hosts} are not available (the cluster is red): {reason}"
        )
    if status == 503 and kind in ("master_not_discovered_exception", BLOCKED):
        return f"the Elasticsearch cluster at {hosts} has no master or has not recovered yet: {reason}"
    if status == 429:
        return f"Elasticsearch at {hosts} is overloaded (429): {reason}"
    return f"Elasticsearch at {hosts} refuses ({status}, {kind}): {reason}"


def fault_of(error: ApiError) -> Mapping[str, Any]:
    """The error object of a response; empty if the response has none, as a proxy's."""
    inner = error.body.get("error") if isinstance(error.body, dict) else None
    return inner if isinstance(inner, dict) else {}


def error_type(error: ApiError) -> str:
    return str(fault_of(error).get("type", ""))


def wrong_version(address: IndexAddress, what: str) -> str:
    return f"{address.hosts[0]} is {what}; this bioqa needs Elasticsearch {MAJOR} (the major version decides)"


def require_whole(answer: Mapping[str, Any], address: IndexAddress) -> None:
    """Raise BioqaError for an answer from which something is missing: a shard failed, or the server stopped
    early. An answer is complete or none."""
    shards = answer["_shards"]
    why = ""
    if shards["failed"]:
        first = (shards.get("failures") or [{}])[0].get("reason") or {}
        reason = first.get("reason", "no reason given")
        why = f"{shards['failed']} of {shards['total']} shards failed: {reason}"
    elif answer.get("timed_out"):
        why = "the search timed out on the server"
    elif answer.get("terminated_early"):
        why = "the search was terminated early"
    if why:
        raise BioqaError(
            f"Elasticsearch at {', '.join(address.hosts)} sent a partial answer, which is not used: "
            f"{why[:MAX_REASON_LENGTH]}"
        )


def require_acknowledged(answer: Mapping[str, Any], address: IndexAddress) -> None:
    """Raise BioqaError if the server did not confirm a change of an index, its settings or aliases."""
    if answer["acknowledged"] is not True:
        raise BioqaError(
            f"Elasticsearch at {', '.join(address.hosts)} did not confirm in time a change of "
            f"{address.name}; run it again"
        )
