"""Cells of experiments' tables: means with deviations, and the shares of the data that rows have seen."""

from collections.abc import Iterable, Mapping
from typing import Any

_PHRASES = {
    "train_questions": "trained on {} questions",
    "irrelevant": "{} irrelevant candidate for each relevant one",
    "watched": "early stopping by {} dev questions",
    "dev_questions": "calibrated on {} dev questions",
    "test_questions": "measured on {} questions of each collection",
    "candidates": "BM25's {} best are re-ranked",
}


def remarks(part: Mapping[str, Any], *, documents_only: bool = False) -> str:
    """What a part's own record says of how much of the data it saw.

    ``documents_only``: no selection of snippets was calibrated on its development questions.
    """
    share = dict(part.get("share", {}))
    if documents_only:
        share.pop("dev_questions", None)
    return ", ".join(phrase.format(share[name]) for name, phrase in _PHRASES.items() if share.get(name))


def assign_letters(shares: Iterable[str]) -> dict[str, str]:
    """A letter for every share in use, in order of appearance."""
    return dict(zip(dict.fromkeys(shares), "abcdefghijklmnopqrstuvwxyz", strict=False))


def cell(mean: float, deviation: float, seeds: int) -> str:
    return f"{mean:.3f} ± {deviation:.3f}" if seeds > 1 else f"{mean:.3f}"
