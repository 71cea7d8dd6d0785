"""Shared by commands that train: the option for the vocabulary, and progress of preparing questions."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bioqa.app.cli.console import Report, progress

if TYPE_CHECKING:
    from bioqa.models.text.vocabulary import Vocabulary

VocabularyOption = Annotated[
    Path | None,
    typer.Option(
        "--vocabulary",
        metavar="DIR",
        help="A folder made by `bioqa vocabulary`; by default the default ranker's.",
    ),
]


def vocabulary_of(folder: Path | None) -> "Vocabulary | None":
    from bioqa.models.text.vocabulary import Vocabulary

    return None if folder is None else Vocabulary.load(folder)


@contextmanager
def preparing() -> Iterator["Preparing"]:
    with ExitStack() as stack:
        yield Preparing(stack)


class Preparing:
    """Shows one progress bar for each file of questions."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._reports: dict[str, Report] = {}

    def __call__(self, name: str, done: int, total: int) -> None:
        if name not in self._reports:
            self._stack.close()
            self._reports[name] = self._stack.enter_context(progress(f"preparing {name}", total))
        self._reports[name](done, f"{done}/{total} questions")
        if done == total:
            self._stack.close()
