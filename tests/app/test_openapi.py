"""What schemathesis makes up from the OpenAPI description gets no 5xx and nothing undescribed."""

from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

OPERATIONS = (
    ("POST", "/v1/search"),
    ("POST", "/v1/rerank"),
    ("POST", "/v1/bioasq"),
    ("GET", "/v1/documents/{pmid}"),
    ("GET", "/v1/models"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/info"),
    ("GET", "/metrics"),
)
QUICK = settings(
    max_examples=40,
    deadline=None,
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
    # OpenAPI cannot say that no two questions may have the same id.
    operation = schemathesis.openapi.from_asgi("/openapi.json", application)[path][method]
    if mode is GenerationMode.NEGATIVE and not (operation.body or operation.path_parameters):
        return  # nothing can be wrong with it

    @QUICK
    @given(case=operation.as_strategy(generation_mode=mode))
    def try_it(case: Case[Any]) -> None:
        case.call_and_validate(excluded_checks=[] if path != "/v1/bioasq" else [positive_data_acceptance])

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
                    assert client.post(path, json=example["value"]).status_code == 200
