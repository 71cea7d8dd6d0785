"""Questions with gold made ready for training and measuring: candidates, features, labels."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

import numpy as np

from bioqa.bioasq.domain import PUBMED_URL, Candidate, Document, Response
from bioqa.models.arrays import Booleans
from bioqa.models.encoders.reading import Reader
from bioqa.models.features.extractor import FeatureExtractor, Features, Scaling
from bioqa.models.rankers.batch import Example, document_example, sentence_example
from bioqa.models.rankers.registry import RANKERS, RankerSettings
from bioqa.models.text.tokens import DocumentTokens, TokenisedDocument, TokenisedQuestion, tokenise_question
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.labels import sentence_labels


class Searcher(Protocol):
    """The part of a search index that training needs."""

    def search(
        self, question: str, size: int = 100, published_before: date | None = None
    ) -> list[Candidate]: ...

    def get(self, pmids: Sequence[str]) -> Mapping[str, Document]: ...


@dataclass(frozen=True, slots=True)
class Pool:
    """Documents of one question, with features not yet scaled and what is gold among them."""

    candidates: tuple[Candidate, ...]
    tokens: tuple[TokenisedDocument, ...]
    features: Features
    relevant: Booleans
    """[documents]"""
    labels: Booleans
    """[sentences of all documents]"""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question with gold."""

    response: Response
    question: TokenisedQuestion
    retrieved: Pool
    """What the first stage found."""
    gold: Pool
    """The gold documents that the index holds, retrieved or not: for the AUC of sentences within them."""


def prepare(
    index: Searcher,
    responses: Sequence[Response],
    vocabulary: Vocabulary,
    *,
    size: int = 100,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Prepared]:
    """Retrieves ``size`` candidates a question and computes their features."""
    tokens = DocumentTokens(vocabulary, capacity=1 << 20)
    extract = FeatureExtractor(vocabulary)
    prepared = []
    for done, response in enumerate(responses, 1):
        asked = tokenise_question(response.question.body, vocabulary)
        found = index.search(response.question.body, size)
        floor = min((candidate.score for candidate in found), default=0.0)
        scores = {candidate.document.url: candidate.score for candidate in found}
        gold_ids = dict.fromkeys(url.removeprefix(PUBMED_URL) for url in response.documents)
        held = index.get(list(gold_ids))
        gold = [Candidate(held[pmid], scores.get(held[pmid].url, floor)) for pmid in gold_ids if pmid in held]
        pools = [_pool(asked, group, response, tokens, extract) for group in (found, gold)]
        prepared.append(Prepared(response, asked, *pools))
        progress(done, len(responses))
    return prepared


def _pool(
    asked: TokenisedQuestion,
    candidates: Sequence[Candidate],
    response: Response,
    tokens: DocumentTokens,
    extract: FeatureExtractor,
) -> Pool:
    documents = [candidate.document for candidate in candidates]
    tokenised = tuple(tokens(documents))
    bm25 = np.array([candidate.score for candidate in candidates], dtype=np.float32)
    gold = frozenset(response.documents)
    labels = [sentence_labels(document, response.snippets) for document in documents]
    return Pool(
        tuple(candidates),
        tokenised,
        extract(asked, tokenised, bm25),
        np.array([document.url in gold for document in documents], dtype=np.bool_),
        np.concatenate([np.zeros(0, dtype=np.bool_), *labels]),
    )


def scaling_of(prepared: Iterable[Prepared]) -> Scaling:
    """From the retrieved documents of the training questions."""
    return Scaling.of([p.retrieved.features for p in prepared])


def example_of(
    prepared: Prepared,
    pool: Pool,
    settings: RankerSettings,
    scaling: Scaling,
    reader: Reader | None = None,
) -> Example:
    """What a ranker of these settings reads; ``pool``: of ``prepared``."""
    make = sentence_example if RANKERS[settings.ranker].units == "sentences" else document_example
    pieces = None
    if reader is not None:
        documents = [candidate.document for candidate in pool.candidates]
        pieces = reader(prepared.response.question.body, documents)
    return make(prepared.question, pool.tokens, scaling.apply(pool.features, settings.features), pieces)
