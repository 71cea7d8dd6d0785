"""An index is opened when it is needed, kept, and opened again after an error."""

import pytest

from bioqa.app.answers.answering import IndexUnavailable
from bioqa.app.answers.reopening import ReopeningIndex
from bioqa.indexer.search.base import SearchIndex
from bioqa.system.errors import BioqaError


class Index:
    closed = False

    def close(self) -> None:
        self.closed = True


class Opening:
    """Opens an index each time, unless it is away."""

    def __init__(self) -> None:
        self.opened: list[Index] = []
        self.away = False

    def __call__(self) -> SearchIndex:
        if self.away:
            raise BioqaError("it is away")
        self.opened.append(Index())
        return self.opened[-1]  # type: ignore[return-value]


def fail(index: SearchIndex) -> None:
    raise OSError("the disk is gone")


def test_it_is_opened_once_and_only_when_asked() -> None:
    opening = Opening()
    index = ReopeningIndex(opening)
    assert opening.opened == []
    assert index.ask(id) == index.ask(id) == id(opening.opened[0])
    assert len(opening.opened) == 1


def test_after_an_error_it_is_opened_again() -> None:
    opening = Opening()
    index = ReopeningIndex(opening)
    with pytest.raises(IndexUnavailable, match="cannot be used: the disk is gone"):
        index.ask(fail)
    assert index.ask(id) == id(opening.opened[1])


def test_a_fault_of_the_caller_is_no_reason_to_open_it_again() -> None:
    opening = Opening()
    index = ReopeningIndex(opening)
    with pytest.raises(ZeroDivisionError):
        index.ask(lambda _: 1 // 0)
    index.ask(id)
    assert len(opening.opened) == 1


def test_away_it_is_unavailable_until_it_is_back() -> None:
    opening = Opening()
    index = ReopeningIndex(opening)
    opening.away = True
    with pytest.raises(IndexUnavailable, match="it is away"):
        index.ask(id)
    opening.away = False
    assert index.ask(id)


def test_closed_it_is_opened_anew_when_asked() -> None:
    opening = Opening()
    index = ReopeningIndex(opening)
    index.close()
    index.ask(id)
    index.close()
    assert opening.opened[0].closed
    index.ask(id)
    assert len(opening.opened) == 2
