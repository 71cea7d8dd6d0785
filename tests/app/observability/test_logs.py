"""What a line of the log looks like, for people and for programs."""

import io
import json
import logging
import warnings
from collections.abc import Iterator
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.app.answers.context import request_id
from bioqa.app.observability import logs
from bioqa.system.secret import Secret


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    root.setLevel(level)


def test_json_is_one_object_a_line() -> None:
    stream = io.StringIO()
    logs.configure("info", "json", stream)
    log = logging.getLogger("bioqa")
    log.info("a %s\nb", "caf\u00e9", extra={logs.FACTS: {"ms": 1.5, "key": "ada", "none": None}})
    log.debug("not shown")
    try:
        raise ValueError("why")
    except ValueError:
        log.exception("a fault")
    first, second = (json.loads(line) for line in stream.getvalue().splitlines())
    assert datetime.fromisoformat(first.pop("time")).utcoffset() is not None
    assert first == {"level": "info", "logger": "bioqa", "message": "a caf\u00e9\nb", "ms": 1.5, "key": "ada"}
    assert (second["level"], second["message"]) == ("error", "a fault")
    assert second["exception"].splitlines()[-1] == "ValueError: why"


def test_text_is_for_people() -> None:
    stream = io.StringIO()
    logs.configure("debug", "text", stream)
    logging.getLogger("bioqa").debug("asked", extra={logs.FACTS: {"ms": 1.5}})
    try:
        raise ValueError("why")
    except ValueError:
        logging.getLogger("bioqa").exception("a fault")
    first, second, *trace = stream.getvalue().splitlines()
    assert first.endswith("+00:00 DEBUG   bioqa: asked ms=1.5")
    assert second.endswith(" ERROR   bioqa: a fault")
    assert trace[-1] == "ValueError: why"


@pytest.mark.parametrize("format", ["text", "json"])
def test_no_secret_is_in_a_line_whoever_logs_it(format: logs.Format) -> None:
    key = Secret("M4rker/of+a+secret==").reveal()
    stream = io.StringIO()
    logs.configure("debug", format, stream)
    try:
        raise ValueError(f"Invalid header value b'ApiKey {key}\\n'")
    except ValueError:
        logging.getLogger("some.library").exception("sent %r", f"ApiKey {key}")
    assert "M4rker" not in stream.getvalue()
    assert stream.getvalue().count("ApiKey ***") == 2


@given(st.text())
def test_no_message_begins_a_line_of_its_own(text: str) -> None:
    record = logging.LogRecord("bioqa", logging.INFO, "", 0, "said %s", (text,), None)
    for formatter in (logs.JsonFormatter(), logs.TextFormatter()):
        assert len(formatter.format(record).splitlines()) == 1


def test_the_request_being_answered_is_in_every_line_of_every_logger() -> None:
    # pytest has undone an earlier test's capture, which logging believes to hold still.
    logging.captureWarnings(False)
    stream = io.StringIO()
    logs.configure("info", "json", stream)
    token = request_id.set("r-1")
    try:
        logging.getLogger("uvicorn.error").info("one")
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("two", UserWarning, stacklevel=1)
    finally:
        request_id.reset(token)
    logging.getLogger("bioqa").info("three")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line.get("request_id") for line in lines] == ["r-1", "r-1", None]
    assert [line["logger"] for line in lines] == ["uvicorn.error", "py.warnings", "bioqa"]


@pytest.mark.parametrize("terminal", [True, False])
def test_auto_is_text_on_a_terminal_only(terminal: bool) -> None:
    class Stream(io.StringIO):
        def isatty(self) -> bool:
            return terminal

    stream = Stream()
    logs.configure("info", "auto", stream)
    logging.getLogger("bioqa").info("one")
    assert stream.getvalue().startswith("{") is not terminal
