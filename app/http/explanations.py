"""Schemas of explanations: why an article is, or is not, in an answer."""

from typing import Literal

from pydantic import BaseModel, Field

from bioqa.app.answers.answer import Answer


class ExplainedTerm(BaseModel):
    text: str
    score: float = Field(description="Its part of the document's BM25 score, exactly.")


class ExplainedRetrieval(BaseModel):
    pmid: str
    title: str | None = Field(description="null if the index does not have the article.")
    passes_filters: bool
    score: float = Field(description="BM25; 0 if it has none of the words.")
    rank: int | None = Field(description="Among all documents that pass the filters; null beyond 1,000.")
    candidates: int = Field(description="Documents that were handed to the ranker.")
    is_candidate: bool
    last_score: float | None = Field(description="Of the last candidate.")
    terms: list[ExplainedTerm]


class ExplainedPart(BaseModel):
    name: str
    effect: float


class ExplainedFeature(BaseModel):
    name: str
    unit: Literal["document", "sentence"]
    description: str
    value: float
    mean: float = Field(description="Over the training data.")
    effect: float = Field(description="The score minus the score with the mean in place of the value.")


class ExplainedWord(BaseModel):
    word: str
    effect: float = Field(description="The score minus the score without the word in the question.")
    rank: int = Field(description="The document's without it.")


class ExplainedSwap(BaseModel):
    """A feature with which the document would be selected: with the last selected one's value of it."""

    name: str
    value: float
    other: float
    rank: int


class ExplainedRanking(BaseModel):
    """Of an article that is no candidate: what would have come of it."""

    ranker: str
    score: float = Field(description="The ranker's own, not a probability.")
    rank: int
    candidates: int
    parts: list[ExplainedPart] = Field(description="They add up to the score; none where it is no sum.")
    features: list[ExplainedFeature]
    additive: bool = Field(description="Whether the features' effects add up to what they do together.")
    words: list[ExplainedWord]
    words_additive: bool = Field(description="Whether the words' effects add up to the score.")
    swaps: list[ExplainedSwap]
    first: "ExplainedRanking | None" = Field(description="Of a cascade's first ranker.")


class ExplainedSentence(BaseModel):
    section: str
    begin: int
    end: int
    text: str
    probability: float = Field(description="Of the sentence alone.")
    agreement: float = Field(description="The factor for what the other best documents say, from 0 to 1.")
    aptness: float = Field(description="The factor of a second reading, for what answers; 1 without one.")
    score: float = Field(description="Probability, agreement, aptness and the document's share multiplied.")
    rank: int | None = Field(description="Among the sentences of the selected documents.")
    selected: bool


class ExplainedSelection(BaseModel):
    selected: bool
    last_document_score: float | None
    share: float = Field(description="The document's, by which its sentences' probabilities are multiplied.")
    last_sentence_score: float | None
    sentences: list[ExplainedSentence] = Field(description="The article's best.")


class ExplainedAnswer(BaseModel):
    """Where an article stood at each stage; what depends on a ranker is null if documents are only listed, or
    if the index does not have the article.
    """

    retrieval: ExplainedRetrieval | None
    ranking: ExplainedRanking | None
    selection: ExplainedSelection | None
    needed: list[str] = Field(
        description="What would have had to be different for it, or more of its sentences, to be selected."
    )
    index: str
    degraded: str | None = Field(description="The reason why BM25 replaced the ranker; null normally.")


def explained_answer(answer: Answer) -> ExplainedAnswer:
    explanation = answer.explanation
    stages = (
        {"retrieval": None, "ranking": None, "selection": None, "needed": []}
        if explanation is None
        else explanation.as_dict()
    )
    return ExplainedAnswer.model_validate({**stages, "index": answer.index, "degraded": answer.degraded})
