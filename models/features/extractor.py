"""The extra features of documents and sentences, for one question and all its candidates at once.

``PAPER`` are those of Pappas and Androutsopoulos 2021 (Section 2.2 and the authors' settings: 11 for
documents, 10 for sentences); ``EXTENDED`` adds stemmed BM25 and the sentence's place in its document.
Where the authors divide by maxima of their corpus, the features here are standardised with means and
deviations of the training data (``Scaling``), which a checkpoint carries. ``SOFT`` adds matches of words that
are alike (bioqa.models.features.soft), for which the vocabulary must have word pieces. ``EXTRA`` are the four
of McDonald et al. 2018 (Section 4.1), ``OVERLAP`` those of them that do not need a first stage.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bioqa.models.arrays import Booleans, Floats, Ints, concatenate
from bioqa.models.features.matching import Matches, bm25_scores, find, weighted_sums
from bioqa.models.features.soft import SOFT_DOCUMENT_FEATURES, SOFT_SENTENCE_FEATURES, soft_features
from bioqa.models.text.tokens import TokenisedDocument, TokenisedQuestion
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.text.words import STOP_WORDS

FeatureSet = Literal["paper", "extended", "soft", "extra", "overlap", "none"]

SENTENCE_FEATURES = (
    "word_share",
    "bigram_share",
    "idf_share",
    "words",
    "question_characters",
    "characters",
    "common_content_words",
    "bm25",
    "common_content_idf",
    "common_idf_share",
    # The extended set:
    "stemmed_bm25",
    "stemmed_bm25_of_best",
    "stemmed_idf_share",
    "before_stemmed_bm25",
    "after_stemmed_bm25",
    "title",
    "first_of_abstract",
    "last_of_abstract",
    "position",
    # The soft set:
    *SOFT_SENTENCE_FEATURES,
)
DOCUMENT_FEATURES = (
    "word_share",
    "bigram_share",
    "idf_share",
    "norm_bm25",
    "sentences",
    "question_characters",
    "characters",
    "common_content_words",
    "bm25",
    "common_content_idf",
    "common_idf_share",
    # The extended set:
    "norm_stemmed_bm25",
    "stemmed_idf_share",
    "title_stemmed_idf_share",
    "best_sentence_stemmed_bm25",
    "without_abstract",
    # The soft set:
    *SOFT_DOCUMENT_FEATURES,
)
_COUNTS: dict[FeatureSet, tuple[int, int]] = {
    "paper": (11, 10),
    "extended": (16, 19),
    "soft": (len(DOCUMENT_FEATURES), len(SENTENCE_FEATURES)),
    # For rankers of documents alone: the first of the list above.
    "extra": (4, 0),
    "overlap": (3, 0),
    "none": (0, 0),
}


def feature_counts(features: FeatureSet) -> tuple[int, int]:
    """How many features a document and a sentence have."""
    return _COUNTS[features]


@dataclass(frozen=True, slots=True)
class Features:
    documents: Floats
    """[documents, features] in the order of DOCUMENT_FEATURES, not scaled."""
    sentences: Floats
    """[sentences of all documents, features] in the order of SENTENCE_FEATURES, not scaled."""


def stemmed_bm25(features: Features) -> Floats:
    """[sentences of all documents] Their lexical scores, used where a ranker scores documents alone."""
    scores: Floats = features.sentences[:, SENTENCE_FEATURES.index("stemmed_bm25")]
    return scores


class FeatureExtractor:
    """Computes features with a vocabulary's statistics; the soft ones only if it has word pieces."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._stop_ids = np.array(sorted(vocabulary.word_ids[word] for word in STOP_WORDS), dtype=np.int64)

    def __call__(
        self, question: TokenisedQuestion, documents: Sequence[TokenisedDocument], bm25: Floats
    ) -> Features:
        """``bm25`` [documents]: the first stage's scores of all candidates, for norm_bm25."""
        sentence_counts = np.array([len(d.word_counts) for d in documents], dtype=np.int64)
        word_counts = concatenate(d.word_counts for d in documents)
        stem_counts = concatenate(d.stem_counts for d in documents)
        characters = concatenate(d.characters for d in documents)
        titles = np.concatenate([np.empty(0, dtype=np.bool_), *(d.titles for d in documents)])
        words = concatenate(d.words for d in documents)
        stems = concatenate(d.stems for d in documents)
        owner = np.repeat(np.arange(len(documents)), sentence_counts)

        found_words, found_stems = find(question.words, words), find(question.stems, stems)
        word_matches = found_words.in_units(word_counts)
        stem_matches = found_stems.in_units(stem_counts)
        sentence_lexical = self._lexical(question, word_matches, word_counts, characters, "sentence")
        stemmed = self._stemmed_bm25(stem_matches, stem_counts, self._vocabulary.means.sentence_stems, 1.2)
        stem_share = self._idf_share(stem_matches)
        sentences = np.stack(
            [
                *sentence_lexical,
                *_places(stemmed, stem_share, owner, sentence_counts, titles),
            ],
            axis=1,
        )

        document_words = _sum_by(owner, word_counts, len(documents))
        document_stems = _sum_by(owner, stem_counts, len(documents))
        of_words = found_words.in_units(document_words)
        of_stems = found_stems.in_units(document_stems)
        of_titles = Matches(
            _sum_rows(owner, stem_matches.counts * titles, len(documents)),
            np.zeros(0, dtype=np.float32),
            stem_matches.distinct,
            0,
        )
        document_characters = _sum_by(owner, characters, len(documents))
        lexical = self._lexical(question, of_words, document_words, document_characters, "document")
        tuned = self._stemmed_bm25(of_stems, document_stems, self._vocabulary.means.document_stems, 0.6)
        documents_matrix = np.stack(
            [
                *lexical[:3],
                z_scores(bm25),
                sentence_counts.astype(np.float32),
                *lexical[4:],
                z_scores(tuned),
                self._idf_share(of_stems),
                self._idf_share(of_titles),
                _best_by(owner, stemmed, len(documents)),
                (_sum_by(owner, (~titles).astype(np.int64), len(documents)) == 0).astype(np.float32),
            ],
            axis=1,
        )
        features = Features(documents_matrix.astype(np.float32), sentences.astype(np.float32))
        pieces = self._vocabulary.pieces
        if pieces is None:
            return features
        of_documents, of_sentences = soft_features(question, documents, pieces)
        return Features(
            np.hstack([features.documents, of_documents]), np.hstack([features.sentences, of_sentences])
        )

    def _lexical(
        self,
        question: TokenisedQuestion,
        matches: Matches,
        lengths: Ints,
        characters: Ints,
        unit: Literal["sentence", "document"],
    ) -> list[Floats]:
        """The ten features that the paper computes of a sentence, and of a document's whole text."""
        present = matches.counts > 0
        idf = self._vocabulary.idf_of(matches.distinct)
        content = ~np.isin(matches.distinct, self._stop_ids)
        total_idf = max(float(idf.sum()), 1e-6)
        common_idf = weighted_sums(idf, present)
        means = self._vocabulary.means
        mean = means.sentence_words if unit == "sentence" else means.document_words
        relative = matches.counts / np.maximum(lengths, 1)
        return [
            present.sum(axis=0) / max(len(matches.distinct), 1),
            matches.bigrams / max(matches.distinct_bigrams, 1),
            common_idf / total_idf,
            lengths.astype(np.float32),
            np.full(len(lengths), question.characters, dtype=np.float32),
            characters.astype(np.float32),
            weighted_sums(content.astype(np.float32), present),
            bm25_scores(relative, lengths, idf, mean, 1.2, 0.75),
            weighted_sums(idf * content, present),
            common_idf / total_idf,
        ]

    def _stemmed_bm25(self, matches: Matches, lengths: Ints, mean: float, k1: float) -> Floats:
        idf = self._vocabulary.stem_idf_of(matches.distinct)
        return bm25_scores(matches.counts, lengths, idf, mean, k1, 0.75)

    def _idf_share(self, matches: Matches) -> Floats:
        idf = self._vocabulary.stem_idf_of(matches.distinct)
        return weighted_sums(idf, matches.counts > 0) / max(float(idf.sum()), 1e-6)


def z_scores(scores: Floats) -> Floats:
    """Population z-scores; the scores themselves if all are equal."""
    if not len(scores):
        return scores
    deviation = float(scores.std())
    return scores if deviation < 1e-9 else (scores - scores.mean()) / deviation


def _places(
    stemmed: Floats, share: Floats, owner: Ints, sentence_counts: Ints, titles: Booleans
) -> list[Floats]:
    """The extended sentence features: stemmed BM25 of it, its neighbours and the best; its position."""
    n = len(stemmed)
    best = _best_by(owner, stemmed, len(sentence_counts))[owner]
    same = owner[1:] == owner[:-1]
    before, after = np.zeros(n, dtype=np.float32), np.zeros(n, dtype=np.float32)
    before[1:] = stemmed[:-1] * same
    after[:-1] = stemmed[1:] * same
    starts = np.cumsum(sentence_counts) - sentence_counts
    title_counts = _sum_by(owner, titles.astype(np.int64), len(sentence_counts))
    index = np.arange(n) - starts[owner] - title_counts[owner]
    in_abstract = (sentence_counts - title_counts)[owner]
    return [
        stemmed,
        stemmed / np.maximum(best, 1e-6),
        share,
        before,
        after,
        titles.astype(np.float32),
        ((index == 0) & ~titles).astype(np.float32),
        ((index == in_abstract - 1) & ~titles).astype(np.float32),
        np.where(titles, 0.0, (index + 1) / np.maximum(in_abstract, 1)).astype(np.float32),
    ]


def _sum_by(owner: Ints, values: Ints, groups: int) -> Ints:
    return np.bincount(owner, weights=values, minlength=groups).astype(np.int64)


def _sum_rows(owner: Ints, values: Floats, groups: int) -> Floats:
    """Sums the columns of [rows, units] by their owner: [rows, groups]."""
    summed = np.zeros((groups, len(values)), dtype=np.float32)
    np.add.at(summed, owner, values.T)
    return summed.T


def _best_by(owner: Ints, values: Floats, groups: int) -> Floats:
    best = np.zeros(groups, dtype=np.float32)
    np.maximum.at(best, owner, values.astype(np.float32))
    return best


@dataclass(frozen=True, slots=True)
class Scaling:
    """Means and standard deviations over the training data, to standardise features with."""

    document_mean: Floats
    document_deviation: Floats
    sentence_mean: Floats
    sentence_deviation: Floats

    @classmethod
    def of(cls, features: Sequence[Features]) -> "Scaling":
        documents = np.concatenate([f.documents for f in features])
        sentences = np.concatenate([f.sentences for f in features])
        return cls(
            documents.mean(axis=0),
            np.maximum(documents.std(axis=0), 1e-3),
            sentences.mean(axis=0),
            np.maximum(sentences.std(axis=0), 1e-3),
        )

    def apply(self, features: Features, used: FeatureSet) -> Features:
        """Standardised features, cut to the set used."""
        documents, sentences = feature_counts(used)
        return Features(
            _standard(features.documents, self.document_mean, self.document_deviation, documents),
            _standard(features.sentences, self.sentence_mean, self.sentence_deviation, sentences),
        )


def _standard(values: Floats, mean: Floats, deviation: Floats, count: int) -> Floats:
    standard: Floats = (values[:, :count] - mean[:count]) / deviation[:count]
    return standard
