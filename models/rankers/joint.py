"""The joint layers: documents and sentences scored together, around any sentence ranker.

Pappas and Androutsopoulos 2021, Section 2.3 and Figure 2: the best sentence's score and the document's
features make the document's score, which in turn revises the scores of its sentences.
"""

import torch
from torch import nn

from bioqa.models.rankers.batch import Batch
from bioqa.models.rankers.heads import FeatureHead, Scores, SentenceRanker, best_of_documents


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
