"""The joint layers: documents and sentences scored together, around any sentence ranker.

Pappas and Androutsopoulos 2021, Section 2.3 and Figure 2: the best sentence's score and the document's
features make the document's score, which in turn revises the scores of its sentences.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from bioqa.models.features.extractor import feature_counts
from bioqa.models.rankers.batch import Batch
from bioqa.models.rankers.heads import (
    FeatureHead,
    NoText,
    Scores,
    SentenceHeadSettings,
    SentenceRanker,
    best_of_documents,
    sentence_head,
)
from bioqa.models.rankers.settings import Kind, RankerSettings


@dataclass(frozen=True, slots=True)
class JointSettings(SentenceHeadSettings):
    last_layer: bool = True
    """Whether the document's score revises its sentences'."""


class Joint(nn.Module):
    """With PDRMM below, JPDRMM: 5,793 trainable parameters with the paper's features.

    Without ``last_layer`` the sentence scores are not revised, as in one of the authors' published runs.
    """

    def __init__(self, sentence_ranker: SentenceRanker, document_features: int, *, last_layer: bool) -> None:
        super().__init__()
        self.sentence_ranker = sentence_ranker
        self.head = FeatureHead(document_features, bias=True)
        self.last_layer = nn.Linear(2, 1) if last_layer else None

    def forward(self, batch: Batch) -> Scores:
        sentences = self.sentence_ranker.score_sentences(batch)
        documents = self.head(batch.document_features, best_of_documents(sentences, batch))
        if self.last_layer is not None:
            pairs = torch.stack([sentences, documents[batch.unit_document]], dim=1)
            sentences = self.last_layer(pairs).squeeze(1)
        return Scores(documents, sentences)


def joint(
    sentences: Callable[[RankerSettings, nn.Module], SentenceRanker],
) -> Callable[[RankerSettings, nn.Module], nn.Module]:
    """Builds the joint layers around what ``sentences`` builds."""

    def build_joint(settings: RankerSettings, below: nn.Module) -> nn.Module:
        documents = feature_counts(settings.reading.features)[0]
        last_layer = settings.own_as(JointSettings).last_layer
        return Joint(sentences(settings, below), documents, last_layer=last_layer)

    return build_joint


def _features_alone(settings: RankerSettings, vectors: nn.Module) -> SentenceRanker:
    return SentenceRanker(NoText(), sentence_head(settings, 0))


KINDS = {"features": Kind("Features only", "ours", "sentences", joint(_features_alone), JointSettings())}
