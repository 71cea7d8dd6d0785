"""A toy world: made-up diseases and drugs, with documents, a vocabulary, an index and golden questions.

Small enough to be learnt by heart: whether a sentence answers a question shows in its words.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bioqa.bioasq.domain import (
    PUBMED_URL,
    Candidate,
    Document,
    Question,
    Response,
    Section,
    Sentence,
    Snippet,
)
from bioqa.models.arrays import Ints
from bioqa.models.encoders.inputs import Pieced, Pieces
from bioqa.models.features.extractor import Features, feature_counts
from bioqa.models.rankers.batch import Example
from bioqa.models.rankers.registry import ARCHITECTURES, settings_of
from bioqa.models.rankers.settings import RankerSettings, WordReading
from bioqa.models.text.pieces import WordPieces, as_stored
from bioqa.models.text.vocabulary import Means, Vocabulary
from bioqa.models.text.words import STOP_WORDS, stem, terms, words

TOPICS = (
    ("zelosis", "velorin"),
    ("marbitis", "tocumab"),
    ("quintemia", "harzopril"),
    ("dolvaria", "simetane"),
    ("ferroplegia", "okradine"),
)
"""Disease and drug."""

ABSENT = "99999"
"""A gold document that the index lacks."""


def document(pmid: int | str, title: str = "", *sentences: str) -> Document:
    """One title sentence (or none) and the abstract's sentences, joined by spaces."""
    spans = [Sentence("title", 0, len(title))] if title else []
    begin = 0
    for text in sentences:
        spans.append(Sentence("abstract", begin, begin + len(text)))
        begin += len(text) + 1
    return Document(str(pmid), 1, title, " ".join(sentences), sentences=tuple(spans))


def _topic(number: int, disease: str, drug: str) -> tuple[list[Document], Response]:
    """Two documents that answer, three that only speak of the same, and the question with its gold."""
    first = 100 * number
    answer = f"Treatment with {drug} cures {disease} in most patients."
    relevant = [
        document(first + 1, f"A trial of {drug}.", "We followed forty people.", answer, "Age was recorded."),
        document(first + 2, f"Care of {disease}.", answer, "The costs were low in this cohort."),
    ]
    others = [
        document(
            first + 3, f"Genes in {disease}.", f"The origin of {disease} is not known.", "Mice were used."
        ),
        document(first + 4, f"A review of {disease}.", f"{disease.title()} is rare."),
        document(first + 5, f"History of {drug}.", "It was found in a plant.", "The drug is cheap."),
    ]
    question = Question(f"q{number}", f"Which drug cures {disease}?", "factoid")
    snippets = tuple(snippet(d, d.sentences[d.abstract.startswith(answer) or 2]) for d in relevant)
    return relevant + others, Response(question, tuple(d.url for d in relevant), snippets)


def snippet(source: Document, sentence: Sentence) -> Snippet:
    section: Section = sentence.section
    text = source.sentence_text(sentence)
    return Snippet(source.url, text, section, section, sentence.begin, sentence.end)


_TOPICS = [_topic(number, *names) for number, names in enumerate(TOPICS, 1)]
DOCUMENTS: tuple[Document, ...] = tuple(d for documents, _ in _TOPICS for d in documents)
GOLDEN: tuple[Response, ...] = tuple(
    Response(gold.question, (*gold.documents, PUBMED_URL + ABSENT), gold.snippets) for _, gold in _TOPICS
)


def vocabulary_of(known: Iterable[str], dimensions: int = 6, seed: int = 0) -> Vocabulary:
    """Random vectors and IDF that half precision holds exactly, so that saving loses nothing."""
    generator = np.random.default_rng(seed)
    kept = tuple(dict.fromkeys(known))
    content = tuple(dict.fromkeys(t for word in kept for t in terms(word) if t not in STOP_WORDS))
    stems = list(dict.fromkeys(map(stem, content)))

    def half(values: np.ndarray) -> np.ndarray:
        return values.astype(np.float16).astype(np.float32)

    return Vocabulary(
        words=kept,
        idf=half(generator.uniform(0.5, 6.0, len(kept))),
        vectors=half(generator.normal(size=(len(kept), dimensions))),
        terms=content,
        term_stems=np.array([stems.index(stem(t)) for t in content], dtype=np.int64),
        stem_idf=half(generator.uniform(0.5, 6.0, len(stems))),
        means=Means(document_words=16.0, sentence_words=5.25, document_stems=11.0, sentence_stems=3.5),
    )


def pieces_of(names: Iterable[str], dimensions: int = 5, seed: int = 0) -> WordPieces:
    """Random directions and IDF that files hold exactly."""
    generator = np.random.default_rng(seed)
    kept = tuple(names)
    vectors = as_stored(generator.normal(size=(len(kept), dimensions)))
    idf = generator.uniform(0.5, 6.0, len(kept)).astype(np.float16).astype(np.float32)
    return WordPieces(kept, vectors, idf)


def corpus_words(documents: Iterable[Document] = DOCUMENTS) -> list[str]:
    texts = [text for d in documents for text in (d.title, d.abstract)]
    return [word for text in texts for word in words(text)]


class ToyIndex:
    """Counts common words, in memory."""

    def __init__(self, documents: Iterable[Document] = DOCUMENTS) -> None:
        self.documents = {d.pmid: d for d in documents}

    def search(self, question: str, size: int = 100) -> list[Candidate]:
        asked = set(words(question))
        found = []
        for d in self.documents.values():
            counts = Counter(corpus_words([d]))
            score = sum(counts[word] / (counts[word] + 1) for word in asked)
            if score > 0:
                found.append(Candidate(d, score))
        return sorted(found, key=lambda c: (-c.score, int(c.document.pmid)))[:size]

    def get(self, pmids: Sequence[str]) -> Mapping[str, Document]:
        return {pmid: self.documents[pmid] for pmid in pmids if pmid in self.documents}


def toy_settings(ranker: str, **changes: Any) -> RankerSettings:
    """The published settings with vectors as long as those of ``vocabulary_of``, few filters, and those of
    the changes that the architecture has.
    """
    settings = settings_of(ranker)
    known = settings.as_dict()
    made = {"dimensions": 6, "filters": 8, **changes}
    return settings.with_changes(**{name: value for name, value in made.items() if name in known})


def random_example(
    generator: np.random.Generator,
    settings: RankerSettings,
    size: int,
    *,
    terms: int | None = None,
    sentence_counts: Sequence[int] | None = None,
    longest: int = 9,
) -> Example:
    """Word ids below ``size``, and negative ones where unknown words are read; questions, documents and
    sentences may be empty.
    """
    of_documents, of_sentences = feature_counts(settings.reading.features)
    if sentence_counts is None:
        sentence_counts = generator.integers(0, 4, generator.integers(1, 5)).tolist()
    by_document = ARCHITECTURES[settings.ranker].units != "sentences"
    units = len(sentence_counts) if by_document else sum(sentence_counts)
    reading, least = settings.reading, 0
    terms = int(generator.integers(0, 6)) if terms is None else terms
    if isinstance(reading, WordReading):
        least = 0 if reading.unknown_words == "drop" else -3
        longest = min(longest, reading.unit_words or longest)
        terms = min(terms, reading.question_words or terms)
    word_counts = generator.integers(0, longest + 1, units)
    question = generator.integers(least, size, terms)
    return Example(
        question=question,
        words=generator.integers(least, size, int(word_counts.sum())),
        word_counts=word_counts,
        unit_counts=np.array([1] * units if by_document else sentence_counts, dtype=np.int64),
        features=Features(
            generator.normal(size=(len(sentence_counts), of_documents)).astype(np.float32),
            generator.normal(size=(0 if by_document else units, of_sentences)).astype(np.float32),
        ),
        pieces=_random_pieces(generator, settings, len(question), word_counts),
    )


def _random_pieces(
    generator: np.random.Generator, settings: RankerSettings, terms: int, word_counts: Ints
) -> Pieces | None:
    """One piece or two a word, of the tiny encoder's."""
    reads = ARCHITECTURES[settings.ranker].reads
    if reads == "vectors":
        return None

    def pieced(words: int) -> Pieced:
        counts = 1 + (generator.random(words) < 0.3).astype(np.int64)
        ids = generator.integers(5, 90, int(counts.sum()))
        return Pieced(ids, np.cumsum(counts) - counts if reads == "words" else counts[:0])

    return Pieces(pieced(terms), tuple(map(pieced, word_counts.tolist())), reads == "words")
