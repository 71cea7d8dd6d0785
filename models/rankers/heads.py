"""What stands on a text ranker's score: extra features, and the document's score from its sentences'."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.batch import Batch


@dataclass(frozen=True, slots=True)
class Scores:
    """Real numbers, better higher: a logit for each sentence, none where the units are documents."""

    documents: Tensor
    """[D]"""
    sentences: Tensor
    """[S] or [0]"""


class FeatureHead(nn.Module):
    """[features; score] → 8 (LeakyReLU .1) → 1: the MLP that joins a score with extra features."""

    def __init__(self, features: int, *, bias: bool, hidden: int = 8) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(features + 1, hidden, bias=bias), nn.LeakyReLU(0.1), nn.Linear(hidden, 1, bias=bias)
        )

    def forward(self, features: Tensor, score: Tensor) -> Tensor:
        """[N, features], [N] → [N]"""
        joined: Tensor = self.layers(torch.cat([features, score[:, None]], dim=1)).squeeze(1)
        return joined


class SentenceRanker(nn.Module):
    """A text ranker over sentences with their extra features; a document takes its best sentence's score.

    With PDRMM as the text ranker, the sentence ranker of PDRMM+PDRMM and, for documents, the paper's
    Sentence PDRMM (Pappas and Androutsopoulos 2021, Section 2.2 and Table 1).
    """

    def __init__(self, text_ranker: nn.Module, sentence_features: int) -> None:
        super().__init__()
        self.text_ranker = text_ranker
        self.head = FeatureHead(sentence_features, bias=False)

    def score_sentences(self, batch: Batch) -> Tensor:
        """[S]"""
        scores: Tensor = self.head(batch.sentence_features, self.text_ranker(batch))
        return scores

    def forward(self, batch: Batch) -> Scores:
        sentences = self.score_sentences(batch)
        return Scores(best_of_documents(sentences, batch), sentences)


class DocumentRanker(nn.Module):
    """A text ranker over whole documents with their extra features (Section 2.1): sentences get no score."""

    def __init__(self, text_ranker: nn.Module, document_features: int) -> None:
        super().__init__()
        self.text_ranker = text_ranker
        self.head = FeatureHead(document_features, bias=True)

    def forward(self, batch: Batch) -> Scores:
        documents = self.head(batch.document_features, self.text_ranker(batch))
        return Scores(documents, documents.new_zeros(0))


def best_of_documents(sentences: Tensor, batch: Batch) -> Tensor:
    """[S] → [D]: each document's highest sentence score; 0 for a document without sentences."""
    zeros = sentences.new_zeros(len(batch.document_features))
    return zeros.scatter_reduce(0, batch.unit_document, sentences, "amax", include_self=False)
