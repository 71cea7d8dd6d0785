"""A cross-encoder of sentences: question and sentence read together, lexical features beside [CLS].

As in Nogueira and Cho 2019 the encoder reads [CLS] question [SEP] sentence [SEP]; the features of
models.features stand beside the [CLS] state, so that it need not learn to count matches or to know places.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from bioasq.domain import Document
from models.arrays import Floats
from models.encoders.encoder import Encoder
from models.encoders.inputs import EncoderInput
from models.encoders.loading import device_of

MAX_PIECES = 128
"""Of a pair, special ones included: a longer sentence is cut, which is counted."""


def group_pieces(device: str) -> int:
    """How many word pieces an encoder on that device best reads at once."""
    # On a CPU larger groups are slower: their states no longer fit its caches.
    return 1024 if device_of(device).type == "cpu" else 8192


def sentence_texts(document: Document) -> list[str]:
    """The sentences as the encoder reads them: after the label of their part, which they mostly lack."""
    texts = []
    for sentence in document.sentences:
        text = document.sentence_text(sentence)
        label = "TITLE"
        if sentence.section == "abstract":
            around = (p.label for p in document.parts if p.begin <= sentence.begin < p.end)
            label = next(around, "")
        texts.append(f"{label}: {text}" if label and not text.startswith(label) else text)
    return texts


class CrossEncoder(nn.Module):
    """[CLS] state and features → 64 (LeakyReLU .1) → 1."""

    def __init__(self, encoder: Encoder, features: int, hidden: int = 64) -> None:
        super().__init__()
        self.encoder = encoder
        self.features = features
        self.head = nn.Sequential(
            nn.Linear(encoder.width + features, hidden), nn.LeakyReLU(0.1), nn.Linear(hidden, 1)
        )

    def inputs(self, question: str, sentences: Sequence[str]) -> list[EncoderInput]:
        """One for each sentence; how many word pieces it has is what reading it costs."""
        asked, *texts = self.encoder.pieces([question, *sentences])
        return [self.encoder.pair(asked.ids, text.ids) for text in texts]

    def score(
        self, inputs: Sequence[EncoderInput], features: Floats, *, half_precision: bool = False
    ) -> Floats:
        """[S] logits, for use. ``half_precision``: bfloat16 on a CPU too, twice as fast where it has it."""
        half = half_precision or self.encoder.device.type == "cuda"
        with torch.inference_mode(), torch.autocast(self.encoder.device.type, torch.bfloat16, enabled=half):
            scores = self(inputs, torch.from_numpy(features).float())
        logits: Floats = scores.float().numpy()
        return logits

    def forward(self, inputs: Sequence[EncoderInput], features: Tensor) -> Tensor:
        """[S, features] → [S] logits, the same in any company but for rounding."""
        states = self.encoder.states(inputs)[:, 0]
        scores: Tensor = self.head(torch.cat([states, features], dim=1)).squeeze(1)
        return scores
