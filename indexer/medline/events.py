"""Events of a MEDLINE file: citations to insert or replace, and PMIDs to delete."""

from dataclasses import dataclass

from bioqa.bioasq.domain import Document


@dataclass(frozen=True, slots=True)
class Upsert:
    """A new or revised citation."""

    document: Document


@dataclass(frozen=True, slots=True)
class Delete:
    """A citation that NLM withdrew."""

    pmid: str


Event = Upsert | Delete
