"""The HTTP service: the application, its routes, middleware and description."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from bioqa.app import observability, web
from bioqa.app.answers.answering import IndexUnavailable
from bioqa.app.answers.engine import Engine, open_engine
from bioqa.app.answers.service import Service
from bioqa.app.api import (
    batches,
    bioasq,
    citations,
    comparing,
    documents,
    embeddings,
    evaluation,
    explaining,
    health,
    info,
    metrics,
    models,
    rerank,
    search,
)
from bioqa.app.api.uploads import Uploads
from bioqa.app.http import errors
from bioqa.app.http.compression import Compression
from bioqa.app.http.limits import TOGETHER, BodiesInFlight, BodyLimit
from bioqa.app.http.methods import HeadAsGet
from bioqa.app.http.parsers import Parsers
from bioqa.app.http.prefix import UnderPrefix, parse_prefix
from bioqa.app.http.schemas import BatchTestSet
from bioqa.app.jobs.batches import BatchJobs
from bioqa.app.observability import logs
from bioqa.app.security import guards
from bioqa.app.settings import Settings, load_settings
from bioqa.app.version import version
from bioqa.app.web import comparing as comparing_page

DESCRIPTION = (
    "Answers biomedical questions with the best MEDLINE articles and sentences, in the format of the BioASQ "
    "challenge. Every error is problem+json (RFC 9457)."
)

UPLOADS = (
    "/v1/bioasq/batches",
    "/v1/bioasq/validate",
    "/v1/bioasq/evaluate",
    "/v1/bioasq/compare",
    *web.UPLOADS,
)
"""Addresses that accept whole files, with a larger limit."""

log = logging.getLogger("bioqa")


def create_app(settings: Settings | None = None, engine: Engine | None = None) -> FastAPI:
    """Create the service from settings (None: the environment's), or around an engine.

    Raises BioqaError if a setting, a ranker, or the folder of batches cannot be used. The index may be
    created later: until then, questions get 503.
    """
    settings = (settings or load_settings()).check()
    configure_logs = partial(logs.configure, settings.log_level, settings.log_format)
    service = Service(settings, engine or open_engine(settings, configure_logs))
    app = FastAPI(
        title="bioqa",
        version=version(),
        description=DESCRIPTION,
        docs_url=None,  # FastAPI's page loads its script from a public server; bioqa.app.web has its own
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.state.service = service
    app.state.batches = BatchJobs(service, settings.data_dir)
    modules = (batches, evaluation, comparing, comparing_page, documents, citations)
    app.state.parsers = Parsers(settings, [module.__name__ for module in modules], service.engine.index)
    service.watched.append(app.state.parsers)
    app.state.uploads = Uploads(settings.max_upload_bytes, app.state.parsers)
    uploads = dict.fromkeys(UPLOADS, settings.max_upload_bytes)
    most = max(settings.max_body_bytes, settings.max_upload_bytes)
    bodies = BodiesInFlight(TOGETHER * most, TOGETHER // 2 * most)
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes, others=uploads, bodies=bodies)
    for module in (
        search,
        explaining,
        rerank,
        embeddings,
        bioasq,
        batches,
        evaluation,
        comparing,
        documents,
        citations,
        models,
        health,
        info,
    ):
        app.include_router(module.router)
    if settings.metrics != "off":
        app.include_router(metrics.router)
    errors.install(app)
    guards.guard(app, settings)
    web.install(app)
    app.add_middleware(Compression)
    app.add_middleware(HeadAsGet)
    observability.observe(app, settings, service, app.state.batches)
    guards.harden(app, settings)
    if prefix := parse_prefix(settings.root_path or ""):
        app.add_middleware(UnderPrefix, prefix=prefix)
    app.openapi = partial(_openapi, app)  # type: ignore[method-assign]
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    try:
        log.info("index open: %s", service.stats())
    except IndexUnavailable as error:
        log.warning("no index yet: %s", error)
    app.state.parsers.open()
    async with app.state.batches.running():
        yield
    app.state.parsers.close()
    service.close()
    observability.close(app)


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        reference = "#/components/schemas/{model}"
        problem = errors.Problem.model_json_schema(ref_template=reference)
        testset = BatchTestSet.model_json_schema(ref_template=reference)
        schema["components"]["schemas"] |= problem.pop("$defs") | {"Problem": problem}
        schema["components"]["schemas"] |= testset.pop("$defs") | {"BatchTestSet": testset}
        _limit(schema, app.state.service)
        if root := parse_prefix(app.state.service.settings.root_path or ""):
            schema["servers"] = [{"url": root}]
        guards.describe(schema, app.state.service.settings)
        app.openapi_schema = schema
    return app.openapi_schema


def _limit(schema: dict[str, Any], service: Service) -> None:
    """Add the settings' limits, which the request models do not know."""
    schemas = schema["components"]["schemas"]
    address = schema["paths"]["/v1/search"]["get"]["parameters"]
    parameters = {parameter["name"]: parameter["schema"] for parameter in address}
    requests = [schemas[name]["properties"] for name in ("SearchRequest", "ExplainRequest")]
    for searched in (*requests, parameters):
        searched["body"]["maxLength"] = service.settings.max_question_characters
        searched["ranker"]["anyOf"][0]["enum"] = [*service.rankers]
    schemas["AskedQuestion"]["properties"]["body"]["maxLength"] = service.settings.max_question_characters
    rerank_request = schemas["RerankRequest"]["properties"]
    rerank_request["query"]["maxLength"] = service.settings.max_question_characters
    rankers, *others = rerank_request["model"]["anyOf"]
    served = [{**rankers, "enum": [*service.rankers]}, {**rankers, "pattern": rerank.FOREIGN_MODEL}]
    rerank_request["model"]["anyOf"] = [*served, *others]
    schemas["TestSet"]["properties"]["questions"]["maxItems"] = service.settings.max_batch_questions
    schemas["BatchTestSet"]["properties"]["questions"]["maxItems"] = service.settings.max_testset_questions
