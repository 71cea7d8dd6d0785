"""What explanations return over HTTP: why an article is, or is not, in an answer."""

from pydantic import BaseModel, Field

from bioqa.app.answers.answer import Answer
from bioqa.app.answers.explaining import RetrievalExplanation
from bioqa.models.answers.explanations import RankerExplanation, SelectionExplanation


class ExplainedAnswer(BaseModel):
    """Where an article stood at each stage; what depends on a ranker is null if documents are only listed, or
    if the index does not have the article.
    """

    retrieval: RetrievalExplanation | None
    ranking: RankerExplanation | None
    selection: SelectionExplanation | None
    needed: tuple[str, ...] = Field(
        description="What would have had to be different for it, or more of its sentences, to be selected."
    )
    index: str
    degraded: str | None = Field(description="The reason why BM25 replaced the ranker; null normally.")


def explained_answer(answer: Answer) -> ExplainedAnswer:
    explanation = answer.explanation
    return ExplainedAnswer(
        retrieval=explanation.retrieval if explanation else None,
        ranking=explanation.ranking if explanation else None,
        selection=explanation.selection if explanation else None,
        needed=explanation.needed if explanation else (),
        index=answer.index,
        degraded=answer.degraded,
    )
