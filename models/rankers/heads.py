"""Heads on a text ranker's scores: they add extra features, and score documents by their sentences."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from bioqa.models.features.extractor import feature_counts
from bioqa.models.rankers.batch import Batch
from bioqa.models.rankers.settings import RankerSettings, Section


@dataclass(frozen=True, slots=True)
class Scores:
    """Real numbers, higher is better: a logit for each sentence; none if the units are documents."""

    documents: Tensor
    """[D]"""
    sentences: Tensor
    """[S] or [0]"""


@dataclass(frozen=True, slots=True)
class SentenceHeadSettings(Section):
    """Settings of the MLP that joins a sentence's score with its features."""

    sentence_hidden: int = 8
    """Width of the hidden layer."""
    sentence_bias: bool = False
    """Whether the two layers have biases; the paper's have none."""

    POSITIVE = ("sentence_hidden",)


class FeatureHead(nn.Module):
    """[features; score] → 8 (LeakyReLU .1) → 1: the MLP that joins a score with extra features.

    A text ranker over an encoder gives a state of ``width`` numbers instead of a score.
    """

    def __init__(self, features: int, *, bias: bool, width: int = 1, hidden: int = 8) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(features + width, hidden, bias=bias), nn.LeakyReLU(0.1), nn.Linear(hidden, 1, bias=bias)
        )

    def forward(self, features: Tensor, score: Tensor) -> Tensor:
        """[N, features], [N] or [N, width] → [N]"""
        joined: Tensor = self.layers(
            torch.cat([features, score if score.ndim > 1 else score[:, None]], dim=1)
        ).squeeze(1)
        return joined


def sentence_head(settings: RankerSettings, width: int = 1) -> FeatureHead:
    """The head over a sentence ranker whose score, or state, has ``width`` numbers."""
    own = settings.own_as(SentenceHeadSettings)
    features = feature_counts(settings.reading.features)[1]
    return FeatureHead(features, bias=own.sentence_bias, width=width, hidden=own.sentence_hidden)


class Dense(nn.Module):
    """[features; state] → 1: BERT's head for documents (Section 2.4 and Figure 3), BCNN's for sentences."""

    def __init__(self, features: int, width: int) -> None:
        super().__init__()
        self.layer = nn.Linear(features + width, 1)

    def forward(self, features: Tensor, state: Tensor) -> Tensor:
        """[N, features], [N] or [N, width] → [N]"""
        joined = torch.cat([features, state if state.ndim > 1 else state[:, None]], dim=1)
        scores: Tensor = self.layer(joined).squeeze(1)
        return scores


class Score(nn.Module):
    """The head of a ranker without features: the text ranker's score is the score."""

    def forward(self, features: Tensor, score: Tensor) -> Tensor:
        """[N, 0], [N] → [N]"""
        return score


def linear_head(settings: RankerSettings, width: int = 1) -> nn.Module:
    """A linear layer over a document's score and features, if there are any (McDonald et al. 2018, Section
    4.1).
    """
    features = feature_counts(settings.reading.features)[0]
    return Dense(features, width) if features else Score()


class NoText(nn.Module):
    """In place of a text ranker, for a ranker of features alone."""

    def forward(self, batch: Batch) -> Tensor:
        """[S, 0]"""
        return batch.document_features.new_zeros(len(batch.lengths), 0)


class SentenceRanker(nn.Module):
    """A text ranker over sentences with their extra features; a document takes its best sentence's score.

    With PDRMM as the text ranker, the sentence ranker of PDRMM+PDRMM and, for documents, the paper's
    Sentence PDRMM (Pappas and Androutsopoulos 2021, Section 2.2 and Table 1).
    """

    def __init__(self, text_ranker: nn.Module, head: nn.Module) -> None:
        """``head``: FeatureHead, or Dense over BCNN's similarities."""
        super().__init__()
        self.text_ranker = text_ranker
        self.head = head

    def score_sentences(self, batch: Batch) -> Tensor:
        """[S]"""
        scores: Tensor = self.head(batch.sentence_features, self.text_ranker(batch))
        return scores

    def forward(self, batch: Batch) -> Scores:
        sentences = self.score_sentences(batch)
        return Scores(best_of_documents(sentences, batch), sentences)


class DocumentRanker(nn.Module):
    """A text ranker over whole documents with their extra features (Section 2.1): sentences get no score."""

    def __init__(self, text_ranker: nn.Module, head: nn.Module) -> None:
        """``head``: FeatureHead, Dense or Score."""
        super().__init__()
        self.text_ranker = text_ranker
        self.head = head

    def forward(self, batch: Batch) -> Scores:
        documents = self.head(batch.document_features, self.text_ranker(batch))
        return Scores(documents, documents.new_zeros(0))


def best_of_documents(sentences: Tensor, batch: Batch) -> Tensor:
    """[S] → [D]: each document's highest sentence score; 0 for a document without sentences."""
    zeros = sentences.new_zeros(len(batch.document_features))
    return zeros.scatter_reduce(0, batch.unit_document, sentences, "amax", include_self=False)
