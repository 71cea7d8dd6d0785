"""Describe the running service."""

from contextlib import suppress

from fastapi import APIRouter

from bioqa.app.answers.answering import IndexUnavailable, LoadedRanker
from bioqa.app.answers.service import CurrentService
from bioqa.app.http.schemas import IndexInfo, Info, Limits, RankerInfo
from bioqa.app.settings import MAX_CANDIDATES
from bioqa.app.version import version

router = APIRouter(tags=["about"])


@router.get("/info")
def about(service: CurrentService) -> Info:
    """Return the version, the index, the rankers and the limits of requests."""
    settings = service.settings
    index = None
    with suppress(IndexUnavailable):
        stats = service.stats()
        index = IndexInfo(
            name=stats.name,
            documents=stats.documents,
            without_abstract=stats.without_abstract,
            size_bytes=stats.size_bytes,
        )
    return Info(
        name="bioqa",
        version=version(),
        index=index,
        ranker=_ranker(service.ranker),
        rankers=[_ranker(ranker) for ranker in service.rankers.values()],
        limits=Limits(
            max_body_bytes=settings.max_body_bytes,
            max_question_characters=settings.max_question_characters,
            max_batch_questions=settings.max_batch_questions,
            max_candidates=MAX_CANDIDATES,
            max_upload_bytes=settings.max_upload_bytes,
            max_testset_questions=settings.max_testset_questions,
        ),
    )


def _ranker(ranker: LoadedRanker) -> RankerInfo:
    return RankerInfo(name=ranker.name, hash=ranker.hash)
