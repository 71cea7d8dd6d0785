"""What an explanation says of a ranker and of the selection. Imported without torch.

``bioqa.models.explaining`` makes them. They are the schema of what is returned, too.
"""

from dataclasses import dataclass
from typing import Literal

from pydantic import computed_field

from bioqa.bioasq.domain import Section, Sentence
from bioqa.models.features.words import describe
from bioqa.system.schema import DESCRIBED_BY_DOCSTRINGS

Unit = Literal["document", "sentence"]


@dataclass(frozen=True, slots=True)
class Summand:
    """A part of the score, which is their sum."""

    name: str
    effect: float


@dataclass(frozen=True, slots=True)
class FeatureEffect:
    __pydantic_config__ = DESCRIBED_BY_DOCSTRINGS

    name: str
    unit: Unit
    value: float
    """Before scaling; of a sentence feature, that of the document's best sentence."""
    mean: float
    """Over the training data."""
    effect: float
    """The document's score minus its score if the feature had its mean, in all of the document's sentences if
    it is one of theirs."""

    @computed_field  # type: ignore[prop-decorator]  # as pydantic documents it
    @property
    def description(self) -> str:
        """The feature in a few words."""
        return describe(self.unit, self.name)


@dataclass(frozen=True, slots=True)
class WordEffect:
    """The scores of retrieval stay as they were."""

    __pydantic_config__ = DESCRIBED_BY_DOCSTRINGS

    word: str
    effect: float
    """The score minus the score without the word in the question."""
    rank: int | None
    """The document's without it; with more than 100 candidates only where the effect is large, else null."""


@dataclass(frozen=True, slots=True)
class Swap:
    """A feature with which the document would be selected: with the last selected one's value of it."""

    __pydantic_config__ = DESCRIBED_BY_DOCSTRINGS

    name: str
    value: float
    other: float
    rank: int
    """The document's with the other value."""


@dataclass(frozen=True, slots=True)
class RankerExplanation:
    """What would have come of it, if the article is no candidate."""

    __pydantic_config__ = DESCRIBED_BY_DOCSTRINGS

    ranker: str
    score: float
    """The ranker's own, not a probability."""
    rank: int
    candidates: int
    parts: tuple[Summand, ...]
    """They add up to the score; none where it is no sum."""
    features: tuple[FeatureEffect, ...]
    """The largest effects first."""
    additive: bool
    """Whether the features' effects add up to what they do together."""
    words: tuple[WordEffect, ...]
    words_additive: bool
    """Whether the words' effects add up to the score: then they are its parts, exactly."""
    swaps: tuple[Swap, ...]
    first: "RankerExplanation | None" = None
    """What a cascade's first ranker did."""


@dataclass(frozen=True, slots=True)
class SentenceStanding:
    __pydantic_config__ = DESCRIBED_BY_DOCSTRINGS

    section: Section
    begin: int
    end: int
    text: str
    probability: float
    """The sentence's alone: sigmoid(c·s + o)."""
    agreement: float
    """The factor for what the other best documents say: e^(g·(u - 1)), from 0 to 1."""
    aptness: float
    """The factor of a second reading: e^(h·r)."""
    score: float
    """The selection's: probability, agreement, aptness and the document's share multiplied."""
    rank: int | None
    """Among all sentences of the selected documents; none if its document is not selected."""
    selected: bool

    @property
    def sentence(self) -> Sentence:
        return Sentence(self.section, self.begin, self.end)


@dataclass(frozen=True, slots=True)
class SelectionExplanation:
    __pydantic_config__ = DESCRIBED_BY_DOCSTRINGS

    selected: bool
    last_document_score: float | None
    """The ranker's score of the last document that was selected."""
    share: float
    """The document's, by which its sentences' probabilities are multiplied; all shares add up to 1."""
    last_sentence_score: float | None
    sentences: tuple[SentenceStanding, ...]
    """The best of the document."""
