"""What an operator can set, each by an environment variable ``BIOQA_<NAME>``; see docs/settings.md."""

import os
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from bioasq.errors import BioqaError

PREFIX = "BIOQA_"
MAX_CANDIDATES = 1000


def _cores() -> int:
    # Not os.cpu_count(): a container or a job often owns a few of the machine's cores only.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class SettingsError(BioqaError):
    """An environment variable or option has a value that cannot be used."""


class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="ignore", env_ignore_empty=True)

    index: Path | None = Field(
        default=None,
        description="Folder of the search index.",
    )
    ranker: str = Field(
        default="jpdrmm", description="The ranker: one that is bundled, by name, or a folder."
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
    ranking_threads: int = Field(
        default=1,
        ge=1,
        le=64,
        description="How many questions are answered at the same time; others wait in line.",
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
    max_batch_questions: int = Field(
        default=100, ge=1, description="A larger test set is refused by POST /v1/bioasq with 422."
    )


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
