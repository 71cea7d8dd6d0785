"""Spans, as a collector would get them; and that nothing of this is loaded when it is off."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from bioqa.app.answers.engine import Engine
from bioqa.app.main import create_app
from bioqa.app.observability import traces
from bioqa.app.settings import Settings
from bioqa.system.errors import BioqaError
from tests.app.observability.conftest import Lines
from tests.app.requests import BODY, TESTSET

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    kept = InMemorySpanExporter()

    def to_collector(url: str) -> traces.Traces:
        assert url == "http://collector:4318"
        return traces.Traces(SimpleSpanProcessor(kept))

    monkeypatch.setattr(traces, "to_collector", to_collector)
    return kept


@pytest.fixture
def client(engine: Engine, exporter: InMemorySpanExporter) -> Iterator[TestClient]:
    traced = create_app(Settings(otlp_endpoint="http://collector:4318"), engine)
    with TestClient(traced, raise_server_exceptions=False) as client:
        yield client


def span_id(span: ReadableSpan) -> int:
    context = span.get_span_context()
    assert context
    return context.span_id


def parent_id(span: ReadableSpan) -> int | None:
    return span.parent.span_id if span.parent else None


def times(span: ReadableSpan) -> tuple[int, int]:
    assert span.start_time is not None
    assert span.end_time is not None
    return span.start_time, span.end_time


def test_a_request_its_answer_and_the_stages_are_one_trace_that_goes_on_from_the_callers(
    client: TestClient, exporter: InMemorySpanExporter, lines: Lines
) -> None:
    headers = {"traceparent": f"00-{TRACE}-{PARENT}-01", "X-Request-ID": "r-1"}
    timings = client.post("/v1/search", json={"body": BODY}, headers=headers).json()["timings_ms"]
    spans = exporter.get_finished_spans()
    assert [span.name for span in spans] == [
        "retrieve",
        "wait",
        "rerank",
        "select",
        "answer",
        "POST /v1/search",
    ]
    assert {f"{span.context.trace_id:032x}" for span in spans if span.context} == {TRACE}
    *stages, answer, request = spans
    assert request.kind is SpanKind.SERVER
    assert parent_id(request) == int(PARENT, 16)
    assert parent_id(answer) == span_id(request)
    assert {parent_id(stage) for stage in stages} == {span_id(answer)}
    assert dict(request.attributes or {}) == {
        "http.request.method": "POST",
        "http.route": "/v1/search",
        "http.response.status_code": 200,
        "bioqa.request_id": "r-1",
    }
    assert dict(answer.attributes or {}) == {
        "bioqa.ranker": "lexical",
        "bioqa.candidates": 40,
        "bioqa.truncated_sentences": 0,
        "bioqa.degraded": False,
    }
    for stage in stages:
        begun, ended = times(stage)
        assert (ended - begun) / 1e6 == pytest.approx(timings[stage.name], abs=1e-3)
    assert times(answer)[0] == times(stages[0])[0]
    assert times(stages[-1])[1] <= times(answer)[1] + 2000  # rounding
    assert {line.get("trace_id") for line in lines.of("bioqa.access")} == {TRACE}


def test_each_question_of_a_test_set_is_an_answer_in_one_trace(
    client: TestClient, exporter: InMemorySpanExporter
) -> None:
    client.post("/v1/bioasq", json=TESTSET)
    spans = exporter.get_finished_spans()
    (request,) = [span for span in spans if span.kind is SpanKind.SERVER]
    assert [parent_id(span) for span in spans if span.name == "answer"] == [span_id(request)] * 3
    assert request.parent is None


@pytest.mark.parametrize(
    "traceparent", ["", "nonsense", f"00-{'0' * 32}-{PARENT}-01", f"ff-{TRACE}-{PARENT}-01"]
)
def test_a_traceparent_that_cannot_be_used_begins_a_new_trace(
    client: TestClient, exporter: InMemorySpanExporter, traceparent: str
) -> None:
    assert client.get("/v1/models", headers={"traceparent": traceparent}).status_code == 200
    (span,) = exporter.get_finished_spans()
    assert span.parent is None
    assert span.name == "GET /v1/models"


def test_what_is_not_sampled_upstream_is_not_sampled_here(
    client: TestClient, exporter: InMemorySpanExporter
) -> None:
    client.get("/v1/models", headers={"traceparent": f"00-{TRACE}-{PARENT}-00"})
    assert exporter.get_finished_spans() == ()


def test_probes_make_no_spans_and_faults_are_errors_that_tell_no_more(
    client: TestClient, exporter: InMemorySpanExporter
) -> None:
    for path in ("/healthz", "/readyz", "/metrics"):
        client.get(path)
    assert exporter.get_finished_spans() == ()
    client.app.state.service.document = None  # type: ignore[attr-defined]
    assert client.get("/v1/documents/90000001?private").status_code == 500
    (span,) = exporter.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert (span.name, span.events, span.status.description) == ("GET /v1/documents/{pmid}", (), None)
    assert "private" not in span.to_json()


@pytest.mark.parametrize("url", ["collector:4318", "ftp://collector", "http://"])
def test_an_address_that_is_none_is_refused_at_start(url: str) -> None:
    with pytest.raises(BioqaError, match="BIOQA_OTLP_ENDPOINT"):
        traces.to_collector(url)


@pytest.mark.parametrize(
    ("url", "whole"),
    [
        ("http://collector:4318", "http://collector:4318/v1/traces"),
        ("http://collector:4318/", "http://collector:4318/v1/traces"),
        ("https://collector.example.org/bioqa/v1/traces", "https://collector.example.org/bioqa/v1/traces"),
    ],
)
def test_the_collectors_usual_path_is_added(monkeypatch: pytest.MonkeyPatch, url: str, whole: str) -> None:
    asked: list[str] = []

    class Exporter(InMemorySpanExporter):
        def __init__(self, endpoint: str) -> None:
            super().__init__()
            asked.append(endpoint)

    monkeypatch.setattr(traces, "OTLPSpanExporter", Exporter)
    traces.to_collector(url).close()
    assert asked == [whole]
