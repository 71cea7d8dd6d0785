"""The extra features against their definitions, worked out from texts with loops."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bioqa.bioasq.domain import Document, Response
from bioqa.models.features.extractor import DOCUMENT_FEATURES as ALL_DOCUMENT_FEATURES
from bioqa.models.features.extractor import SENTENCE_FEATURES as ALL_SENTENCE_FEATURES
from bioqa.models.features.extractor import FeatureExtractor, Features, Scaling, feature_counts, z_scores
from bioqa.models.text.tokens import tokenise_documents, tokenise_question
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.text.words import STOP_WORDS, stem, terms, words
from tests.models.toys import DOCUMENTS, GOLDEN, document, vocabulary_of

# The soft ones, which need word pieces, are tested in test_soft.
DOCUMENT_FEATURES, SENTENCE_FEATURES = ALL_DOCUMENT_FEATURES[:16], ALL_SENTENCE_FEATURES[:19]

WORDS = ("zelosis", "velorin", "gene", "genes", "il-2", "the", "of", "cures", "rare")
"""Of these the vocabulary knows all but the last two and ``of``."""
VOCABULARY = vocabulary_of(WORDS[:6])


def _extract(
    question: str, documents: Sequence[Document], bm25: Sequence[float], known: Vocabulary
) -> Features:
    return FeatureExtractor(known)(
        tokenise_question(question, known),
        [tokenise_documents([d], known)[0] for d in documents],
        np.array(bm25, dtype=np.float32),
    )


def _idf(word: str, known: Vocabulary) -> float:
    return float(known.idf[known.word_ids[word]] if word in known.word_ids else known.idf.max())


def _stem_idf(name: str, known: Vocabulary) -> float:
    numbers = [i for term, i in zip(known.terms, known.term_stems, strict=True) if stem(term) == name]
    return float(known.stem_idf[numbers[0]] if numbers else known.stem_idf.max())


def _stems(text: str) -> list[str]:
    return [stem(term) for term in terms(text) if stem(term)]


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _bigrams(tokens: list[str]) -> set[tuple[str, str]]:
    return set(pairwise(tokens))


def _lexical(question: str, text: str, characters: int, mean: float, known: Vocabulary) -> dict[str, float]:
    asked, tokens = words(question), words(text)
    distinct = set(asked)
    common = distinct & set(tokens)
    content = common - STOP_WORDS
    total = sum(_idf(w, known) for w in distinct)
    common_idf = sum(_idf(w, known) for w in common)
    bm25 = 0.0
    for word in common:
        tf = tokens.count(word) / len(tokens)
        norm = 1.2 * (0.25 + 0.75 * len(tokens) / mean)
        bm25 += _idf(word, known) * tf * 2.2 / (tf + norm)
    return {
        "word_share": _share(len(common), len(distinct)),
        "bigram_share": _share(len(_bigrams(asked) & _bigrams(tokens)), len(_bigrams(asked))),
        "idf_share": _share(common_idf, total),
        "words": len(tokens),
        "question_characters": len(question.strip()),
        "characters": characters,
        "common_content_words": len(content),
        "bm25": bm25,
        "common_content_idf": sum(_idf(w, known) for w in content),
        "common_idf_share": _share(common_idf, total),
    }


def _stemmed_bm25(question: str, found: list[str], mean: float, k1: float, known: Vocabulary) -> float:
    score = 0.0
    for name in set(_stems(question)) & set(found):
        tf = found.count(name)
        norm = k1 * (0.25 + 0.75 * len(found) / mean)
        score += _stem_idf(name, known) * tf * (k1 + 1) / (tf + norm)
    return score


def _stem_share(question: str, found: list[str], known: Vocabulary) -> float:
    distinct = set(_stems(question))
    return _share(
        sum(_stem_idf(s, known) for s in distinct & set(found)), sum(_stem_idf(s, known) for s in distinct)
    )


def _sentences(question: str, source: Document, known: Vocabulary) -> list[dict[str, float]]:
    texts = [source.sentence_text(s) for s in source.sentences]
    mean = known.means.sentence_stems
    scores = [_stemmed_bm25(question, _stems(t), mean, 1.2, known) for t in texts]
    in_abstract = [i for i, s in enumerate(source.sentences) if s.section == "abstract"]
    rows = []
    for i, text in enumerate(texts):
        place = in_abstract.index(i) if i in in_abstract else None
        rows.append(
            {
                **_lexical(question, text, len(text), known.means.sentence_words, known),
                "stemmed_bm25": scores[i],
                "stemmed_bm25_of_best": _share(scores[i], max(scores)),
                "stemmed_idf_share": _stem_share(question, _stems(text), known),
                "before_stemmed_bm25": scores[i - 1] if i > 0 else 0.0,
                "after_stemmed_bm25": scores[i + 1] if i + 1 < len(texts) else 0.0,
                "title": float(place is None),
                "first_of_abstract": float(place == 0),
                "last_of_abstract": float(place == len(in_abstract) - 1 if place is not None else False),
                "position": 0.0 if place is None else (place + 1) / len(in_abstract),
            }
        )
    return rows


def _z(values: Sequence[float]) -> list[float]:
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))
    return [(v - mean) / deviation if deviation > 1e-9 else v for v in values]


def _documents(
    question: str, documents: Sequence[Document], bm25: Sequence[float], known: Vocabulary
) -> list[dict[str, float]]:
    texts = [" ".join(d.sentence_text(s) for s in d.sentences) for d in documents]
    tuned = [_stemmed_bm25(question, _stems(t), known.means.document_stems, 0.6, known) for t in texts]
    rows = []
    for d, text, norm, norm_tuned in zip(documents, texts, _z(bm25), _z(tuned), strict=True):
        characters = sum(s.end - s.begin for s in d.sentences)
        of_sentences = [row["stemmed_bm25"] for row in _sentences(question, d, known)]
        rows.append(
            {
                **_lexical(question, text, characters, known.means.document_words, known),
                "norm_bm25": norm,
                "sentences": len(d.sentences),
                "norm_stemmed_bm25": norm_tuned,
                "stemmed_idf_share": _stem_share(question, _stems(text), known),
                "title_stemmed_idf_share": _stem_share(question, _stems(d.title), known),
                "best_sentence_stemmed_bm25": max(of_sentences, default=0.0),
                "without_abstract": float(not d.abstract),
            }
        )
    return rows


def _check(question: str, documents: Sequence[Document], bm25: Sequence[float], known: Vocabulary) -> None:
    found = _extract(question, documents, bm25, known)
    by_document = _documents(question, documents, bm25, known)
    by_sentence = [row for d in documents for row in _sentences(question, d, known)]
    for names, rows, values in (
        (DOCUMENT_FEATURES, by_document, found.documents),
        (SENTENCE_FEATURES, by_sentence, found.sentences),
    ):
        assert values.shape == (len(rows), len(names))
        assert values.dtype == np.float32
        for column, name in enumerate(names):
            expected = [row[name] for row in rows]
            np.testing.assert_allclose(values[:, column], expected, rtol=2e-4, atol=2e-4, err_msg=name)


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.question.body)
def test_toy_documents(golden: Response, vocabulary: Vocabulary) -> None:
    question = golden.question.body
    _check(question, DOCUMENTS, [float(i % 7) for i in range(len(DOCUMENTS))], vocabulary)


_TEXT = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
_DOCUMENT = st.tuples(_TEXT, st.lists(_TEXT.filter(bool), max_size=3))


@settings(max_examples=40)
@given(_TEXT, st.lists(_DOCUMENT, min_size=1, max_size=4))
def test_any_documents(question: str, texts: list[tuple[str, list[str]]]) -> None:
    documents = [document(i, title, *sentences) for i, (title, sentences) in enumerate(texts, 1)]
    _check(question, documents, [1.5 * (i % 3) for i in range(len(documents))], VOCABULARY)


def test_no_documents(vocabulary: Vocabulary) -> None:
    found = _extract("Which drug?", [], [], vocabulary)
    assert found.documents.shape == (0, len(DOCUMENT_FEATURES))
    assert found.sentences.shape == (0, len(SENTENCE_FEATURES))


def test_one_documents_features_do_not_depend_on_the_others_but_for_the_z_scores(
    vocabulary: Vocabulary,
) -> None:
    together = _extract("Which drug cures zelosis?", DOCUMENTS[:4], [4, 3, 2, 1], vocabulary)
    alone = _extract("Which drug cures zelosis?", DOCUMENTS[2:3], [2], vocabulary)
    of_pool = [i for i, name in enumerate(DOCUMENT_FEATURES) if name.startswith("norm_")]
    assert np.delete(together.documents[2], of_pool) == pytest.approx(np.delete(alone.documents[0], of_pool))
    begin = sum(len(d.sentences) for d in DOCUMENTS[:2])
    np.testing.assert_allclose(
        together.sentences[begin : begin + len(DOCUMENTS[2].sentences)], alone.sentences, rtol=1e-6
    )


def test_z_scores_are_of_the_population_and_raw_where_all_are_equal() -> None:
    assert z_scores(np.array([1.0, 3.0])).tolist() == [-1.0, 1.0]
    assert z_scores(np.array([2.5, 2.5])).tolist() == [2.5, 2.5]
    assert z_scores(np.array([7.0])).tolist() == [7.0]
    assert z_scores(np.zeros(0)).tolist() == []


def test_scaling_gives_the_training_data_mean_nought_and_deviation_one() -> None:
    generator = np.random.default_rng(0)
    parts = [Features(generator.normal(3, 2, (n, 2)), generator.normal(-1, 5, (2 * n, 3))) for n in (5, 20)]
    parts[0].sentences[:, 2] = parts[1].sentences[:, 2] = 4.0
    scaling = Scaling.of(parts)
    scaled = [scaling.apply(part, "extended") for part in parts]
    for name in ("documents", "sentences"):
        values = np.concatenate([getattr(part, name) for part in scaled])
        np.testing.assert_allclose(values.mean(axis=0), 0, atol=1e-12)
        varying = values[:, :2]
        np.testing.assert_allclose(varying.std(axis=0), 1)
    assert (scaled[0].sentences[:, 2] == 0).all()


def test_the_papers_features_are_the_first() -> None:
    assert feature_counts("paper") == (11, 10)
    assert feature_counts("extended") == (len(DOCUMENT_FEATURES), len(SENTENCE_FEATURES)) == (16, 19)
    assert DOCUMENT_FEATURES[10] == SENTENCE_FEATURES[9] == "common_idf_share"
