"""What ranks here."""

from fastapi import APIRouter

from app.schemas import Model, Models
from app.service import CurrentService

router = APIRouter(tags=["about"])


@router.get("/v1/models")
async def the_models(service: CurrentService) -> Models:
    """The rankers that questions can be answered with: their settings, training and measured scores."""
    ranker = service.ranker
    return Models(
        models=[Model(name=ranker.name, hash=ranker.hash, default=True, config=dict(ranker.config))]
    )
