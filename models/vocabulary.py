"""The corpus in numbers: words with IDF and vectors, stems with IDF.

``Vocabulary.build`` reads a corpus once; the result is stored with every checkpoint, so that a ranker
answers with the very numbers that it was trained with.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from bioasq.domain import Document
from bioasq.errors import BioqaError
from models.arrays import Floats, Ints
from models.text import stems, unknown_id, words


class VocabularyError(BioqaError):
    """A vocabulary's files are missing, damaged or do not fit each other."""


@dataclass(frozen=True)
class Vocabulary:
    """V words (id = position) and T stems (id = position), in descending frequency.

    ``word_stems[word_stem_offsets[i]:word_stem_offsets[i + 1]]`` are the stem ids of word i.
    """

    words: tuple[str, ...]
    idf: Floats
    """[V] ln(1 + (N - df + .5) / (df + .5)) over the corpus's N documents."""
    vectors: Floats
    """[V, dimensions] skip-gram vectors, not normalised."""
    stems: tuple[str, ...]
    stem_idf: Floats
    """[T]"""
    word_stems: Ints
    word_stem_offsets: Ints
    mean_document_stems: float
    """Mean number of stems of a document, for BM25's length normalisation."""
    mean_sentence_stems: float
    mean_sentence_words: float
    word_ids: dict[str, int] = field(init=False, repr=False)
    stem_ids: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "word_ids", {word: i for i, word in enumerate(self.words)})
        object.__setattr__(self, "stem_ids", {stem: i for i, stem in enumerate(self.stems)})

    def id_of(self, word: str) -> int:
        """The word's id; a negative one (``unknown_id``) outside the vocabulary."""
        known = self.word_ids.get(word)
        return unknown_id(word) if known is None else known

    def stem_ids_of(self, word: str) -> list[int]:
        """The ids of a word's stems; negative where the stem is unknown."""
        known = self.word_ids.get(word)
        if known is not None:
            begin, end = self.word_stem_offsets[known : known + 2]
            return [int(stem) for stem in self.word_stems[begin:end]]
        return [self.stem_ids.get(stem, unknown_id(stem)) for stem in stems(word)]

    def idf_of(self, ids: Ints) -> Floats:
        """IDF by word id; an unknown word has the table's maximum."""
        return _lookup(self.idf, ids)

    def stem_idf_of(self, ids: Ints) -> Floats:
        return _lookup(self.stem_idf, ids)

    @classmethod
    def build(
        cls, documents: Iterable[Document], *, dimensions: int = 30, min_count: int = 5, seed: int = 1
    ) -> "Vocabulary":
        """Counts the corpus and trains skip-gram word2vec on it; needs gensim (the extra ``train``).

        Words seen fewer than ``min_count`` times are left out.
        """
        counts = _Counts()
        sentences = [tokens for document in documents for tokens in counts.add(document)]
        if counts.documents == 0:
            raise VocabularyError("no documents to build a vocabulary from")
        kept = [word for word, n in counts.words.most_common() if n >= min_count]
        if not kept:
            raise VocabularyError(f"no word occurs {min_count} times in {counts.documents} documents")
        known_stems = [stem for stem, _ in counts.stem_documents.most_common()]
        kept_stems = {stem for word in kept for stem in stems(word)}
        stem_list = [stem for stem in known_stems if stem in kept_stems]
        stem_ids = {stem: i for i, stem in enumerate(stem_list)}
        per_word = [[stem_ids[stem] for stem in stems(word)] for word in kept]
        return cls(
            words=tuple(kept),
            idf=_idf([counts.word_documents[w] for w in kept], counts.documents),
            vectors=_word2vec(sentences, kept, dimensions, min_count, seed),
            stems=tuple(stem_list),
            stem_idf=_idf([counts.stem_documents[s] for s in stem_list], counts.documents),
            word_stems=np.array([i for ids in per_word for i in ids], dtype=np.int64),
            word_stem_offsets=np.cumsum([0, *map(len, per_word)], dtype=np.int64),
            mean_document_stems=counts.stems / counts.documents,
            mean_sentence_stems=counts.stems / max(1, counts.sentences),
            mean_sentence_words=counts.words.total() / max(1, counts.sentences),
        )

    def save(self, folder: Path) -> None:
        """Writes ``vocabulary.txt``, ``stems.txt`` and ``vocabulary.safetensors`` (half precision)."""
        (folder / "vocabulary.txt").write_text("\n".join(self.words), encoding="utf-8", newline="\n")
        (folder / "stems.txt").write_text("\n".join(self.stems), encoding="utf-8", newline="\n")
        means = [self.mean_document_stems, self.mean_sentence_stems, self.mean_sentence_words]
        save_file(
            {
                "idf": self.idf.astype(np.float16),
                "vectors": self.vectors.astype(np.float16),
                "stem_idf": self.stem_idf.astype(np.float16),
                "word_stems": self.word_stems.astype(np.int32),
                "word_stem_counts": np.diff(self.word_stem_offsets).astype(np.uint8),
                "means": np.array(means, dtype=np.float64),
            },
            folder / "vocabulary.safetensors",
        )

    @classmethod
    def load(cls, folder: Path) -> "Vocabulary":
        """Raises VocabularyError, naming the file and what does not fit."""
        try:
            known = tuple((folder / "vocabulary.txt").read_text(encoding="utf-8").split("\n"))
            stem_list = tuple((folder / "stems.txt").read_text(encoding="utf-8").split("\n"))
            tensors = load_file(folder / "vocabulary.safetensors")
            counts = tensors["word_stem_counts"]
            vectors = tensors["vectors"].astype(np.float32)
            idf, stem_idf = (tensors[name].astype(np.float32) for name in ("idf", "stem_idf"))
            means = tensors["means"].tolist()
            word_stems = tensors["word_stems"].astype(np.int64)
        except (OSError, UnicodeDecodeError, SafetensorError, KeyError) as error:
            raise VocabularyError(f"{folder}: the vocabulary cannot be read: {error}") from error
        fits = len(known) == len(idf) == len(vectors) == len(counts) and len(stem_list) == len(stem_idf)
        if not fits or counts.sum() != len(word_stems) or len(means) != 3:
            raise VocabularyError(
                f"{folder}: vocabulary.txt, stems.txt and vocabulary.safetensors do not fit"
            )
        offsets = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        return cls(known, idf, vectors, stem_list, stem_idf, word_stems, offsets, *means)


class _Counts:
    """What one pass over the corpus counts."""

    def __init__(self) -> None:
        self.documents = 0
        self.sentences = 0
        self.stems = 0
        self.words: Counter[str] = Counter()
        self.word_documents: Counter[str] = Counter()
        self.stem_documents: Counter[str] = Counter()

    def add(self, document: Document) -> Iterator[list[str]]:
        """Counts the document and gives the words of its sentences."""
        distinct: set[str] = set()
        self.documents += 1
        for sentence in document.sentences:
            tokens = words(document.sentence_text(sentence))
            self.sentences += 1
            self.words.update(tokens)
            self.stems += sum(len(stems(word)) for word in tokens)
            distinct.update(tokens)
            yield tokens
        self.word_documents.update(distinct)
        self.stem_documents.update({stem for word in distinct for stem in stems(word)})


def _idf(document_counts: list[int], documents: int) -> Floats:
    df = np.array(document_counts, dtype=np.float64)
    return np.log1p((documents - df + 0.5) / (df + 0.5)).astype(np.float32)


def _lookup(table: Floats, ids: Ints) -> Floats:
    return np.where(ids >= 0, table[np.maximum(ids, 0)], table.max()).astype(np.float32)


def _word2vec(
    sentences: list[list[str]], kept: list[str], dimensions: int, min_count: int, seed: int
) -> Floats:
    # Only training needs gensim, so only training imports it.
    from gensim.models import Word2Vec

    model = Word2Vec(
        sentences, vector_size=dimensions, window=5, min_count=min_count, sg=1, seed=seed, workers=2, epochs=5
    )
    return np.stack([model.wv[word] for word in kept]).astype(np.float32)
