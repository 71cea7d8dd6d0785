"""Whether an answer answers its question: a probability, and words for readers. Imported without nltk.

``bioqa.models.answers.evidence`` estimates it.
"""

from dataclasses import dataclass
from typing import Literal

from pydantic import computed_field

from bioqa.system.language import Language
from bioqa.system.schema import DESCRIBED_BY_DOCSTRINGS

Level = Literal["likely", "doubtful", "unlikely"]
"""Whether the best documents answer the question."""


@dataclass(frozen=True, slots=True)
class Confidence:
    """Whether the answer answers its question, as estimated: docs/confidence.md."""

    __pydantic_config__ = DESCRIBED_BY_DOCSTRINGS

    probability: float
    """That one of the ten best documents answers the question, in [0, 1]."""
    level: Level
    """`unlikely`: treat the answer as if nothing had been found."""
    language: Language | None = None
    """The language that the question seems to be in, if that is not English."""

    @computed_field  # type: ignore[prop-decorator]  # as pydantic documents it
    @property
    def caution(self) -> str:
        """The same in words, for people; empty if there is nothing to say."""
        said = []
        if self.level == "unlikely":
            said.append(
                "Probably nothing that was found answers the question "
                f"(estimated probability {self.probability:.2f})."
            )
        elif self.level == "doubtful":
            said.append(
                "It is doubtful whether what was found answers the question "
                f"(estimated probability {self.probability:.2f})."
            )
        if self.language is not None:
            said.append(f"The question seems to be in {self.language.name}: ask in English.")
        return " ".join(said)
