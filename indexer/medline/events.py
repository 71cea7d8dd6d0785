"""What a MEDLINE file says happened to citations, in document order."""

from dataclasses import dataclass

from bioqa.bioasq.domain import Document


@dataclass(frozen=True, slots=True)
class Upsert:
    document: Document


@dataclass(frozen=True, slots=True)
class Delete:
    pmid: str


Event = Upsert | Delete
