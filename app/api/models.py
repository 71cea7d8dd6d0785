"""What ranks here."""

from fastapi import APIRouter

from app.schemas import Model, Models
from app.service import CurrentService

router = APIRouter(tags=["about"])


@router.get("/v1/models")
async def the_models(service: CurrentService) -> Models:
    """The rankers that questions can be answered with: their settings, training and measured scores."""
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
