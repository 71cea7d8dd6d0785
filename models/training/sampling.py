"""Random samples of questions that are the same in every run."""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def sample(items: Sequence[T], count: int) -> list[T]:
    """``count`` random items (0: all), in the order given. A smaller sample is a subset of a larger one."""
    places = list(range(len(items)))
    if count:
        random.Random(1).shuffle(places)  # noqa: S311
        places = sorted(places[:count])
    return [items[position] for position in places]
