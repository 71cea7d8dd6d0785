"""A bar for every few years, as high as the number of articles in them."""

from collections.abc import Sequence
from dataclasses import dataclass

from bioqa.app.answers.facets import CountedYear

MOST_BARS = 30
HEIGHT = 100

_WIDTHS = (1, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True, slots=True)
class Bar:
    """``height`` is in percent of the highest bar: at least 1 if there is any article."""

    first: int
    last: int
    documents: int
    height: int

    @property
    def years(self) -> str:
        return f"{self.first}" if self.first == self.last else f"{self.first}–{self.last}"


def bars(years: Sequence[CountedYear]) -> list[Bar]:
    """Group numbers of articles by year, given in order, into at most ``MOST_BARS`` bars without gaps."""
    if not years:
        return []
    first, last = years[0].year, years[-1].year
    width = next((w for w in _WIDTHS if last // w - first // w < MOST_BARS), 1000)
    counts = dict.fromkeys(range(first // width, last // width + 1), 0)
    for counted in years:
        counts[counted.year // width] += counted.documents
    most = max(counts.values()) or 1
    return [
        Bar(
            max(1, number * width),
            number * width + width - 1,
            documents,
            -(-HEIGHT * documents // most),
        )
        for number, documents in counts.items()
    ]
