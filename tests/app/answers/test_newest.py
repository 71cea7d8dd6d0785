"""Which documents fit, and in which order they are shown."""

from dataclasses import replace
from datetime import date

import pytest

from bioqa.app.answers.newest import by_date, newest_page
from bioqa.app.answers.question import Options
from bioqa.models.answers.ranking import RankedDocument, Ranking
from bioqa.models.answers.scale import Curve, Scale
from tests.models.toys import document

# Log-odds as they are: a score of 0 is a probability of one half.
IDENTITY = Curve((-20.0, 20.0), (-20.0, 20.0))
SCALE = Scale(IDENTITY, IDENTITY)


def _ranking(*scores: float) -> Ranking:
    """The later a document stands, the newer it is; the last one has no date."""
    days = [date(1990 + place, 1, 1) for place in range(len(scores) - 1)]
    documents = [
        replace(document(place + 1, "A title."), published=day) for place, day in enumerate([*days, None])
    ]
    return Ranking(
        tuple(RankedDocument(one, score, (0.0,)) for one, score in zip(documents, scores, strict=True))
    )


@pytest.mark.parametrize(
    ("scores", "fitting"),
    [
        ((2.0, 1.0, 0.0, -1.0, -2.0, -6.0), 4),  # .88, .73, .50, .27, and .12 below a fifth of the first
        ((-1.5, -2.9, -2.99, -4.0), 2),  # .18, .052, .048: a fifth would be .036
        ((-5.0, -5.0, -5.1, -9.0), 2),  # nothing reaches .05: the best one stays, and what equals it
        ((3.0,), 1),
        ((), 0),
    ],
)
def test_fit_is_what_reaches_a_fifth_of_the_best_score_and_a_twentieth(
    scores: tuple[float, ...], fitting: int
) -> None:
    ranking = _ranking(*scores) if scores else Ranking(())
    page = newest_page(ranking, Options(max_documents=100), SCALE)
    assert page.fitting == fitting
    assert page.ranking.documents == ranking.documents[:fitting]
    assert page.next_offset is None


def test_without_a_scale_all_candidates_are_sorted() -> None:
    ranking = _ranking(2.0, 1.0, -9.0)
    page = newest_page(ranking, Options(max_documents=2), None)
    assert (page.fitting, page.next_offset) == (None, 2)
    assert [ranked.document.pmid for ranked in by_date(page.ranking.documents)] == ["2", "1"]


def test_pages_repeat_and_leave_out_nothing() -> None:
    ranking = _ranking(*(1.0 - 0.01 * place for place in range(23)))
    offset: int | None = 0
    shown: list[str] = []
    while offset is not None:
        page = newest_page(ranking, Options(max_documents=5, offset=offset), SCALE)
        shown += [ranked.document.pmid for ranked in by_date(page.ranking.documents)]
        offset = page.next_offset
    assert shown == [*(str(place) for place in range(22, 0, -1)), "23"]
