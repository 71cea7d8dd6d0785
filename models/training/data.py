"""Questions with gold, prepared for training and measuring: candidates, features, labels."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bioqa.bioasq.domain import PUBMED_URL, Candidate, Document, Response
from bioqa.models.answers.labels import sentence_labels
from bioqa.models.arrays import Booleans
from bioqa.models.encoders.reading import Reader
from bioqa.models.features.extractor import FeatureExtractor, Features, Scaling
from bioqa.models.rankers.batch import Example, make_example
from bioqa.models.rankers.registry import ARCHITECTURES
from bioqa.models.rankers.settings import RankerSettings
from bioqa.models.text.documents import DocumentTokens
from bioqa.models.text.tokens import TokenisedDocument, TokenisedQuestion, tokenise_question
from bioqa.models.text.vocabulary import Vocabulary


class Searcher(Protocol):
    """The part of a search index that training needs."""

    def search(self, question: str, size: int = 100) -> list[Candidate]: ...

    def get(self, pmids: Sequence[str]) -> Mapping[str, Document]: ...


@dataclass(frozen=True, slots=True)
class Pool:
    """Documents of one question, with features before scaling and gold labels."""

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
    """The candidates of the first stage."""
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
    """Retrieve ``size`` candidates a question and compute their features."""
    tokens = DocumentTokens(vocabulary, capacity=1 << 20)
    extract = FeatureExtractor(vocabulary)
    prepared = []
    for done, response in enumerate(responses, 1):
        question = tokenise_question(response.question.body, vocabulary)
        retrieved = index.search(response.question.body, size)
        floor = min((candidate.score for candidate in retrieved), default=0.0)
        scores = {candidate.document.url: candidate.score for candidate in retrieved}
        gold_ids = dict.fromkeys(url.removeprefix(PUBMED_URL) for url in response.documents)
        held = index.get(list(gold_ids))
        gold = [Candidate(held[pmid], scores.get(held[pmid].url, floor)) for pmid in gold_ids if pmid in held]
        pools = [_pool(question, group, response, tokens, extract) for group in (retrieved, gold)]
        prepared.append(Prepared(response, question, *pools))
        progress(done, len(responses))
    return prepared


def _pool(
    question: TokenisedQuestion,
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
        extract(question, tokenised, bm25),
        np.array([document.url in gold for document in documents], dtype=np.bool_),
        np.concatenate([np.zeros(0, dtype=np.bool_), *labels]),
    )


def scaling_of(prepared: Iterable[Prepared]) -> Scaling:
    """Scaling by the retrieved documents of the training questions."""
    return Scaling.of([p.retrieved.features for p in prepared])


def fingerprint(questions: Iterable[Prepared]) -> str:
    """SHA-256 of what can be learned from the questions: texts, candidates, gold documents and snippets.

    Features follow from these and the vocabulary. They are not hashed, because their last digits depend on
    the machine.
    """
    digest = hashlib.sha256()
    for question in questions:
        response = question.response
        digest.update(repr((response.question, response.documents, response.snippets)).encode())
        for pool in (question.retrieved, question.gold):
            for candidate in pool.candidates:
                document = candidate.document
                spans = ",".join(f"{s.section}{s.begin}-{s.end}" for s in document.sentences)
                texts = (document.url, f"{candidate.score:.3f}", spans, document.title, document.abstract)
                digest.update("\0".join(texts).encode("utf-8", "surrogatepass"))
            digest.update(pool.relevant.tobytes() + pool.labels.tobytes())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class RankerInputs:
    """Turns questions into the input of one ranker."""

    settings: RankerSettings
    vocabulary: Vocabulary
    scaling: Scaling
    reader: Reader | None = None
    """For a ranker over an encoder."""

    @property
    def documents_only(self) -> bool:
        """Whether the ranker gives sentences no scores."""
        return ARCHITECTURES[self.settings.ranker].units != "sentences"

    def example(self, prepared: Prepared, pool: Pool) -> Example:
        """``pool``: of ``prepared``."""
        pieces = None
        if self.reader is not None:
            documents = [candidate.document for candidate in pool.candidates]
            pieces = self.reader(prepared.response.question.body, documents)
        features = self.scaling.apply(pool.features, self.settings.reading.features)
        units = ARCHITECTURES[self.settings.ranker].units
        return make_example(
            units,
            self.settings.reading,
            prepared.question,
            pool.tokens,
            features,
            pieces,
            self.vocabulary.stop_ids,
        )
