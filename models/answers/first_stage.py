"""BM25 of documents with a checkpoint's own IDF: a first stage for texts from outside an index."""

from collections.abc import Sequence

import numpy as np

from bioqa.bioasq.domain import Candidate, Document
from bioqa.models.arrays import Floats, concatenate
from bioqa.models.features.matching import bm25_scores, match
from bioqa.models.text.tokens import (
    TokenisedDocument,
    TokenisedQuestion,
    tokenise_documents,
    tokenise_question,
)
from bioqa.models.text.vocabulary import Vocabulary

INDEX_K1, INDEX_B = 1.2, 0.75
"""The embedded index's constants: the bundled rankers were trained with its scores."""


def document_bm25(
    question: TokenisedQuestion,
    documents: Sequence[TokenisedDocument],
    vocabulary: Vocabulary,
    k1: float = INDEX_K1,
    b: float = INDEX_B,
) -> Floats:
    """[documents] BM25 of the stems of title and abstract together."""
    stems = concatenate(tokens.stems for tokens in documents)
    lengths = np.array([len(tokens.stems) for tokens in documents], dtype=np.int64)
    matches = match(question.stems, stems, lengths)
    idf = vocabulary.stem_idf_of(matches.distinct)
    return bm25_scores(matches.counts, lengths, idf, vocabulary.means.document_stems, k1, b)


def bm25_candidates(question: str, documents: Sequence[Document], vocabulary: Vocabulary) -> list[Candidate]:
    """The documents in the order given, with the scores that an index would have given them."""
    tokens = tokenise_documents(documents, vocabulary)
    scores = document_bm25(tokenise_question(question, vocabulary), tokens, vocabulary)
    return [Candidate(document, score) for document, score in zip(documents, scores.tolist(), strict=True)]
