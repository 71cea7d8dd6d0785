"""Questions read as they are, for indexes that know no words."""

from bioqa.indexer.search.questions.reading import Reading
from bioqa.indexer.search.wording import Every, Words


def as_asked(question: str) -> Reading:
    return Reading(question, Every((Words(question),)), (question,))
