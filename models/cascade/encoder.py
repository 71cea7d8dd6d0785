"""A cross-encoder that scores all sentences of a document in one sequence.

The encoder reads [CLS] question [SEP] sentence, sentence, … [SEP], so that each sentence is scored in the
context of the others, and a document costs about half of what its sentences would cost in pairs with the
question (as in Nogueira and Cho 2019). A sentence's vector is the mean of its pieces' states, joined with the
extractor's features, so that the encoder need not learn to count matches or positions. The state of [CLS]
says whether the document answers at all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
import torch
from torch import Tensor, nn

from bioqa.models.arrays import Floats, Ints, concatenate
from bioqa.models.encoders.encoder import Encoder
from bioqa.models.encoders.inputs import EncoderInput, Pieced

MAX_SENTENCE_PIECES = 128
"""Longer sentences are cut; the number of cut ones is reported."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Consecutive sentences of one document beside the question."""

    input: EncoderInput
    """Its places are the first piece ([CLS]) and all pieces of the sentences."""
    lengths: Ints
    """[sentences] pieces of each"""
    truncated: int
    """Number of sentences that were cut."""

    @property
    def cost(self) -> int:
        """Word pieces that go through the encoder."""
        return len(self.input.ids)


@dataclass(frozen=True, slots=True)
class Logits:
    """What a cross-encoder says of passages."""

    sentences: Tensor
    """[S] of all sentences of the passages"""
    passages: Tensor
    """[P] whether the document answers, judged by this passage"""


class CrossEncoder(nn.Module):
    """Two heads over an encoder, each → 64 (LeakyReLU .1) → 1.

    A sentence: mean state and features; a document: the state of [CLS].
    """

    def __init__(self, encoder: Encoder, features: int, hidden: int = 64) -> None:
        super().__init__()
        self.encoder = encoder
        self.features = features
        self.head = _head(encoder.width + features, hidden)
        self.document_head = _head(encoder.width, hidden)

    def passages(self, question: str, sentences: Sequence[str]) -> list[Passage]:
        """A document's sentences in as few sequences as possible, of similar lengths."""
        question_pieces, *texts = self.encoder.pieces([question, *sentences])
        room = self.encoder.room_beside(len(question_pieces.ids))
        most = min(MAX_SENTENCE_PIECES, room)
        passages = []
        for group in _groups(texts, most, room):
            kept = [text.ids[:most] for text in group]
            read = self.encoder.passage(question_pieces.ids, concatenate(kept))
            passages.append(
                Passage(
                    replace(read, places=np.concatenate([[0], read.places])),
                    np.array([len(ids) for ids in kept], dtype=np.int64),
                    sum(len(text.ids) > most for text in group),
                )
            )
        return passages

    def score(self, passages: Sequence[Passage], features: Floats) -> tuple[Floats, Floats]:
        """[S] and [P] logits, without gradients. On a GPU the encoder reads in bfloat16."""
        half = self.encoder.device.type == "cuda"
        with torch.inference_mode(), torch.autocast(self.encoder.device.type, torch.bfloat16, enabled=half):
            logits = self(passages, torch.from_numpy(features).float())
        return logits.sentences.float().numpy(), logits.passages.float().numpy()

    def forward(self, passages: Sequence[Passage], features: Tensor) -> Logits:
        """Logits of passages with [S, features]; each is independent of the others, but for rounding."""
        # The heads are small, and on the CPU.
        states = self.encoder.states([passage.input for passage in passages])[:, 0].cpu()
        # Each passage's row of [CLS] comes before those of its sentences.
        firsts = torch.zeros(len(states), dtype=torch.bool)
        lengths = torch.tensor([passage.lengths.sum() for passage in passages], dtype=torch.int64)
        firsts[torch.cumsum(lengths + 1, 0) - lengths - 1] = True
        of_documents: Tensor = self.document_head(states[firsts]).squeeze(1)
        states = states[~firsts]
        lengths = torch.from_numpy(concatenate(passage.lengths for passage in passages))
        sentences = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
        sums = states.new_zeros(len(lengths), states.shape[1]).index_add(0, sentences, states)
        # A sentence without a piece (control characters only) has a zero vector beside its features.
        means = sums / lengths.clamp(min=1).unsqueeze(1)
        of_sentences: Tensor = self.head(torch.cat([means, features], dim=1)).squeeze(1)
        return Logits(of_sentences, of_documents)


def _head(width: int, hidden: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, hidden), nn.LeakyReLU(0.1), nn.Linear(hidden, 1))


def _groups(texts: Sequence[Pieced], most: int, room: int) -> Iterator[list[Pieced]]:
    """Consecutive sentences that fit beside the question, each cut to ``most`` pieces."""
    lengths = [min(len(text.ids), most) for text in texts]
    wanted = ceil(sum(lengths) / max(1, ceil(sum(lengths) / room)))
    group: list[Pieced] = []
    filled = 0
    for text, length in zip(texts, lengths, strict=True):
        if group and (filled >= wanted or filled + length > room):
            yield group
            group, filled = [], 0
        group.append(text)
        filled += length
    if group:
        yield group
