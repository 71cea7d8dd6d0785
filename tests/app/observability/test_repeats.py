"""Log lines that repeat."""

import logging
from collections.abc import Iterator

import pytest

from bioqa.app.observability import repeats
from bioqa.app.observability.repeats import CountRepeats


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


class Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(repeats, "time", clock)
    return clock


@pytest.fixture
def handler(clock: Clock) -> Iterator[Lines]:
    handler = Lines()
    handler.addFilter(CountRepeats())
    logger = logging.getLogger("test.repeats")
    logger.addHandler(handler)
    logger.propagate = False
    yield handler
    logger.removeHandler(handler)
    logger.propagate = True


log = logging.getLogger("test.repeats")


def test_a_flood_is_cut_short_and_counted(handler: Lines, clock: Clock) -> None:
    for number in range(5000):
        log.error("socket %d cannot be accepted", number)
    assert len(handler.lines) == repeats.WRITTEN
    assert handler.lines[0] == "socket 0 cannot be accepted"
    assert "only counted for 10 s" in handler.lines[-1]
    clock.now += repeats.PERIOD_S
    log.error("socket %d cannot be accepted", 7)
    assert handler.lines[-1] == "socket 7 cannot be accepted (4990 more like this since the last one)"


def test_the_numbers_in_a_message_make_no_new_kind(handler: Lines) -> None:
    for number in range(50):
        log.error(f"socket <fd={number}> is broken")
    assert len(handler.lines) == repeats.WRITTEN


def test_other_lines_pass_beside_a_flood(handler: Lines) -> None:
    for _ in range(100):
        log.error("one")
        log.error("two")
    log.error("three")
    assert [line for line in handler.lines if line.startswith("three")] == ["three"]
    assert len(handler.lines) == 2 * repeats.WRITTEN + 1


def test_what_is_no_warning_always_passes(handler: Lines, caplog: pytest.LogCaptureFixture) -> None:
    log.setLevel(logging.INFO)
    for _ in range(100):
        log.info("POST /v1/search 200")
    assert len(handler.lines) == 100


def test_kinds_without_end_take_no_memory_without_end(handler: Lines) -> None:
    counting = handler.filters[0]
    assert isinstance(counting, CountRepeats)
    for number in range(3 * repeats.MOST_KINDS):
        log.error("x" * (number % 199) + "y" * (number // 199))
    assert len(counting._kinds) <= repeats.MOST_KINDS
