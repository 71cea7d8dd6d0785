import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from bioqa.bioasq.domain import Document
from bioqa.models.text.vocabulary import STOP, Means, Vocabulary, VocabularyError
from bioqa.models.text.words import stem, terms, unknown_id
from tests.models.toys import DOCUMENTS, corpus_words, document


@pytest.fixture(scope="module")
def built() -> Vocabulary:
    return Vocabulary.build(DOCUMENTS, dimensions=4, min_count=2, seed=3)


def test_words_are_those_seen_often_enough_the_most_frequent_first(built: Vocabulary) -> None:
    corpus = corpus_words()
    assert set(built.words) == {word for word in corpus if corpus.count(word) >= 2}
    counts = [corpus.count(word) for word in built.words]
    assert counts == sorted(counts, reverse=True)
    assert built.vectors.shape == (len(built.words), 4)
    assert np.isfinite(built.vectors).all()


def test_idf_counts_documents(built: Vocabulary) -> None:
    n = len(DOCUMENTS)
    for word, idf in zip(built.words, built.idf, strict=True):
        df = sum(word in corpus_words([d]) for d in DOCUMENTS)
        assert idf == pytest.approx(math.log(1 + (n - df + 0.5) / (df + 0.5)), rel=1e-3)
    for term, idf in zip(built.terms, built.stem_idf[built.term_stems], strict=True):
        df = sum(stem(term) in map(stem, corpus_terms([d])) for d in DOCUMENTS)
        assert idf == pytest.approx(math.log(1 + (n - df + 0.5) / (df + 0.5)), rel=1e-3)


def test_frequencies_count_all_words_of_the_corpus(built: Vocabulary) -> None:
    corpus = corpus_words()
    expected = [corpus.count(word) / len(corpus) for word in built.words]
    assert built.frequency_of(np.arange(len(built.words))).tolist() == pytest.approx(expected)
    assert sum(expected) < 1
    assert built.frequency_of(np.array([-3])).tolist() == pytest.approx([min(expected)])


def test_without_frequencies_they_are_estimated_and_the_fingerprint_is_as_it_was(
    vocabulary: Vocabulary,
) -> None:
    ids = np.array([0, 3, -1])
    expected = [math.exp(-idf) / vocabulary.means.document_words for idf in vocabulary.idf_of(ids).tolist()]
    assert vocabulary.frequency_of(ids).tolist() == pytest.approx(expected)
    counted = replace(vocabulary, frequencies=np.full(len(vocabulary.words), 0.01, dtype=np.float32))
    assert counted.fingerprint != vocabulary.fingerprint


def corpus_terms(documents: Iterable[Document]) -> list[str]:
    """Without stop words."""
    return [t for d in documents for text in (d.title, d.abstract) for t in terms(text) if stem(t)]


def test_means_for_length_normalisation(built: Vocabulary) -> None:
    sentences = sum(len(d.sentences) for d in DOCUMENTS)
    of_words, of_terms = len(corpus_words()), len(corpus_terms(DOCUMENTS))
    n = len(DOCUMENTS)
    assert built.means == Means(of_words / n, of_words / sentences, of_terms / n, of_terms / sentences)


def test_ids_of_words_and_stems(built: Vocabulary) -> None:
    for word in built.words:
        assert built.words[built.word_ids[word]] == word
    for term in built.terms:
        number = built.term_ids[term]
        assert {stem(t) for t, i in zip(built.terms, built.term_stems, strict=True) if i == number} == {
            stem(term)
        }
    assert built.word_ids["xyzzy"] == unknown_id("xyzzy")
    assert built.term_ids["drugged"] == built.term_ids["drug"]
    assert built.term_ids["xyzzies"] == unknown_id(stem("xyzzies"))
    assert built.term_ids["the"] == STOP


def test_words_that_differ_in_accents_are_one() -> None:
    # Sjögren is the more frequent form, and naive.
    texts = ["Sjögren naïve cells"] * 2 + ["Sjögren naive cells"] + ["Sjogren naive cells"] * 2 + ["naively"]
    documents = [document(str(number), "Title", text) for number, text in enumerate(texts, start=1)]
    built = Vocabulary.build(documents, dimensions=2, min_count=1, seed=1)
    stored = replace(
        built,
        words=("sjögren", "naive", "naïve", "sjogren", "cells"),
        idf=np.arange(5, dtype=np.float32),
        vectors=np.zeros((5, 2), dtype=np.float32),
        terms=("sjögren", "naive", "naïve", "naively", "sjogren", "naïvely"),
        term_stems=np.array([0, 1, 2, 1, 3, 2]),
        stem_idf=np.arange(4, dtype=np.float32),
        frequencies=None,
    )
    for vocabulary in (built, stored):
        for ids, pairs in (
            (vocabulary.word_ids, [("sjogren", "sjogren")]),
            (vocabulary.term_ids, [("naive", "naively")]),
        ):
            assert all(ids[one] == ids[other] >= 0 for one, other in pairs)
    assert (stored.word_ids["sjogren"], stored.word_ids["naive"]) == (0, 1)
    assert (stored.term_ids["sjogren"], stored.term_ids["naive"], stored.term_ids["naively"]) == (0, 1, 1)


def test_an_unknown_word_has_the_highest_idf(built: Vocabulary) -> None:
    ids = np.array([0, unknown_id("xyzzy")])
    assert built.idf_of(ids).tolist() == [built.idf[0], built.idf.max()]
    assert built.stem_idf_of(ids).tolist() == [built.stem_idf[0], built.stem_idf.max()]


def test_the_same_corpus_and_seed_give_the_same_words() -> None:
    first, second = (Vocabulary.build(DOCUMENTS[:8], dimensions=2, min_count=2) for _ in range(2))
    assert first.words == second.words
    assert first.terms == second.terms
    assert first.idf.tolist() == second.idf.tolist()


def _same(left: Vocabulary, right: Vocabulary) -> Iterator[bool]:
    yield left.words == right.words
    yield left.terms == right.terms
    yield left.means == right.means
    for name in ("idf", "vectors", "stem_idf", "term_stems"):
        ours, theirs = getattr(left, name), getattr(right, name)
        yield np.array_equal(ours, theirs)
        yield ours.dtype == theirs.dtype


def test_what_was_built_is_loaded_again_to_the_last_digit(built: Vocabulary, tmp_path: Path) -> None:
    built.save(tmp_path)
    assert all(_same(Vocabulary.load(tmp_path), built))


@pytest.mark.parametrize(
    ("documents", "message"),
    [([], "no documents"), ([document(1, "Only once said.")], "no word occurs 5 times in 1 documents")],
)
def test_a_corpus_too_small(documents: list[Document], message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        Vocabulary.build(documents)


@pytest.mark.parametrize("name", ["vocabulary.txt", "terms.txt", "vocabulary.safetensors"])
def test_a_missing_file_is_named(vocabulary: Vocabulary, tmp_path: Path, name: str) -> None:
    vocabulary.save(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(VocabularyError, match=name):
        Vocabulary.load(tmp_path)


@pytest.mark.parametrize("name", ["vocabulary.txt", "terms.txt"])
def test_lists_that_do_not_fit_the_numbers(vocabulary: Vocabulary, tmp_path: Path, name: str) -> None:
    vocabulary.save(tmp_path)
    with (tmp_path / name).open("a", encoding="utf-8") as file:
        file.write("\nonemore")
    with pytest.raises(VocabularyError, match="files do not fit each other"):
        Vocabulary.load(tmp_path)


def test_numbers_that_are_not_there(vocabulary: Vocabulary, tmp_path: Path) -> None:
    vocabulary.save(tmp_path)
    path = tmp_path / "vocabulary.safetensors"
    tensors = load_file(path)
    del tensors["stem_idf"]
    save_file(tensors, path)
    with pytest.raises(VocabularyError, match="stem_idf"):
        Vocabulary.load(tmp_path)


def test_frequencies_of_other_words(built: Vocabulary, tmp_path: Path) -> None:
    built.save(tmp_path)
    path = tmp_path / "vocabulary.safetensors"
    tensors = load_file(path)
    tensors["frequencies"] = tensors["frequencies"][1:]
    save_file(tensors, path)
    with pytest.raises(VocabularyError, match="files do not fit each other"):
        Vocabulary.load(tmp_path)


def test_text_that_is_not_utf8(vocabulary: Vocabulary, tmp_path: Path) -> None:
    vocabulary.save(tmp_path)
    (tmp_path / "terms.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(VocabularyError, match="utf-8"):
        Vocabulary.load(tmp_path)
