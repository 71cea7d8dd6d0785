"""Losses over the documents and the sentences of pairs."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, log_softmax, relu

from bioqa.models.rankers.batch import Batch
from bioqa.models.rankers.heads import Scores
from bioqa.models.rankers.settings import DocumentLoss


def hinge_loss(documents: Tensor) -> Tensor:
    """[pairs, 1 + irrelevant], the relevant document first: mean of max(0, 1 - relevant + irrelevant)."""
    return relu(1.0 - documents[:, :1] + documents[:, 1:]).mean()


def softmax_loss(documents: Tensor) -> Tensor:
    """[pairs, 1 + irrelevant], the relevant document first: mean of -log of its softmax."""
    return -log_softmax(documents, dim=1)[:, 0].mean()


def pointwise_loss(documents: Tensor) -> Tensor:
    """[pairs, 1 + irrelevant], the relevant document first: mean cross-entropy of each document alone."""
    labels = torch.zeros_like(documents)
    labels[:, 0] = 1.0
    return binary_cross_entropy_with_logits(documents, labels)


def graded_loss(documents: Tensor, grades: Tensor | None = None) -> Tensor:
    """``pointwise_loss``, each document weighted by max(1, ln(1 + grade)): Mohan et al. 2017, Section 4.6.

    ``grades`` [pairs, 1 + irrelevant] from 0; None: binary gold, whose grades are 1 and 0.
    """
    relevant = torch.zeros_like(documents)
    relevant[:, 0] = 1.0
    weights = torch.log1p(relevant if grades is None else grades).clamp(min=1.0)
    return binary_cross_entropy_with_logits(documents, relevant, weights)


DOCUMENT_LOSSES: dict[DocumentLoss, Callable[[Tensor], Tensor]] = {
    "hinge": hinge_loss,
    "softmax": softmax_loss,
    "pointwise": pointwise_loss,
    "graded": graded_loss,
}


def cross_entropy_loss(
    sentences: Tensor, labels: Tensor, pairs: int, weights: Tensor | None = None
) -> Tensor:
    """Sum over both documents' sentences (Pappas and Androutsopoulos 2021, Section 2.3), mean over pairs."""
    return binary_cross_entropy_with_logits(sentences, labels, weights, reduction="sum") / pairs


def listwise_loss(scores: Scores, batch: Batch, labels: Tensor) -> Tensor:
    """Softmax over each relevant document's sentences: mean of -log of its positive ones' shares.

    It rewards the right order within a document directly; cross-entropy over all sentences does so only
    indirectly.
    """
    zeros = scores.sentences.new_zeros(len(batch.document_features))
    positives = zeros.index_add(0, batch.unit_document, labels)
    shift = zeros.scatter_reduce(
        0, batch.unit_document, scores.sentences.detach(), "amax", include_self=False
    )
    shifted = scores.sentences - shift[batch.unit_document]
    total = zeros.index_add(0, batch.unit_document, shifted.exp())
    log_shares = shifted - total.log()[batch.unit_document]
    of_document = zeros.index_add(0, batch.unit_document, labels * log_shares)
    with_positives = positives > 0
    return -(of_document[with_positives] / positives[with_positives]).mean()
