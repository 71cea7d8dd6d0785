"""Settings for operators, each an environment variable ``BIOQA_<NAME>``; see docs/settings.md."""

import os
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from bioqa.app.environment import (
    PREFIX,
    FilePath,
    KeyText,
    Password,
    PathText,
    PathTexts,
    UserName,
    is_link_value,
)
from bioqa.indexer.search.elastic.address import Access
from bioqa.indexer.search.elastic.mapping import DEFAULT_SHAPE, Shape
from bioqa.models.bundled import DEFAULT
from bioqa.system.errors import BioqaError

MAX_CANDIDATES = 1000
DEFAULT_PORT = 8000


def _cores() -> int:
    # Not os.cpu_count(): a container or a job is often allowed only some of the machine's cores.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processes() -> int:
    return min(4, _cores())


class SettingsError(BioqaError):
    """An environment variable or option has a value that cannot be used."""


def _port(value: object) -> object:
    return DEFAULT_PORT if is_link_value(value) else value


class Settings(BaseSettings):
    """The settings, each of which is checked when it is used.

    A setting that holds no usable value raises SettingsError when it is read: a command must not end by a
    variable that it does not use. ``check`` raises for all of them.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        frozen=True,
        extra="ignore",
        env_ignore_empty=True,
        arbitrary_types_allowed=True,
        hide_input_in_errors=True,  # it can be a password
    )
    _faults: dict[str, str] = PrivateAttr(default_factory=dict)

    index: PathText | None = Field(
        default=None,
        description="The search index: a folder, or the URL of an index in Elasticsearch.",
    )
    elastic_api_key: KeyText = Field(
        default=None, description="API key for Elasticsearch, in its encoded form."
    )
    elastic_user: UserName = Field(
        default=None, description="User for Elasticsearch, if there is no API key; needs the password too."
    )
    elastic_password: Password = Field(default=None, description="Password of the Elasticsearch user.")
    elastic_ca_file: FilePath | None = Field(
        default=None,
        description="PEM file with the authorities for Elasticsearch's TLS certificate.",
    )
    elastic_timeout_s: float = Field(
        default=30, gt=0, le=3600, description="Timeout of one request to Elasticsearch, in seconds."
    )
    elastic_patience_s: float = Field(
        default=300,
        ge=0,
        le=86_400,
        description="Seconds for which loading retries while Elasticsearch is not available.",
    )
    elastic_shards: int = Field(
        default=1, ge=1, le=1024, description="Shards of an index created in Elasticsearch."
    )
    elastic_replicas: int = Field(
        default=0, ge=0, le=32, description="Replicas of each shard, created after loading."
    )
    bm25_k1: float = Field(
        default=DEFAULT_SHAPE.k1,
        ge=0,
        le=10,
        description="BM25's k1 of an index created in Elasticsearch.",
    )
    bm25_b: float = Field(
        default=DEFAULT_SHAPE.b,
        ge=0,
        le=1,
        description="BM25's b of an index created in Elasticsearch.",
    )
    keep_releases: int = Field(
        default=1, ge=0, le=100, description="Releases that `bioqa update` keeps beside the serving one."
    )
    ranker: PathText = Field(
        default=DEFAULT, description="The ranker: the name of a bundled one, or a checkpoint's folder."
    )
    rankers: PathTexts | None = Field(
        default=None,
        description="Further rankers that questions may name: names or folders, comma-separated.",
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        default="auto",
        description="Device of rankers; auto uses a GPU, if there is one, for those over an encoder.",
    )
    ranker_budget_ms: float = Field(
        default=1000,
        ge=0,
        le=600_000,
        description="Milliseconds that a cascade may take per question, on the machine it was measured on.",
    )
    candidates: int = Field(
        default=100,
        ge=1,
        le=MAX_CANDIDATES,
        description="Number of documents that BM25 retrieves for the ranker.",
    )
    host: str = Field(
        default="127.0.0.1", description="Address that the service listens on; 0.0.0.0 for all."
    )
    port: Annotated[int, BeforeValidator(_port)] = Field(
        default=DEFAULT_PORT,
        ge=0,
        le=65535,
        description="Port that the service listens on.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Lowest severity of messages that are logged."
    )
    log_format: Literal["auto", "text", "json"] = Field(
        default="auto",
        description="Format of the log: text for people, or JSON; auto: text only on a terminal.",
    )
    metrics: Literal["key", "open", "off"] = Field(
        default="key",
        description="Whether /metrics needs an API key as other addresses do, needs none, or does not exist.",
    )
    otlp_endpoint: str | None = Field(
        default=None, description="URL of an OpenTelemetry collector for traces (OTLP over HTTP)."
    )
    api_keys_file: FilePath | None = Field(
        default=None, description="File of hashed API keys; without one, no authentication is required."
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
    send_timeout_s: float = Field(
        default=30,
        gt=0,
        le=3600,
        description="Seconds within which a client must read something of a response that waits.",
    )
    rate_per_minute: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description="Requests per minute of one key, or of one address where there are no keys; 0: no limit.",
    )
    rate_burst: int = Field(
        default=20, ge=1, le=1_000_000, description="Requests that may arrive at once within the rate."
    )
    allowed_hosts: str | None = Field(
        default=None,
        description="Comma-separated host names by which clients call the service, beside this machine's.",
    )
    root_path: str | None = Field(
        default=None, description="Path before all addresses, as clients of a proxy see them; /bioqa, say."
    )
    cors_origins: str | None = Field(
        default=None, description="Comma-separated origins whose pages may use the API from a browser."
    )
    trusted_proxies: str = Field(
        default="127.0.0.1",
        description="Comma-separated proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted.",
    )
    ranking_processes: int = Field(
        default_factory=_processes,
        ge=0,
        le=64,
        description="Processes that rank, one question each at a time; 0: the service's own process ranks.",
    )
    ranking_threads: int = Field(
        default=1,
        ge=1,
        le=64,
        description="Number of questions, or batches of them, ranked at the same time "
        "where the service's own process ranks.",
    )
    batch_questions: int = Field(
        default=1,
        ge=1,
        le=256,
        description="Number of waiting questions that are ranked together where the service's own process "
        "ranks.",
    )
    batch_sentences: int = Field(
        default=10_000,
        ge=1,
        description="Limit of the sentences of questions that are ranked together.",
    )
    queue_capacity: int = Field(
        default=64,
        ge=1,
        le=100_000,
        description="Number of questions that may wait; more are refused with 429.",
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
        description="Seconds for answering waiting questions when the service is told to end.",
    )
    leave_s: float = Field(
        default=0,
        ge=0,
        le=3600,
        description="Seconds for which questions are still accepted when the service is told to end.",
    )
    allow_degraded: bool = Field(
        default=True,
        description="Whether BM25 answers a question on which the ranker fails; the answer is marked.",
    )
    torch_threads: int | None = Field(
        default=None,
        ge=1,
        le=256,
        description="Threads that models use for one question; if it is not set, one, and for an encoder all "
        "cores.",
    )
    max_body_bytes: int = Field(
        default=2_000_000, ge=1000, description="A request with a larger body is refused with 413."
    )
    max_question_characters: int = Field(
        default=10_000,
        ge=1,
        description="A longer question is refused with 422; a long one is answered by the words that "
        "carry it.",
    )
    max_request_cpu_s: float = Field(
        default=1.5,
        gt=0,
        le=3600,
        description="Seconds of processor time that it may take to parse, check or rank what one request "
        "sends; then it is refused with 422.",
    )
    max_question_cpu_s: float = Field(
        default=4,
        gt=0,
        le=3600,
        description="Seconds of processor time that retrieving and ranking one question may take, without "
        "an encoder; then it is answered literally, by BM25.",
    )
    max_rerank_characters: int = Field(
        default=1_000_000,
        ge=1,
        description="More characters in the texts of POST /v1/rerank or /v1/embeddings are refused with 422.",
    )
    max_batch_questions: int = Field(
        default=100, ge=1, description="A larger test set is refused by POST /v1/bioasq with 422."
    )
    weak_snippets: bool = Field(
        default=False,
        description="Answers in BioASQ's form have ten snippets each, if there are so many: also those that "
        "are much weaker than the best one.",
    )
    data_dir: FilePath | None = Field(
        default=None, description="Folder in which batches are stored; without it, they end with the service."
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
        default=100, ge=1, description="Number of unfinished batches; more are refused with 429."
    )
    kept_batches: int = Field(
        default=1000, ge=1, description="Finished batches that are kept; of more, the oldest are removed."
    )
    kept_bytes: int = Field(
        default=1_000_000_000, ge=1000, description="The same, by the size of their questions and answers."
    )
    key_share: float = Field(
        default=0.25,
        gt=0,
        le=1,
        description="The share of unfinished and of finished batches that one API key may have.",
    )
    batch_days: int = Field(default=30, ge=1, le=36_500, description="Days that a finished batch is kept.")

    def __getattr__(self, name: str) -> Any:
        # Python calls this only for what is not there, such as a setting without a usable value.
        if not name.startswith("_") and name in self._faults:
            raise SettingsError(self._faults[name])
        return super().__getattr__(name)  # type: ignore[misc]  # pydantic hides it from type checkers

    def check(self) -> Self:
        """These settings. Raises SettingsError, naming each variable that has no usable value."""
        if self._faults:
            raise SettingsError("; ".join(self._faults.values()))
        return self

    def threads(self, *, encoder: bool, processes: int = 1) -> int:
        """Threads for a ranker with or without an encoder, in each of several processes.

        Without one there is little to share: two threads that wait for each other gain nothing on two idle
        cores, and on busy ones a question takes two to five times as long.
        """
        most = self.torch_threads or (_cores() if encoder else 1)
        return max(1, most // max(1, processes))

    def access(self) -> Access:
        """Return how to connect to Elasticsearch."""
        return Access(
            api_key=self.elastic_api_key,
            user=self.elastic_user or "",
            password=self.elastic_password,
            ca_file=self.elastic_ca_file,
            timeout_s=self.elastic_timeout_s,
            patience_s=self.elastic_patience_s,
        )

    def shape(self) -> Shape:
        """Return how to create an index in Elasticsearch."""
        return Shape(self.elastic_shards, self.elastic_replicas, self.bm25_k1, self.bm25_b)


SECRETS = frozenset({"elastic_api_key", "elastic_password"})
"""Settings whose values no message shows."""


def load_settings(**given: Any) -> Settings:
    """Read the settings from the environment; given values that are not None replace them.

    Raises SettingsError for a given value that is invalid. A variable with an invalid value raises it when
    the setting is used, or when ``check`` is called.
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    try:
        return Settings(**chosen)
    except ValidationError as error:
        faults = {str(e["loc"][0]): _fault(str(e["loc"][0]), e["msg"], e["input"]) for e in error.errors()}
    if wrong := [fault for name, fault in faults.items() if name in chosen]:
        raise SettingsError("; ".join(wrong))
    defaults = {name: Settings.model_fields[name].get_default(call_default_factory=True) for name in faults}
    settings = Settings(**chosen, **defaults)
    settings._faults.update(faults)
    for name in faults:
        del settings.__dict__[name]
    return settings


def _fault(name: str, message: str, value: object) -> str:
    message = message.removeprefix("Value error, ")
    shown = "" if name in SECRETS else f", not {value!r}"
    return f"{PREFIX}{name.upper()}: {message}{shown}"
