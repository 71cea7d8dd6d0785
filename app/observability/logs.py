"""One line a log entry: for people, or as JSON for programs that collect logs.

What is logged of a request is what ``app.observability.requests`` says of it, and never its body, a header,
or what stands behind the question mark of its address: they can hold questions of patients, and keys.
"""

import json
import logging
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

from bioqa.app.answers.context import request_id, trace_id
from bioqa.app.observability.repeats import CountRepeats

Format = Literal["auto", "text", "json"]

FACTS = "facts"
"""What a record may carry beside its message, as ``extra={FACTS: {…}}``."""

_CONTROL = {code: f"\\x{code:02x}" for code in [*range(32), 127, *range(128, 160)]}
_CONTROL |= {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def configure(level: str, format: Format, stream: TextIO | None = None) -> None:
    """Send every logger's records, uvicorn's too, to ``stream`` (stderr if None)."""
    stream = stream or sys.stderr
    if format == "auto":
        format = "text" if stream.isatty() else "json"
    handler = logging.StreamHandler(stream)
    handler.setFormatter(TextFormatter() if format == "text" else JsonFormatter())
    handler.addFilter(mark)
    handler.addFilter(CountRepeats())
    logging.captureWarnings(True)
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)


def mark(record: logging.LogRecord) -> bool:
    """A handler's filter: gives each record the identifiers of the request in whose context it is made."""
    facts = {"request_id": request_id.get(), "trace_id": trace_id.get(), **getattr(record, FACTS, {})}
    setattr(record, FACTS, {name: value for name, value in facts.items() if value is not None})
    return True


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, FACTS, {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)  # in ASCII: no terminal and no collector trips over it


class TextFormatter(logging.Formatter):
    """An exception's lines follow; nothing else can begin a line of its own."""

    def format(self, record: logging.LogRecord) -> str:
        words = f"{_time(record)} {record.levelname:7} {record.name}: {record.getMessage()}"
        line = (words + _shown(getattr(record, FACTS, {}))).translate(_CONTROL)
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def _shown(facts: Mapping[str, object]) -> str:
    return "".join(f" {name}={value}" for name, value in facts.items())


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
