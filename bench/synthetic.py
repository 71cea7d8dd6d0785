"""Generating any number of citations as MEDLINE files, by recombining sentences of given ones.

    python -m bench.synthetic FILE... --citations 1000000 --out DIR [--seed 0] [--without-abstract .3]
                              [--brief] [--plain] [--ahead FILES]

For measurements at a size for which no collection is available. An abstract has as many sentences as one of
the given ones. They come from two given citations whose titles share a rare word, so that words co-occur and
recur within an abstract much as in real ones. The vocabulary keeps growing (see ``GrowingVocabulary``).
Records are as long as NLM's, with authors, headings and references. Equal seeds give equal files. Records are
written one by one, so memory depends on the given files only, apart from 5 MB per million citations.

For a collection that is larger than the disk: with ``--ahead`` the program waits while so many files are in
the folder, to go on when another one has removed some. ``--brief`` leaves out what no index keeps, and
``--plain`` does not compress.
"""

import argparse
import gzip
import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from bench.synthetic_records import Wrapping
from bench.vocabulary import WORD, GrowingVocabulary
from bioqa.bioasq.domain import Document
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.medline.reader import MedlineFile

CITATIONS_PER_FILE = 30_000
"""As in NLM's files."""

WAIT_S = 0.2

RARE = range(2, 301)
"""Number of titles that may share a word for their citations to count as neighbours."""

LABELS = (
    ("BACKGROUND", "METHODS", "RESULTS", "CONCLUSIONS"),
    ("OBJECTIVE", "METHODS", "RESULTS", "CONCLUSION"),
    ("PURPOSE", "MATERIALS AND METHODS", "RESULTS", "CONCLUSION"),
    ("BACKGROUND AND AIMS", "METHODS", "RESULTS", "CONCLUSIONS"),
)
CATEGORIES = ("BACKGROUND", "METHODS", "RESULTS", "CONCLUSIONS")


class SourceSentence(NamedTuple):
    text: str
    rare: tuple[tuple[int, int, float], ...]
    """Begin and end of a word, and the probability that a new word replaces it."""


@dataclass(frozen=True)
class SourceCitation:
    """A given citation, whose sentences are used."""

    title: SourceSentence
    sentences: tuple[SourceSentence, ...]
    topics: tuple[str, ...]
    """Words of the title that occur in few other titles."""


@dataclass(frozen=True)
class Shares:
    without_abstract: float = 0.3
    """About as in MEDLINE, where most of them are old."""
    structured: float = 0.2
    """Share of those with an abstract."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--citations", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--without-abstract", type=float, default=Shares.without_abstract)
    parser.add_argument("--structured", type=float, default=Shares.structured)
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--ahead", type=int, default=0)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    shares = Shares(options.without_abstract, options.structured)
    make = Generator(read(options.files), options.seed, shares, options.brief)
    for path in make.files(options.out, options.citations, "" if options.plain else ".gz"):
        print(f"{path.name}  {path.stat().st_size / 1e6:.0f} MB", flush=True)
        while options.ahead and len([*options.out.glob("*.xml*")]) >= options.ahead:
            time.sleep(WAIT_S)
    words = make.vocabulary
    print(f"{words.known + words.minted} different words, {words.minted} of them new")


def read(files: Sequence[Path]) -> list[Document]:
    """Documents with a title and an abstract."""
    events = chain.from_iterable(map(MedlineFile, files))
    documents = (event.document for event in events if isinstance(event, Upsert))
    return [document for document in documents if document.title and document.abstract]


class Generator:
    def __init__(
        self, documents: Sequence[Document], seed: int = 0, shares: Shares = Shares(), brief: bool = False
    ) -> None:
        self.vocabulary = GrowingVocabulary.of(documents, seed)
        self._random = random.Random(seed)
        self._shares = shares
        titles = Counter(word for d in documents for word in _title_words(d))
        self._sources = [self._source(document, titles) for document in documents]
        self._neighbours: dict[str, list[SourceCitation]] = {}
        for source in self._sources:
            for topic in source.topics:
                self._neighbours.setdefault(topic, []).append(source)
        self._lengths = [len(source.sentences) for source in self._sources]
        self._wrap = Wrapping(seed, brief)

    def files(self, folder: Path, citations: int, suffix: str = ".gz") -> Iterator[Path]:
        """Write ``citations`` with PMIDs from 1 on; yields the path of each file, which appears complete.

        ``suffix``: "" for files that are not compressed."""
        for number, first in enumerate(range(1, citations + 1, CITATIONS_PER_FILE), 1):
            pmids = range(first, min(first + CITATIONS_PER_FILE, citations + 1))
            yield self.file(folder / f"pubmed99n{number:04}.xml{suffix}", pmids)

    def file(self, path: Path, pmids: Iterable[int], deleted: Iterable[int] = (), version: int = 1) -> Path:
        """Write a file of citations, new ones or other ``version``s of earlier ones, and deletions."""
        part = path.with_suffix(".part")
        # Fast rather than small: the files are read a few times and deleted.
        with (
            gzip.open(part, "wt", 1, "utf-8")
            if path.suffix == ".gz"
            else part.open("w", encoding="utf-8") as to
        ):
            to.write('<?xml version="1.0" encoding="utf-8"?>\n<PubmedArticleSet>\n')
            for pmid in pmids:
                to.write(self.record(pmid, version))
            if gone := "".join(f'<PMID Version="1">{pmid}</PMID>' for pmid in deleted):
                to.write(f"<DeleteCitation>{gone}</DeleteCitation>\n")
            to.write("</PubmedArticleSet>\n")
        return part.replace(path)

    def record(self, pmid: int, version: int = 1) -> str:
        main = self._random.choice(self._sources)
        neighbour = self._neighbour(main)
        title = escape(self._varied(neighbour.title))
        abstract = ""
        if self._random.random() >= self._shares.without_abstract:
            chosen = self._chosen(main) if neighbour is main else self._chosen(main, neighbour)
            sentences = [escape(self._varied(sentence)) for sentence in chosen]
            labelled = len(sentences) >= 4 and self._random.random() < self._shares.structured
            abstract = self._structured(sentences) if labelled else _plain(sentences)
        return self._wrap(pmid, title, abstract, version)

    def _source(self, document: Document, titles: Counter[str]) -> SourceCitation:
        texts = [document.sentence_text(s) for s in document.sentences if s.section == "abstract"]
        rare = (word for word in _title_words(document) if titles[word] in RARE)
        return SourceCitation(
            self._sentence(document.title),
            tuple(map(self._sentence, texts)),
            tuple(sorted(rare, key=lambda word: (titles[word], word))[:6]),
        )

    def _sentence(self, text: str) -> SourceSentence:
        return SourceSentence(text, self.vocabulary.replaceable(text))

    def _neighbour(self, source: SourceCitation) -> SourceCitation:
        if not source.topics:
            return self._random.choice(self._sources)
        return self._random.choice(self._neighbours[self._random.choice(source.topics)])

    def _chosen(self, *sources: SourceCitation) -> list[SourceSentence]:
        """Choose as many sentences as a random abstract has, in the order of their own abstracts."""
        count = self._random.choice(self._lengths)
        places = [
            ((place + self._random.random()) / len(source.sentences), s, place)
            for s, source in enumerate(sources)
            for place in range(len(source.sentences))
        ]
        kept = self._random.sample(places, min(count, len(places)))
        return [sources[s].sentences[place] for _, s, place in sorted(kept)]

    def _varied(self, sentence: SourceSentence) -> str:
        text = sentence.text
        for begin, end, probability in reversed(sentence.rare):
            if self._random.random() < probability:
                text = text[:begin] + self.vocabulary.draw() + text[end:]
        return text

    def _structured(self, sentences: Sequence[str]) -> str:
        labels = self._random.choice(LABELS)
        cuts = [0, *sorted(self._random.sample(range(1, len(sentences)), 3)), len(sentences)]
        parts = (
            f'<AbstractText Label="{label}" NlmCategory="{category}">{" ".join(sentences[begin:end])}'
            "</AbstractText>"
            for label, category, begin, end in zip(labels, CATEGORIES, cuts, cuts[1:], strict=False)
        )
        return f"<Abstract>{''.join(parts)}</Abstract>"


def _plain(sentences: Sequence[str]) -> str:
    return f"<Abstract><AbstractText>{' '.join(sentences)}</AbstractText></Abstract>"


def _title_words(document: Document) -> list[str]:
    return sorted(set(WORD.findall(document.title.lower())))


if __name__ == "__main__":
    main()
