"""``Evidence`` from a few texts, in the plainest way."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from bioqa.bioasq.domain import Document
from bioqa.indexer.search.defined import long_prefix, read, short_prefix, terms
from bioqa.indexer.search.evidence import BEST, Definition
from bioqa.system.characters import normalise

_WORD = re.compile(r"[^\W_]+")


class TextEvidence:
    """Words are compared in lower case; a document fits a context by the number of its words that it has."""

    def __init__(self, *texts: str, times: Mapping[str, int] | None = None) -> None:
        """``times``: how many documents have a text, if more than one."""
        self.documents: list[Document] = []
        for text in texts:
            for _ in range((times or {}).get(text, 1)):
                self.documents.append(Document(str(len(self.documents) + 1), 1, "", text))
        self.asked: list[str] = []
        """Texts that were counted."""

    def size(self) -> int:
        return len(self.documents)

    def counts(self, texts: Sequence[str]) -> list[int]:
        self.asked += texts
        return [sum(self._has(document, text) for document in self.documents) for text in texts]

    def _has(self, document: Document, text: str) -> bool:
        words = " ".join(_words(text))
        return bool(words) and f" {words} " in f" {' '.join(_words(document.abstract))} "

    def definitions(self, shorts: Collection[str], longs: Collection[str]) -> list[Definition]:
        prefixes = (*map(short_prefix, shorts), *map(long_prefix, longs))
        counts = Counter(term for document in self.documents for term in {*terms("", document.abstract)})
        return [
            found
            for term, count in counts.items()
            if term.startswith(prefixes) and (found := read(term, count)) is not None
        ]

    def fit(self, texts: Sequence[str], context: str) -> list[float]:
        return [self._fit({*_words(text)}, {*_words(context)}) for text in texts]

    def _fit(self, wanted: set[str], context: set[str]) -> float:
        held = [{*_words(document.abstract)} for document in self.documents]
        scores = sorted((len(context & words) for words in held if wanted <= words), reverse=True)
        return sum(scores[:BEST]) / BEST

    def near(self, word: str, context: str, size: int) -> list[Document]:
        wanted = {*_words(context)}
        return sorted(self.documents, key=lambda each: -len(wanted & {*_words(each.abstract)}))[:size]

    def farther(self, word: str, context: str, size: int) -> list[Document]:
        return []  # ``near`` has all of them


def _words(text: str) -> list[str]:
    return [*_found(text)]


def _found(text: str) -> Iterator[str]:
    yield from _WORD.findall(normalise(text).lower())
