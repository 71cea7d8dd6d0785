"""What was searched for: the notation that was recognised in a question, and how its words were read."""

from dataclasses import dataclass

from bioqa.indexer.search.notation.identifiers import Identifier
from bioqa.indexer.search.notation.interpretation import Interpretation
from bioqa.indexer.search.questions.reading import Correction, Expansion, Reading


@dataclass(frozen=True, slots=True)
class Understood:
    words: str
    """What documents were ranked by, corrected; empty if they are only listed, the newest first."""
    restriction: str | None = None
    """What they must be like, in PubMed's notation."""
    identifiers: tuple[Identifier, ...] = ()
    """The articles that the question names: each has a ``kind`` and a ``value``."""
    corrections: tuple[Correction, ...] = ()
    """Misspelt words: each has a ``word``, and the ``correction`` that was searched for instead."""
    expansions: tuple[Expansion, ...] = ()
    """Each has ``words`` of the question, what was searched for ``also``, and ``why``."""


def understood(interpretation: Interpretation | None, reading: Reading | None) -> Understood | None:
    """None for a question that was taken as it is."""
    if interpretation is None and not reading:
        return None
    found = interpretation or Interpretation("")
    return Understood(
        words=reading.text if reading else found.words,
        restriction=None if found.restriction is None else str(found.restriction),
        identifiers=found.identifiers,
        corrections=reading.corrections if reading else (),
        expansions=reading.expansions if reading else (),
    )
