"""What was searched for: the notation that was recognised in a question, and how its words were read."""

from dataclasses import dataclass
from typing import Literal

from bioqa.indexer.search.notation.interpretation import Interpretation
from bioqa.indexer.search.questions.reading import CorrectedWord, Expansion, Reading
from bioqa.system.schema import DESCRIBED_BY_DOCSTRINGS


@dataclass(frozen=True, slots=True)
class NamedArticle:
    kind: Literal["pmid", "pmcid", "doi"]
    value: str


@dataclass(frozen=True, slots=True)
class Understood:
    """What was searched for instead of the question as it is, or beside its words."""

    __pydantic_config__ = DESCRIBED_BY_DOCSTRINGS

    words: str
    """What the documents are ranked by, corrected; empty if they are only listed, the newest first."""
    restriction: str | None = None
    """What they must be like, in PubMed's notation."""
    identifiers: tuple[NamedArticle, ...] = ()
    """The articles that the question names, if it does."""
    corrections: tuple[CorrectedWord, ...] = ()
    """Words that were searched for instead of misspelt ones; none with literal."""
    expansions: tuple[Expansion, ...] = ()
    """What was searched for, too; none with literal."""


def understood(interpretation: Interpretation | None, reading: Reading | None) -> Understood | None:
    """None for a question that was taken as it is."""
    if interpretation is None and not reading:
        return None
    understood = interpretation or Interpretation("")
    return Understood(
        words=reading.text if reading else understood.words,
        restriction=None if understood.restriction is None else str(understood.restriction),
        identifiers=tuple(NamedArticle(named.kind, named.value) for named in understood.identifiers),
        corrections=reading.corrections if reading else (),
        expansions=reading.expansions if reading else (),
    )
