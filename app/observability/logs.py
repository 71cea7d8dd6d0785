"""Log entries of one line each: text for people, or JSON for programs that collect logs.

Only ``app.observability.requests`` logs requests, and never a body, a header or the query of an address: they
can contain patients' questions, and keys. Secrets of this process are removed from what other libraries log.
"""

import json
import logging
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

from bioqa.app.answers.context import request_id, trace_id
from bioqa.app.observability.repeats import CountRepeats
from bioqa.system.secret import scrub

Format = Literal["auto", "text", "json"]

FACTS = "facts"
"""Key of a record's further fields: ``extra={FACTS: {…}}``."""

_CONTROL = {code: f"\\x{code:02x}" for code in [*range(32), 127, *range(128, 160)]}
_CONTROL |= {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def configure(level: str, format: Format, stream: TextIO | None = None) -> None:
    """Send the records of all loggers, including uvicorn's, to ``stream`` (None: stderr)."""
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
    """Filter of a handler: adds the identifiers of the current request to each record."""
    facts = {"request_id": request_id.get(), "trace_id": trace_id.get(), **getattr(record, FACTS, {})}
    setattr(record, FACTS, {name: value for name, value in facts.items() if value is not None})
    return True


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": scrub(record.getMessage()),
            **getattr(record, FACTS, {}),
        }
        if record.exc_info:
            line["exception"] = scrub(self.formatException(record.exc_info))
        return json.dumps(line, default=str)  # in ASCII, which every terminal and collector can read


class TextFormatter(logging.Formatter):
    """Text; only an exception's traceback adds lines, so that no message can forge an entry."""

    def format(self, record: logging.LogRecord) -> str:
        words = f"{_time(record)} {record.levelname:7} {record.name}: {scrub(record.getMessage())}"
        line = (words + _show(getattr(record, FACTS, {}))).translate(_CONTROL)
        return f"{line}\n{scrub(self.formatException(record.exc_info))}" if record.exc_info else line


def _show(facts: Mapping[str, object]) -> str:
    return "".join(f" {name}={value}" for name, value in facts.items())


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
