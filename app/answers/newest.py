"""Newest first: of the candidates those that fit, by date.

Among a hundred candidates sorted by date alone, the newest ones hardly touch the question. So candidates are
ranked first, and only those that fit are sorted. Which fit is said by their calibrated scores, so that it
means the same for every ranker; rankers without a scale show all candidates.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from bioqa.app.answers.question import Options
from bioqa.models.answers.ranking import RankedDocument, Ranking
from bioqa.models.answers.scale import Scale

LEAST_SCORE = 0.05
"""Documents below it do not fit, but for the best one."""
SHARE_OF_BEST = 0.2
"""Nor do those with less than this share of the best one's score. On BioASQ 5 both together keep 94 % of the
relevant candidates; of a hundred candidates six in the median."""


@dataclass(frozen=True, slots=True)
class NewestPage:
    """A part of the documents that fit."""

    ranking: Ranking
    """Best first; ``by_date`` puts them in order once their sentences are known."""
    fitting: int | None
    """How many documents fit; None if nothing says which do."""
    next_offset: int | None


def newest_page(ranking: Ranking, options: Options, scale: Scale | None) -> NewestPage:
    """The newest of the documents that fit, from ``options.offset`` on."""
    documents = ranking.documents
    fitting = documents if scale is None else documents[: _count_fitting(documents, scale)]
    begin, end = options.offset, options.offset + options.max_documents
    page = {ranked.document.pmid for ranked in by_date(fitting)[begin:end]}
    return NewestPage(
        replace(ranking, documents=tuple(ranked for ranked in fitting if ranked.document.pmid in page)),
        None if scale is None else len(fitting),
        end if end < len(fitting) else None,
    )


def by_date(documents: Sequence[RankedDocument]) -> tuple[RankedDocument, ...]:
    """The newest first, those without a date last; those of one day stay in their order."""
    return tuple(sorted(documents, key=lambda ranked: ranked.document.published or date.min, reverse=True))


def fitting_from(best: float) -> float:
    """The least calibrated score of documents that fit, where the best one has ``best``."""
    return min(best, max(LEAST_SCORE, SHARE_OF_BEST * best))


def _count_fitting(documents: Sequence[RankedDocument], scale: Scale) -> int:
    """How many of the documents fit; they are sorted by score, the best first."""
    scores = scale.documents(np.array([ranked.score for ranked in documents], dtype=np.float64))
    return int(np.count_nonzero(scores >= fitting_from(float(scores.max(initial=0.0)))))
