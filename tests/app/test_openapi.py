"""What schemathesis makes up from the OpenAPI description gets no 5xx and nothing undescribed."""

from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

OPERATIONS = (
    ("POST", "/v1/search"),
    ("GET", "/v1/search"),
    ("POST", "/v1/explain"),
    ("POST", "/v1/rerank"),
    ("POST", "/v1/embeddings"),
    ("POST", "/v1/bioasq"),
    ("POST", "/v1/bioasq/batches"),
    ("GET", "/v1/bioasq/batches"),
    ("GET", "/v1/bioasq/batches/{id}"),
    ("GET", "/v1/bioasq/batches/{id}/submission"),
    ("DELETE", "/v1/bioasq/batches/{id}"),
    ("POST", "/v1/bioasq/validate"),
    ("POST", "/v1/bioasq/evaluate"),
    ("POST", "/v1/bioasq/compare"),
    ("GET", "/v1/documents/{pmid}"),
    ("GET", "/v1/documents/{pmid}/similar"),
    ("POST", "/v1/documents"),
    ("GET", "/v1/citations"),
    ("POST", "/v1/citations"),
    ("GET", "/v1/models"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/info"),
    ("GET", "/metrics"),
)
MORE_THAN_A_SCHEMA_SAYS: dict[str, list[Any]] = {
    # Not every PMID is in the index.
    "/v1/citations": [positive_data_acceptance],
    # The encoder's name and the length of its vectors are known when it is loaded.
    "/v1/embeddings": [positive_data_acceptance],
    # No two questions may have the same id. Of a parameter that is repeated, the last one counts.
    "/v1/bioasq": [positive_data_acceptance, negative_data_rejection],
    # Wrong questions are told while others are answered; a file is any bytes.
    "/v1/bioasq/batches": [positive_data_acceptance, negative_data_rejection],
    "/v1/bioasq/validate": [positive_data_acceptance],
    "/v1/bioasq/evaluate": [positive_data_acceptance],
    "/v1/bioasq/compare": [positive_data_acceptance],
    # Not every text is a PMID.
    "/v1/explain": [positive_data_acceptance],
}
QUICK = settings(
    max_examples=40,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def test_every_operation_is_tried(application: FastAPI) -> None:
    paths = application.openapi()["paths"]
    assert {(m.upper(), path) for path, methods in paths.items() for m in methods} == set(OPERATIONS)


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_made_up_requests(application: FastAPI, method: str, path: str, mode: GenerationMode) -> None:
    operation = schemathesis.openapi.from_asgi("/openapi.json", application)[path][method]
    if mode is GenerationMode.NEGATIVE and not (operation.body or operation.path_parameters):
        return  # nothing can be wrong with it

    @QUICK
    @given(case=operation.as_strategy(generation_mode=mode))
    def try_it(case: Case[Any]) -> None:
        if isinstance(case.body, dict) and mode is GenerationMode.POSITIVE:
            # On a busy machine it may rightly be over.
            case.body.pop("timeout_ms", None)
            # Which languages there are, that days are in order, and how a query is written, is more than
            # the schema says.
            for name in ("languages", "published_after", "syntax"):
                case.body.pop(name, None)
        if case.query and mode is GenerationMode.POSITIVE:
            for name in ("timeout_ms", "languages", "published_after", "syntax"):
                case.query.pop(name, None)
        # The first text to be encoded waits for the encoder.
        case.call_and_validate(excluded_checks=MORE_THAN_A_SCHEMA_SAYS.get(path, []), timeout=60)

    try_it()


def test_openapi_shows_examples_that_work_and_problems_everywhere(client: TestClient) -> None:
    schema = client.get("/openapi.json").json()
    assert "HTTPValidationError" not in schema["components"]["schemas"]
    assert "Problem" in schema["components"]["schemas"]
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            errors = {s: r for s, r in operation["responses"].items() if s >= "400" and path != "/readyz"}
            assert all(list(r["content"]) == ["application/problem+json"] for r in errors.values())
            if method == "post":
                examples = operation["requestBody"]["content"]["application/json"]["examples"]
                for example in examples.values():
                    assert client.post(path, json=example["value"]).status_code in (200, 202)
