"""Soft matches and their features against their definitions, worked out with loops."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bioqa.bioasq.domain import Document, Response
from bioqa.models.features import soft
from bioqa.models.features.extractor import (
    DOCUMENT_FEATURES,
    SENTENCE_FEATURES,
    FeatureExtractor,
    feature_counts,
)
from bioqa.models.features.soft import SOFT_DOCUMENT_FEATURES, SOFT_SENTENCE_FEATURES, soft_features
from bioqa.models.text.tokens import tokenise_documents, tokenise_question
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.text.words import STOP_WORDS, terms
from tests.models.toys import DOCUMENTS, GOLDEN, document, pieces_of, vocabulary_of

WORDS = ("zelosis", "velorin", "gene", "genes", "il", "2", "the", "of", "cures", "rare")
PIECES = pieces_of(("zel", "##osis", "velorin", "gene", "##s", "il", "2", "the", "cures", "r", "##a", "##re"))
VOCABULARY = replace(vocabulary_of(WORDS), pieces=PIECES)


def _pieces(text: str) -> list[int]:
    return [*chain.from_iterable(PIECES.splits[term] for term in terms(text))]


def _closest(asked: int, text: str) -> float:
    cosines = [float(PIECES.vectors[asked] @ PIECES.vectors[piece]) for piece in _pieces(text)]
    return max([0.0, *cosines])


def _shares(question: str, text: str) -> tuple[float, float]:
    content = " ".join(term for term in terms(question) if term not in STOP_WORDS)
    asked = set(_pieces(content))
    whole = sum(float(PIECES.idf[piece]) for piece in asked)
    plain, cubic = (
        sum(float(PIECES.idf[piece]) * _closest(piece, text) ** power for piece in asked) / (whole or 1.0)
        for power in (1, 3)
    )
    return plain, cubic


def _check(question: str, documents: Sequence[Document]) -> None:
    of_documents, of_sentences = soft_features(
        tokenise_question(question, VOCABULARY),
        [tokenise_documents([d], VOCABULARY)[0] for d in documents],
        PIECES,
    )
    expected_documents, expected_sentences = [], []
    for source in documents:
        texts = [source.sentence_text(s) for s in source.sentences]
        found = np.array([_shares(question, text) for text in texts]).reshape(-1, 2)
        best = found.max(axis=0, initial=0.0)
        expected_sentences += [[*row, *(row - best)] for row in found]
        expected_documents.append([*_shares(question, " ".join(texts)), *_shares(question, source.title)])
    np.testing.assert_allclose(of_documents, np.array(expected_documents).reshape(-1, 4), atol=1e-5)
    np.testing.assert_allclose(of_sentences, np.array(expected_sentences).reshape(-1, 4), atol=1e-5)


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.question.body)
def test_toy_documents(golden: Response) -> None:
    _check(golden.question.body, DOCUMENTS)


_TEXT = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
_DOCUMENT = st.tuples(_TEXT, st.lists(_TEXT.filter(bool), max_size=3))


@settings(max_examples=40)
@given(_TEXT, st.lists(_DOCUMENT, max_size=4))
def test_any_documents(question: str, texts: list[tuple[str, list[str]]]) -> None:
    _check(question, [document(i, title, *sentences) for i, (title, sentences) in enumerate(texts, 1)])


def test_the_soft_features_come_behind_the_others() -> None:
    question = tokenise_question("Which gene cures zelosis?", VOCABULARY)
    documents = [tokenise_documents([d], VOCABULARY)[0] for d in DOCUMENTS[:3]]
    bm25 = np.array([3.0, 2.0, 1.0], dtype=np.float32)
    found = FeatureExtractor(VOCABULARY)(question, documents, bm25)
    without = FeatureExtractor(replace(VOCABULARY, pieces=None))(question, documents, bm25)
    of_documents, of_sentences = soft_features(question, documents, PIECES)
    np.testing.assert_array_equal(found.documents, np.hstack([without.documents, of_documents]))
    np.testing.assert_array_equal(found.sentences, np.hstack([without.sentences, of_sentences]))
    assert found.documents.dtype == found.sentences.dtype == np.float32
    assert feature_counts("soft") == (found.documents.shape[1], found.sentences.shape[1]) == (20, 23)
    assert DOCUMENT_FEATURES[-4:] == SOFT_DOCUMENT_FEATURES
    assert SENTENCE_FEATURES[-4:] == SOFT_SENTENCE_FEATURES


def test_a_documents_soft_features_do_not_depend_on_the_others() -> None:
    question = tokenise_question("Which gene cures zelosis?", VOCABULARY)
    tokens = [tokenise_documents([d], VOCABULARY)[0] for d in DOCUMENTS[:4]]
    together, alone = soft_features(question, tokens, PIECES), soft_features(question, tokens[2:3], PIECES)
    np.testing.assert_allclose(together[0][2:3], alone[0], rtol=1e-5, atol=1e-6)
    begin = sum(len(d.sentences) for d in DOCUMENTS[:2])
    end = begin + len(DOCUMENTS[2].sentences)
    np.testing.assert_allclose(together[1][begin:end], alone[1], rtol=1e-5, atol=1e-6)


def test_without_word_pieces_documents_have_none() -> None:
    bare: Vocabulary = replace(VOCABULARY, pieces=None)
    assert not len(tokenise_documents([DOCUMENTS[0]], bare)[0].pieces)
    assert not len(tokenise_question("Which gene?", bare).pieces)


@settings(max_examples=60)
@given(st.integers(1, 3000), st.integers(1, 40), st.integers(0, 1000))
def test_cosines_are_those_of_the_whole_vocabulary_to_the_last_bit(
    pieces: int, asked: int, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    of_documents = generator.choice(len(MANY.names), pieces)
    of_question = generator.choice(len(MANY.names), asked, replace=False)
    cosines, rows = soft._cosines(of_question, of_documents, MANY)
    vectors = torch.from_numpy(MANY.vectors)
    whole = (vectors @ vectors[of_question].T).numpy()
    np.testing.assert_array_equal(cosines[rows], whole[of_documents])


MANY = pieces_of(map(str, range(4000)), dimensions=64)
