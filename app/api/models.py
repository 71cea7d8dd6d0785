"""List the rankers."""

from fastapi import APIRouter

from bioqa.app.answers.service import CurrentService
from bioqa.app.http.schemas import Model, Models

router = APIRouter(tags=["about"])


@router.get("/v1/models")
async def the_models(service: CurrentService) -> Models:
    """List the rankers that questions may name, with their settings, training and measured scores."""
    return Models(
        models=[
            Model(
                name=ranker.name,
                hash=ranker.hash,
                default=ranker is service.ranker,
                config=dict(ranker.config),
            )
            for ranker in service.rankers.values()
        ]
    )
