"""The tokens of documents: as they are stored beside an index, were made lately, or are made of the text."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from bioqa.bioasq.domain import Document
from bioqa.models.text.stored_tokens import TokensBeside
from bioqa.models.text.strings import KnownStrings
from bioqa.models.text.tokens import TokenisedDocument, tokenise_documents
from bioqa.models.text.vocabulary import Vocabulary

T = TypeVar("T")


class DocumentCache(Generic[T]):
    """Least-recently-used cache of values computed from documents: popular citations are candidates often."""

    def __init__(self, make: Callable[[Sequence[Document]], Sequence[T]], capacity: int) -> None:
        """``make`` computes the values of several documents at once, in their order."""
        self._make = make
        self._capacity = capacity
        self._known: OrderedDict[tuple[str, str, str], T] = OrderedDict()
        self._lock = Lock()

    def __call__(self, documents: Sequence[Document]) -> list[T]:
        # The text rather than the version: PubMed revises most citations without a new version number.
        keys = [(document.pmid, document.title, document.abstract) for document in documents]
        values: dict[tuple[str, str, str], T] = {}
        with self._lock:
            for key in keys:
                if (value := self._known.get(key)) is not None:
                    self._known.move_to_end(key)
                    values[key] = value
        missing = {key: document for key, document in zip(keys, documents, strict=True) if key not in values}
        if missing:
            computed = zip(missing, self._make([*missing.values()]), strict=True)
            values |= computed
            with self._lock:
                for key in missing:
                    # Without a PMID it was sent by a client: of any size, and unlikely to be sent again.
                    if key[0]:
                        self._known[key] = values[key]
                while len(self._known) > self._capacity:
                    self._known.popitem(last=False)
        return [values[key] for key in keys]


class DocumentTokens:
    """Takes what is stored beside indexes; tokenises other documents, and caches those most recently used.

    Thread-safe.
    """

    def __init__(self, vocabulary: Vocabulary, capacity: int = 20_000) -> None:
        self.vocabulary = vocabulary
        strings = KnownStrings(vocabulary)
        self._tokenised = DocumentCache(
            lambda documents: [
                document.alone() for document in tokenise_documents(documents, vocabulary, strings)
            ],
            capacity,
        )
        self._stored: tuple[TokensBeside, ...] = ()
        self._lock = Lock()

    def look_in(self, folder: Path) -> None:
        """Take what `bioqa tokens` stored, or will store, in the folder of an index.

        What is stored is taken only for the text that it was made of, whichever index has it: looking in
        several folders changes no score.
        """
        with self._lock:
            if all(stored.folder != folder for stored in self._stored):
                self._stored = (*self._stored, TokensBeside(folder, self.vocabulary))

    def __call__(self, documents: Sequence[Document]) -> list[TokenisedDocument]:
        all_tokens: list[TokenisedDocument | None] = [None] * len(documents)
        for stored in self._stored:
            missing = [position for position, tokens in enumerate(all_tokens) if tokens is None]
            looked_up = stored([documents[position] for position in missing])
            for position, tokens in zip(missing, looked_up, strict=True):
                all_tokens[position] = tokens
        # Not cached: reading what is stored again takes hardly longer, and no memory.
        others = iter(
            self._tokenised(
                [document for document, tokens in zip(documents, all_tokens, strict=True) if tokens is None]
            )
        )
        return [next(others) if tokens is None else tokens for tokens in all_tokens]
