"""The corpus in numbers: words with IDF and vectors, stems with IDF.

``Vocabulary.build`` reads a corpus once. The result is stored with every checkpoint, so that a ranker
answers with exactly the numbers that it was trained with.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from bioqa.bioasq.domain import Document
from bioqa.models import bundled
from bioqa.models.arrays import Floats, Ints
from bioqa.models.text.frequencies import inverse_document_frequencies
from bioqa.models.text.pieces import FILES as PIECES_FILES
from bioqa.models.text.pieces import PiecesError, WordPieces
from bioqa.models.text.words import (
    END,
    STOP_WORDS,
    stem,
    stems_without_accents,
    terms,
    unknown_id,
    words,
)
from bioqa.system.characters import fold
from bioqa.system.errors import BioqaError

STOP = -(1 << 40)
"""Stem id of stop words: outside the range of ``unknown_id``."""

END_ID = STOP - 1
"""The id of ``bioqa.models.text.words.END``."""


FILES = ("vocabulary.txt", "terms.txt", "vocabulary.safetensors")


class VocabularyError(BioqaError):
    """A vocabulary's files are missing, damaged or do not fit each other."""


@dataclass(frozen=True, slots=True)
class Means:
    """Mean lengths in the corpus, for BM25's length normalisation."""

    document_words: float
    sentence_words: float
    document_stems: float
    sentence_stems: float


class _WordIds(dict[str, int]):
    """A dict, so that known words are looked up at C speed; only unknown ones call Python."""

    def __missing__(self, word: str) -> int:
        return unknown_id(word)


class _TermIds(dict[str, int]):
    def __init__(self, of_terms: dict[str, int], of_stems: dict[str, int]) -> None:
        super().__init__({END: END_ID} | of_terms | dict.fromkeys(STOP_WORDS, STOP))
        self._of_stems = of_stems

    def __missing__(self, term: str) -> int:
        name = stem(term)
        stem_id = self._of_stems.get(name)
        return unknown_id(name) if stem_id is None else stem_id


@dataclass(frozen=True)
class Vocabulary:
    """V words, U retrieval terms and T stems; a word's or stem's id is its position."""

    words: tuple[str, ...]
    """Cleaned words (``bioqa.models.text.words.words``), most frequent first."""
    idf: Floats
    """[V] ``bioqa.models.text.frequencies.inverse_document_frequencies`` over the corpus."""
    vectors: Floats
    """[V, dimensions] skip-gram vectors, not normalised."""
    terms: tuple[str, ...]
    """Retrieval terms (``bioqa.models.text.words.terms``), without stop words."""
    term_stems: Ints
    """[U] stem ids"""
    stem_idf: Floats
    """[T] as ``idf``"""
    means: Means
    pieces: WordPieces | None = None
    """For the soft features; None if it was built without an encoder."""
    frequencies: Floats | None = None
    """[V] what share of all words of the corpus is this one; None for vocabularies that do not keep it."""
    word_ids: dict[str, int] = field(init=False, repr=False)
    """By word; ``unknown_id`` outside the vocabulary."""
    term_ids: dict[str, int] = field(init=False, repr=False)
    """Stem ids by term; STOP for stop words, ``unknown_id`` of the stem outside the vocabulary."""

    def __post_init__(self) -> None:
        # Of words that are one without accents, all are the most frequent one, which comes first.
        word_ids = _WordIds({END: END_ID} | _first(map(fold, self.words), range(len(self.words))))
        of_stems, joined = stems_without_accents(self.terms, self.term_stems.tolist())
        of_terms = _first(map(fold, self.terms), map(joined.__getitem__, self.term_stems.tolist()))
        term_ids = _TermIds(of_terms, of_stems)
        object.__setattr__(self, "word_ids", word_ids)
        object.__setattr__(self, "term_ids", term_ids)

    @cached_property
    def stop_ids(self) -> Ints:
        """Ids of the words that are stop words."""
        return np.array([i for i, word in enumerate(self.words) if word in STOP_WORDS], dtype=np.int64)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all of its numbers and names, word pieces included, in hexadecimal."""
        digest = hashlib.sha256("\n".join((*self.words, "", *self.terms)).encode())
        for values in (self.idf, self.vectors, self.term_stems, self.stem_idf):
            digest.update(values.tobytes())
        digest.update(repr(astuple(self.means)).encode())
        if self.frequencies is not None:
            digest.update(self.frequencies.tobytes())
        if self.pieces is not None:
            digest.update(self.pieces.fingerprint.encode())
        return digest.hexdigest()

    def idf_of(self, ids: Ints) -> Floats:
        """IDF by word id; an unknown word gets the table's maximum."""
        return _lookup(self.idf, ids)

    def frequency_of(self, ids: Ints) -> Floats:
        """What share of the corpus's words is each; an unknown word is as rare as the rarest known one.

        Estimated where it is not kept: a word is then counted once in each document that has it.
        """
        if self.frequencies is None:
            return (np.exp(-self.idf_of(ids)) / self.means.document_words).astype(np.float32)
        frequencies = self.frequencies[np.maximum(ids, 0)]
        return np.where(ids >= 0, frequencies, self.frequencies.min()).astype(np.float32)

    def stem_idf_of(self, ids: Ints) -> Floats:
        return _lookup(self.stem_idf, ids)

    @classmethod
    def build(
        cls, documents: Iterable[Document], *, dimensions: int = 30, min_count: int = 5, seed: int = 1
    ) -> "Vocabulary":
        """Count the corpus and train skip-gram word2vec on it; needs gensim (the extra ``train``).

        Words and terms seen fewer than ``min_count`` times are excluded. Vectors differ in their last
        digits from run to run, as gensim's two threads race.
        """
        counts = _Counts()
        sentences = [tokens for document in documents for tokens in counts.add(document)]
        if counts.documents == 0:
            raise VocabularyError("no documents to build a vocabulary from")
        kept = [word for word, n in counts.words.most_common() if n >= min_count]
        if not kept:
            raise VocabularyError(f"no word occurs {min_count} times in {counts.documents} documents")
        terms_kept = [term for term, n in counts.terms.most_common() if n >= min_count]
        stem_ids: dict[str, int] = {}
        of_terms = [stem_ids.setdefault(stem(term), len(stem_ids)) for term in terms_kept]
        return cls(
            words=tuple(kept),
            idf=_idf([counts.word_documents[w] for w in kept], counts.documents),
            vectors=_word2vec(sentences, kept, dimensions, min_count, seed),
            terms=tuple(terms_kept),
            term_stems=np.array(of_terms, dtype=np.int64),
            stem_idf=_idf([counts.stem_documents[s] for s in stem_ids], counts.documents),
            means=counts.means(),
            frequencies=counts.frequencies(kept),
        )

    def save(self, folder: Path) -> None:
        """Write the files of words, terms and numbers, and those of word pieces if there are any.

        Numbers are in half precision, except frequencies, which it would make 0.
        """
        for name, lines in zip(FILES[:2], (self.words, self.terms), strict=True):
            (folder / name).write_text("\n".join(lines), encoding="utf-8", newline="\n")
        save_file(
            {
                "idf": self.idf.astype(np.float16),
                "vectors": self.vectors.astype(np.float16),
                "stem_idf": self.stem_idf.astype(np.float16),
                "term_stems": self.term_stems.astype(np.int32),
                "means": np.array(astuple(self.means), dtype=np.float64),
                **({} if self.frequencies is None else {"frequencies": self.frequencies}),
            },
            folder / FILES[2],
        )
        if self.pieces is not None:
            self.pieces.save(folder)

    @classmethod
    def load(cls, folder: Path, pieces_folder: Path | None = None) -> "Vocabulary":
        """``pieces_folder``: where the word pieces' files lie, if they are not beside the others.

        Raises VocabularyError, naming the folder and what is wrong.
        """
        pieces_folder = pieces_folder or folder
        try:
            stem_id, terms_known = (
                tuple((folder / name).read_text(encoding="utf-8").split("\n")) for name in FILES[:2]
            )
            tensors = load_file(folder / FILES[2])
            vectors = tensors["vectors"].astype(np.float32)
            idf, stem_idf = (tensors[name].astype(np.float32) for name in ("idf", "stem_idf"))
            means = Means(*tensors["means"].tolist())
            term_stems = tensors["term_stems"].astype(np.int64)
            kept = tensors.get("frequencies")
            frequencies = None if kept is None else kept.astype(np.float32)
            has_pieces = any((pieces_folder / name).is_file() for name in PIECES_FILES)
            pieces = WordPieces.load(pieces_folder) if has_pieces else None
        except PiecesError as error:
            raise VocabularyError(str(error)) from error
        except (OSError, UnicodeDecodeError, SafetensorError, KeyError, TypeError) as error:
            raise VocabularyError(f"{folder}: the vocabulary cannot be read: {error}") from error
        words_fit = len(stem_id) == len(idf) == len(vectors) and vectors.ndim == 2
        words_fit &= frequencies is None or frequencies.shape == idf.shape
        terms_fit = len(terms_known) == len(term_stems) and term_stems.max(initial=-1) < len(stem_idf)
        if not (words_fit and terms_fit and term_stems.min(initial=0) >= 0):
            raise VocabularyError(f"{folder}: the vocabulary's files do not fit each other")
        return cls(stem_id, idf, vectors, terms_known, term_stems, stem_idf, means, pieces, frequencies)


def _first(names: Iterable[str], numbers: Iterable[int]) -> dict[str, int]:
    """The number of each name; of a name that is repeated, the first."""
    first: dict[str, int] = {}
    for name, number in zip(names, numbers, strict=True):
        first.setdefault(name, number)
    return first


def files_fingerprint(folder: Path) -> str:
    """SHA-256 over the files of words and terms, in hexadecimal. Word pieces are not part of it."""
    digest = hashlib.sha256()
    for name in FILES:
        digest.update(name.encode() + b"\0" + (folder / name).read_bytes())
    return digest.hexdigest()


class _Counts:
    """Counts of one pass over the corpus."""

    def __init__(self) -> None:
        self.documents = 0
        self.sentences = 0
        self.words: Counter[str] = Counter()
        self.terms: Counter[str] = Counter()
        self.word_documents: Counter[str] = Counter()
        self.stem_documents: Counter[str] = Counter()

    def add(self, document: Document) -> Iterator[list[str]]:
        """Count the document, and yield the words of each of its sentences."""
        distinct_words: set[str] = set()
        distinct_terms: set[str] = set()
        self.documents += 1
        for text in document.sentence_texts():
            tokens = words(text)
            content = [term for term in terms(text) if stem(term)]
            self.sentences += 1
            self.words.update(tokens)
            self.terms.update(content)
            distinct_words.update(tokens)
            distinct_terms.update(content)
            yield tokens
        self.word_documents.update(distinct_words)
        self.stem_documents.update({stem(term) for term in distinct_terms})

    def frequencies(self, kept: list[str]) -> Floats:
        total = self.words.total()
        return np.array([self.words[word] / total for word in kept], dtype=np.float32)

    def means(self) -> Means:
        sentences = max(1, self.sentences)
        return Means(
            document_words=self.words.total() / self.documents,
            sentence_words=self.words.total() / sentences,
            document_stems=self.terms.total() / self.documents,
            sentence_stems=self.terms.total() / sentences,
        )


def _idf(document_counts: list[int], documents: int) -> Floats:
    df = np.array(document_counts, dtype=np.float64)
    return _half(inverse_document_frequencies(df, documents))


def _half(values: Floats) -> Floats:
    """Rounded as in files, so that a ranker is trained with exactly the numbers that it will load."""
    return values.astype(np.float16).astype(np.float32)


def _lookup(table: Floats, ids: Ints) -> Floats:
    return np.where(ids >= 0, table[np.maximum(ids, 0)], table.max()).astype(np.float32)


def _word2vec(
    sentences: list[list[str]], kept: list[str], dimensions: int, min_count: int, seed: int
) -> Floats:
    # Imported here: gensim is in the extra `train`, and answering does not need it.
    from gensim.models import Word2Vec

    model = Word2Vec(
        sentences, vector_size=dimensions, window=5, min_count=min_count, sg=1, seed=seed, workers=2, epochs=5
    )
    return _half(np.stack([model.wv[word] for word in kept]))


def leave_to_package(folder: Path) -> dict[str, str] | None:
    """Delete the vocabulary's files of ``folder`` if the package has the same.

    Returns what a ranker's config names it by, for ``shared_folder``; None for any other vocabulary.
    """
    fingerprint = files_fingerprint(folder)
    shared = bundled.WEIGHTS / f"vocabulary-{fingerprint[:8]}"
    if not shared.is_dir() or files_fingerprint(shared) != fingerprint:
        return None
    for name in FILES:
        (folder / name).unlink()
    return {"folder": shared.name, "sha256": fingerprint}


def shared_folder(folder: Path, named: object) -> Path:
    """The folder of a vocabulary that rankers share, as the config of one of them, in ``folder``, names it.

    It lies beside the ranker's folder or in the package. Raises VocabularyError.
    """
    match named:
        case {"folder": str(name), "sha256": str(wanted)} if name and name == Path(name).name:
            pass
        case _:
            raise VocabularyError(f"{folder / 'config.json'}: vocabulary {named!r} names no folder beside it")
    # A copy of a bundled ranker elsewhere finds its vocabulary in the package.
    shared = next((p for p in (folder.parent / name, bundled.WEIGHTS / name) if p.is_dir()), None)
    if shared is None:
        raise VocabularyError(
            f"{folder}: its vocabulary {name} is not beside it, and this version of bioqa has no such one: "
            f"copy the folder {name} from where the ranker was trained, or from its version of bioqa"
        )
    if missing := [name for name in FILES if not (shared / name).is_file()]:
        raise VocabularyError(f"{folder}: not a checkpoint, it lacks {', '.join(missing)} in {shared}")
    if (frequencies := files_fingerprint(shared)) != wanted:
        raise VocabularyError(
            f"{folder}: trained with a vocabulary of SHA-256 {wanted}, but {shared} has {frequencies}"
        )
    return shared
