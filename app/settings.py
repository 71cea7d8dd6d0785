"""What an operator can set, each by an environment variable ``BIOQA_<NAME>``; see docs/settings.md."""

import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from bioqa.bioasq.errors import BioqaError
from bioqa.indexer.search.address import Access
from bioqa.indexer.search.mapping import DEFAULT_SHAPE, Shape
from bioqa.models.bundled import DEFAULT

PREFIX = "BIOQA_"
MAX_CANDIDATES = 1000


def _cores() -> int:
    # Not os.cpu_count(): a container or a job often owns a few of the machine's cores only.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processes() -> int:
    return min(4, _cores())


class SettingsError(BioqaError):
    """An environment variable or option has a value that cannot be used."""


def _text_of_path(value: object) -> object:
    return str(value) if isinstance(value, Path) else value


class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="ignore", env_ignore_empty=True)

    index: Annotated[str | None, BeforeValidator(_text_of_path)] = Field(
        default=None,
        description="The search index: a folder, or the URL of an index in Elasticsearch.",
    )
    elastic_api_key: SecretStr | None = Field(
        default=None, description="API key for Elasticsearch, in its encoded form."
    )
    elastic_user: str | None = Field(
        default=None, description="User for Elasticsearch, if there is no API key; needs the password too."
    )
    elastic_password: SecretStr | None = Field(
        default=None, description="Password of the Elasticsearch user."
    )
    elastic_ca_file: Path | None = Field(
        default=None,
        description="PEM file of the authorities that Elasticsearch's TLS certificate is checked against.",
    )
    elastic_timeout_s: float = Field(
        default=30, gt=0, le=3600, description="Seconds that Elasticsearch may take for one request."
    )
    elastic_patience_s: float = Field(
        default=300,
        ge=0,
        le=86_400,
        description="Seconds that loading goes on trying while Elasticsearch is away or overloaded.",
    )
    elastic_shards: int = Field(
        default=1, ge=1, le=1024, description="Shards of an index that is made in Elasticsearch."
    )
    elastic_replicas: int = Field(
        default=0, ge=0, le=32, description="Copies of each shard beside the first, made after loading."
    )
    bm25_k1: float = Field(
        default=DEFAULT_SHAPE.k1,
        ge=0,
        le=10,
        description="BM25's k1 of an index that is made in Elasticsearch.",
    )
    bm25_b: float = Field(
        default=DEFAULT_SHAPE.b,
        ge=0,
        le=1,
        description="BM25's b of an index that is made in Elasticsearch.",
    )
    keep_releases: int = Field(
        default=1, ge=0, le=100, description="Releases that `bioqa update` keeps beside the serving one."
    )
    ranker: str = Field(default=DEFAULT, description="The ranker: one that is bundled, by name, or a folder.")
    rankers: str | None = Field(
        default=None,
        description="Further rankers that questions may name: names or folders, with commas between them.",
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        default="auto",
        description="Where encoders run; auto is a GPU if there is one.",
    )
    ranker_budget_ms: float = Field(
        default=1000,
        ge=0,
        le=600_000,
        description="Milliseconds that a cascade may take for a question on the machine it was measured on.",
    )
    candidates: int = Field(
        default=100,
        ge=1,
        le=MAX_CANDIDATES,
        description="How many documents BM25 fetches for the ranker to order.",
    )
    host: str = Field(
        default="127.0.0.1", description="Address that the service listens at; 0.0.0.0 for all."
    )
    port: int = Field(
        default=8000,
        ge=0,
        le=65535,
        description="Port that the service listens at.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The least severe messages that the service logs."
    )
    log_format: Literal["auto", "text", "json"] = Field(
        default="auto", description="Lines of the log for people, or JSON; auto: text on a terminal only."
    )
    metrics: Literal["key", "open", "off"] = Field(
        default="key",
        description="Whether /metrics needs an API key as other addresses do, needs none, or is not there.",
    )
    otlp_endpoint: str | None = Field(
        default=None, description="Where traces go: an OpenTelemetry collector's URL (OTLP over HTTP)."
    )
    api_keys_file: Path | None = Field(
        default=None, description="File of the hashed API keys; without one, everybody is let in."
    )
    max_connections: int = Field(
        default=1000,
        ge=1,
        le=100_000,
        description="Open connections; with more, those idle longest are closed.",
    )
    max_connections_per_address: int = Field(
        default=100,
        ge=1,
        le=100_000,
        description="Open connections of one address that is no trusted proxy; more are closed.",
    )
    header_timeout_s: float = Field(
        default=10,
        gt=0,
        le=3600,
        description="Seconds that the headers of a request may take to arrive.",
    )
    body_timeout_s: float = Field(
        default=60, gt=0, le=3600, description="Seconds that the body of a request may take to arrive."
    )
    rate_per_minute: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description="Requests a minute of one key, or of one address where there are no keys; 0: no limit.",
    )
    rate_burst: int = Field(
        default=20, ge=1, le=1_000_000, description="Requests that may come at once within the rate."
    )
    cors_origins: str | None = Field(
        default=None, description="Origins, between commas, whose pages may use the API from a browser."
    )
    trusted_proxies: str = Field(
        default="127.0.0.1",
        description="Addresses, between commas, whose X-Forwarded-For and X-Forwarded-Proto are believed.",
    )
    ranking_processes: int = Field(
        default_factory=_processes,
        ge=0,
        le=64,
        description="Processes that rank, one question (or batch of questions) each at a time; "
        "0: the service's own process ranks.",
    )
    ranking_threads: int = Field(
        default=1,
        ge=1,
        le=64,
        description="How many questions, or batches of them, are ranked at the same time "
        "where the service's own process ranks.",
    )
    retrieval_threads: int = Field(
        default=4, ge=1, le=64, description="For how many questions the index is searched at the same time."
    )
    batch_questions: int = Field(
        default=1, ge=1, le=256, description="How many questions that wait are ranked at once, together."
    )
    batch_sentences: int = Field(
        default=10_000,
        ge=1,
        description="How many sentences questions that are ranked together may have.",
    )
    queue_capacity: int = Field(
        default=64, ge=1, le=100_000, description="How many questions may wait; more are refused with 429."
    )
    request_timeout_s: float = Field(
        default=30,
        gt=0,
        le=3600,
        description="Seconds that a question may wait before it is ranked; then it is refused with 503.",
    )
    drain_s: float = Field(
        default=20,
        ge=0,
        le=3600,
        description="Seconds that the service takes to answer what waits when it is told to end.",
    )
    allow_degraded: bool = Field(
        default=True,
        description="Whether a question that the ranker fails on is answered by BM25, and marked as such.",
    )
    torch_threads: int = Field(
        default_factory=_cores, ge=1, le=256, description="Threads that the model may use for one question."
    )
    max_body_bytes: int = Field(
        default=2_000_000, ge=1000, description="A request with a larger body is refused with 413."
    )
    max_question_characters: int = Field(
        default=1000,
        ge=1,
        description="A longer question is refused with 422; the memory of ranking grows with it.",
    )
    max_request_cpu_s: float = Field(
        default=2,
        gt=0,
        le=3600,
        description="Seconds of processor time that it may take to parse, check or rank what one request "
        "sends; then it is refused with 422.",
    )
    max_rerank_characters: int = Field(
        default=1_000_000,
        ge=1,
        description="More characters in the texts of POST /v1/rerank are refused with 422.",
    )
    max_batch_questions: int = Field(
        default=100, ge=1, description="A larger test set is refused by POST /v1/bioasq with 422."
    )
    data_dir: Path | None = Field(
        default=None, description="Folder that batches are kept in; without it they end with the service."
    )
    max_upload_bytes: int = Field(
        default=10_000_000,
        ge=1000,
        description="Larger test sets, submissions and golden files are refused under /v1/bioasq/ with 413.",
    )
    max_testset_questions: int = Field(
        default=5000, ge=1, description="A larger test set is refused as a batch with 422."
    )
    max_batches: int = Field(
        default=100, ge=1, description="With so many batches unfinished another is refused with 429."
    )
    batch_days: int = Field(default=30, ge=1, le=36_500, description="Days that a finished batch is kept.")

    def access(self) -> Access:
        """How Elasticsearch is reached."""
        return Access(
            api_key=self.elastic_api_key.get_secret_value() if self.elastic_api_key else "",
            user=self.elastic_user or "",
            password=self.elastic_password.get_secret_value() if self.elastic_password else "",
            ca_file=self.elastic_ca_file,
            timeout_s=self.elastic_timeout_s,
            patience_s=self.elastic_patience_s,
        )

    def shape(self) -> Shape:
        """How an index in Elasticsearch is made."""
        return Shape(self.elastic_shards, self.elastic_replicas, self.bm25_k1, self.bm25_b)


def load_settings(**given: Any) -> Settings:
    """The environment's settings, but for those given that are not None.

    Raises SettingsError, naming each variable that has no usable value.
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    try:
        return Settings(**chosen)
    except ValidationError as error:
        raise SettingsError(
            "; ".join(_fault(str(e["loc"][0]), e["msg"], e["input"]) for e in error.errors())
        ) from error


def _fault(name: str, message: str, value: object) -> str:
    return f"{PREFIX}{name.upper()}: {message}, not {value!r}"
