"""What the index knows of a question's words: how many documents have them, and in which spellings."""

from collections.abc import Iterable, Sequence
from itertools import islice, product

from bioqa.indexer.search.evidence import Evidence, rarity
from bioqa.indexer.search.questions.chunks import (
    MAX_PARTS,
    MOST_SPELLINGS,
    Chunk,
    joins,
    run_spellings,
    spellings,
)
from bioqa.indexer.search.questions.pieces import Ways
from bioqa.indexer.search.wording import Best, Every, Wording, Words
from bioqa.system.characters import GREEK, GREEK_NAMES


class KnownWords:
    """The counts of one question's words, each looked up once."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._counts: dict[str, int] = {}
        self._size = evidence.size()

    def look_up(self, chunks: Iterable[Chunk]) -> None:
        """Learn at once how many documents have what the chunks may be written as."""
        texts: dict[str, None] = {}
        for chunk in chunks:
            for part in chunk.parts:
                texts |= dict.fromkeys(spellings(part))
            if 1 < len(chunk.parts) <= MAX_PARTS:
                for runs in joins(chunk.parts):
                    for run in runs:
                        if len(run) > 1:
                            texts |= dict.fromkeys(run_spellings(run))
        self.look_up_texts(texts)

    def look_up_texts(self, texts: Iterable[str]) -> None:
        """Learn at once how many documents have these texts."""
        unknown = [text for text in texts if text not in self._counts]
        if unknown:
            self._counts |= zip(unknown, self._evidence.counts(unknown), strict=True)

    def count(self, text: str) -> int:
        """The number of documents with a text that was looked up."""
        return self._counts[text]

    def rarity(self, text: str) -> float:
        """The inverse document frequency of a text that was looked up."""
        return rarity(self._counts[text], self._size)

    def among(self, texts: Sequence[str]) -> list[str]:
        """Those of the texts that some document has."""
        return [text for text in texts if self._counts[text]]

    def has(self, chunk: Chunk) -> bool:
        """Whether a chunk needs no correction: it is a stop word, or some document has a part of it."""
        return chunk.stop or any(self.among(spellings(part)) for part in chunk.parts)

    def write(self, chunk: Chunk) -> tuple[Wording | None, Ways]:
        """A chunk in all ways that the index has: as what to search for, and as texts."""
        parts = chunk.parts
        if len(parts) == 1:
            of_part = spellings(parts[0])
            return self._best(of_part), _ways(chunk, self.among(of_part))
        if len(parts) > MAX_PARTS:
            wordings = [wording for part in parts if (wording := self._best(spellings(part)))]
            return (Every(tuple(wordings)) if wordings else None), Ways((chunk.text,))
        return self._write_parts(chunk)

    def _write_parts(self, chunk: Chunk) -> tuple[Wording | None, Ways]:
        """A chunk of some parts, joined in all ways of which the index has each joined run."""
        # Words of letters alone are rewritten for no ranker: each way has its own vectors.
        rewritten = any(
            part.isdigit() or part in GREEK_NAMES or part.lower() in GREEK for part in chunk.parts
        )
        ways: list[Wording] = []
        texts: list[str] = []
        for runs in joins(chunk.parts):
            written = [run_spellings(run) for run in runs]
            wordings = [self._best(of_run) for of_run in written]
            lacking = any(
                len(run) > 1 and wording is None for run, wording in zip(runs, wordings, strict=True)
            )
            there = tuple(wording for wording in wordings if wording is not None)
            if lacking or not there:
                continue
            ways.append(there[0] if len(there) == 1 else Every(there))
            if rewritten:
                spellings = [self.among(of_run) or of_run[:1] for of_run in written]
                texts += ["-".join(way) for way in islice(product(*spellings), MOST_SPELLINGS)]
        if not ways:
            return None, Ways((chunk.text,))
        return (ways[0] if len(ways) == 1 else Best(tuple(ways))), _ways(chunk, texts)

    def _best(self, texts: Sequence[str]) -> Wording | None:
        """A word in several spellings. A rare one has a high inverse document frequency, so it is weighted
        down to count as much as the most frequent one: who writes "tumour" finds no other documents."""
        spellings = self.among(texts)
        if not spellings:
            return None
        usual = min(map(self.rarity, spellings))
        ways = tuple(Words(text, min(1.0, usual / self.rarity(text))) for text in spellings)
        return ways[0] if len(ways) == 1 else Best(ways)


def _ways(chunk: Chunk, texts: Sequence[str]) -> Ways:
    return Ways(tuple(dict.fromkeys([chunk.text, *texts])))
