"""Any number of citations as MEDLINE files, made by recombining the sentences of given ones.

    python -m bench.synthetic FILE... --citations 1000000 --out DIR [--seed 0] [--without-abstract .3]

For measuring at a size for which no collection is at hand. An abstract has as many sentences as one of the
given, and they come from two given citations whose titles share a rare word, so that words keep together and
come back within an abstract much as in real ones. The vocabulary goes on growing (see ``Vocabulary``).
Records are as long as NLM's, with authors, headings and references. The same seed gives the same files; they
are written one record after the other, so memory depends on the given files only, but for 5 MB a million.
"""

import argparse
import gzip
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from bench.synthetic_records import Wrapping
from bench.vocabulary import WORD, Vocabulary
from bioqa.bioasq.domain import Document
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.medline.reader import MedlineFile

A_FILE = 30_000
"""Citations a file, as in NLM's."""

RARE = range(2, 301)
"""How many titles may share a word for their citations to be taken for neighbours."""

LABELS = (
    ("BACKGROUND", "METHODS", "RESULTS", "CONCLUSIONS"),
    ("OBJECTIVE", "METHODS", "RESULTS", "CONCLUSION"),
    ("PURPOSE", "MATERIALS AND METHODS", "RESULTS", "CONCLUSION"),
    ("BACKGROUND AND AIMS", "METHODS", "RESULTS", "CONCLUSIONS"),
)
CATEGORIES = ("BACKGROUND", "METHODS", "RESULTS", "CONCLUSIONS")


class Sentence(NamedTuple):
    text: str
    rare: tuple[tuple[int, int, float], ...]
    """Begin and end of a word, and how likely it is to be replaced by one that the given files lack."""


@dataclass(frozen=True)
class Source:
    """What a given citation lends."""

    title: Sentence
    sentences: tuple[Sentence, ...]
    topics: tuple[str, ...]
    """Words of the title that not many others have."""


@dataclass(frozen=True)
class Shares:
    without_abstract: float = 0.3
    """MEDLINE has about so many, most of them old."""
    structured: float = 0.2
    """Of those with an abstract."""


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
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    make = Generator(read(options.files), options.seed, Shares(options.without_abstract, options.structured))
    for path in make.files(options.out, options.citations):
        print(f"{path.name}  {path.stat().st_size / 1e6:.0f} MB", flush=True)
    words = make.vocabulary
    print(f"{words.known + words.minted} different words, {words.minted} of them new")


def read(files: Sequence[Path]) -> list[Document]:
    """Documents with a title and an abstract."""
    events = chain.from_iterable(map(MedlineFile, files))
    documents = (event.document for event in events if isinstance(event, Upsert))
    return [document for document in documents if document.title and document.abstract]


class Generator:
    def __init__(self, documents: Sequence[Document], seed: int = 0, shares: Shares = Shares()) -> None:
        counts = Counter(
            word
            for document in documents
            for word in WORD.findall(f"{document.title} {document.abstract}".lower())
        )
        self.vocabulary = Vocabulary(counts, seed)
        self._random = random.Random(seed)
        self._shares = shares
        titles = Counter(word for d in documents for word in _title_words(d))
        self._sources = [self._source(document, titles) for document in documents]
        self._neighbours: dict[str, list[Source]] = {}
        for source in self._sources:
            for topic in source.topics:
                self._neighbours.setdefault(topic, []).append(source)
        self._lengths = [len(source.sentences) for source in self._sources]
        self._wrap = Wrapping(seed)

    def files(self, folder: Path, citations: int) -> Iterator[Path]:
        """Write ``citations`` with PMIDs from 1 on; the path of each file when it is complete."""
        for number, first in enumerate(range(1, citations + 1, A_FILE), 1):
            path = folder / f"pubmed99n{number:04}.xml.gz"
            # Fast rather than small: it is read a few times and thrown away.
            with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as stream:
                stream.write('<?xml version="1.0" encoding="utf-8"?>\n<PubmedArticleSet>\n')
                for pmid in range(first, min(first + A_FILE, citations + 1)):
                    stream.write(self.record(pmid))
                stream.write("</PubmedArticleSet>\n")
            yield path

    def record(self, pmid: int) -> str:
        main = self._random.choice(self._sources)
        other = self._neighbour(main)
        title = escape(self._varied(other.title))
        abstract = ""
        if self._random.random() >= self._shares.without_abstract:
            chosen = self._chosen(main) if other is main else self._chosen(main, other)
            sentences = [escape(self._varied(sentence)) for sentence in chosen]
            labelled = len(sentences) >= 4 and self._random.random() < self._shares.structured
            abstract = self._structured(sentences) if labelled else _plain(sentences)
        return self._wrap(pmid, title, abstract)

    def _source(self, document: Document, titles: Counter[str]) -> Source:
        texts = [document.sentence_text(s) for s in document.sentences if s.section == "abstract"]
        rare = (word for word in _title_words(document) if titles[word] in RARE)
        return Source(
            self._sentence(document.title),
            tuple(map(self._sentence, texts)),
            tuple(sorted(rare, key=lambda word: (titles[word], word))[:6]),
        )

    def _sentence(self, text: str) -> Sentence:
        return Sentence(text, self.vocabulary.replaceable(text))

    def _neighbour(self, source: Source) -> Source:
        if not source.topics:
            return self._random.choice(self._sources)
        return self._random.choice(self._neighbours[self._random.choice(source.topics)])

    def _chosen(self, *sources: Source) -> list[Sentence]:
        """As many sentences as a random abstract has, in the order that they have in theirs."""
        count = self._random.choice(self._lengths)
        places = [
            ((place + self._random.random()) / len(source.sentences), s, place)
            for s, source in enumerate(sources)
            for place in range(len(source.sentences))
        ]
        kept = self._random.sample(places, min(count, len(places)))
        return [sources[s].sentences[place] for _, s, place in sorted(kept)]

    def _varied(self, sentence: Sentence) -> str:
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
