"""An encoder that makes one vector of a text: of a question, or of a citation's title and abstract.

The vectors of a question and of what answers it point in about the same direction, whether or not they share
a word. Any encoder can be used; what its vectors are made of is its folder's own matter (``settings_of``).
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from bioqa.bioasq.domain import Document
from bioqa.models.encoders import compact
from bioqa.models.encoders.eight_bits import EightBitBert, can_be_read, processor_multiplies_eight_bits
from bioqa.models.encoders.encoder import Encoder, Layers, processor_has_bfloat16
from bioqa.models.encoders.inputs import EncoderInput, Pieced
from bioqa.models.encoders.loading import EncoderError, place_of

Floats = npt.NDArray[np.float32]

SETTINGS = "vectors.json"
HEAD = "head.safetensors"
TRANSFORMER = "encoder"
"""Names in a folder that was made for vectors. Any other encoder's folder has none of them."""

Pooling = Literal["cls", "mean", "joined"]

CHARACTERS_A_PIECE = 16
"""A long text is cut to so many times its room before it is split into pieces: no English text, and no
formula, has longer pieces on average."""


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """How a text becomes a vector."""

    pooling: Pooling = "mean"
    """``cls``: the last state of the first piece; ``mean`` of the last states of all pieces; ``joined``: both
    of these and the mean of the embeddings, one after another."""
    question_prefix: str = ""
    passage_prefix: str = ""
    pieces: int = 144
    """Word pieces of a text that are read, special ones included."""

    def __post_init__(self) -> None:
        if self.pooling not in get_args(Pooling):
            raise EncoderError(f"pooling {self.pooling!r} is not {', '.join(get_args(Pooling))}")
        if not 8 <= self.pieces <= 512:
            raise EncoderError(f"{self.pieces} word pieces: give 8 to 512")


@dataclass(frozen=True, slots=True)
class EncodedTexts:
    """Vectors of texts, and how much of the texts they are of."""

    vectors: Floats
    """[texts, width] of length 1."""
    pieces: int
    """Word pieces that were read, special ones included."""
    cut: tuple[int, ...]
    """Positions of the texts of which only the beginning was read."""


def settings_of(folder: Path) -> VectorSettings:
    """What a folder says of itself: its vectors.json, or how sentence-transformers note the pooling, or the
    default. Raises EncoderError."""
    try:
        if (folder / SETTINGS).is_file():
            return VectorSettings(**json.loads((folder / SETTINGS).read_text(encoding="utf-8"))["settings"])
        noted = folder / "1_Pooling" / "config.json"
        if noted.is_file() and json.loads(noted.read_text(encoding="utf-8")).get("pooling_mode_cls_token"):
            return VectorSettings(pooling="cls")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EncoderError(f"{folder}: settings of its vectors cannot be read: {error}") from error
    return VectorSettings()


def passage_text(document: Document) -> str:
    """What is read of a citation."""
    return f"{document.title} {document.abstract}"


class VectorEncoder:
    """Threads may share it."""

    def __init__(
        self,
        encoder: Encoder,
        settings: VectorSettings,
        head: tuple[Tensor, Tensor] | None = None,
        name: str | None = None,
        *,
        eight_bits: bool = False,
    ) -> None:
        """``head``: a matrix [width, what is pooled] and what is added [width], applied to what is pooled.
        ``eight_bits``: on a CPU that multiplies them, read in whole numbers of eight bits."""
        self.name = encoder.name if name is None else name
        self.settings = settings
        self._encoder = encoder.eval()
        self._head = head
        parts = 3 if settings.pooling == "joined" else 1
        self.width = encoder.width * parts if head is None else len(head[1])
        if head is not None and head[0].shape != (self.width, encoder.width * parts):
            raise EncoderError(f"encoder {self.name!r}: its head does not fit what is pooled")
        self.hash = self._fingerprint()
        self._eight_bits: EightBitBert | None = None
        if encoder.device.type != "cpu":
            return
        if eight_bits and processor_multiplies_eight_bits() and can_be_read(encoder.transformer):
            self._eight_bits = EightBitBert(encoder.transformer)
        elif processor_has_bfloat16():
            encoder.halve()

    @classmethod
    def load(
        cls,
        name: str,
        settings: VectorSettings | None = None,
        *,
        device: str = "auto",
        title: str | None = None,
    ) -> "VectorEncoder":
        """Load by folder, installed package or hub name. ``settings``: by default what the folder says of
        itself; ``title``: what to call it instead of ``name``. Raises EncoderError."""
        folder = Path(place_of(name))
        settings = settings or settings_of(folder)
        is_own = (folder / TRANSFORMER).is_dir()
        encoder = Encoder.load(str(folder / TRANSFORMER) if is_own else name, device=device)
        head = _head(folder) if is_own else None
        # Weights that are stored so lose no more by it.
        eight_bits = is_own and (folder / TRANSFORMER / compact.FILE).is_file()
        return cls(encoder, settings, head, title or name, eight_bits=eight_bits)

    def questions(self, texts: Sequence[str]) -> Floats:
        """[texts, width] vectors of length 1."""
        return self.encode(texts, as_questions=True).vectors

    def passages(self, documents: Sequence[Document]) -> Floats:
        """[documents, width] vectors of length 1, of title and abstract."""
        return self.encode([*map(passage_text, documents)], as_questions=False).vectors

    def encode(self, texts: Sequence[str], *, as_questions: bool) -> EncodedTexts:
        """Vectors of texts, read with the prefix of questions or of passages."""
        prefix = self.settings.question_prefix if as_questions else self.settings.passage_prefix
        room = min(self.settings.pieces, self._encoder.positions)
        characters = room * CHARACTERS_A_PIECE
        prefixed = [prefix + text for text in texts]
        whole = self._encoder.pieces([text[:characters] for text in prefixed])
        inputs = [self._input(pieces, room) for pieces in whole]
        special = self._encoder.positions - self._encoder.room
        cut = [
            len(text) > characters or len(pieces.ids) > room - special
            for text, pieces in zip(prefixed, whole, strict=True)
        ]
        return EncodedTexts(
            self._vectors(inputs),
            pieces=sum(len(item.ids) for item in inputs),
            cut=tuple(position for position, is_cut in enumerate(cut) if is_cut),
        )

    def _vectors(self, inputs: Sequence[EncoderInput]) -> Floats:
        vectors = np.zeros((len(inputs), self.width), dtype=np.float32)
        with torch.inference_mode():
            for batch in self._encoder.batches(inputs):
                pooled = self._pool([inputs[number] for number in batch])
                if self._head is not None:
                    matrix, added = self._head
                    pooled = pooled @ matrix.to(pooled.device).T + added.to(pooled.device)
                vectors[batch] = torch.nn.functional.normalize(pooled, dim=1).cpu().numpy()
        return vectors

    def _input(self, text: Pieced, room: int) -> EncoderInput:
        special = self._encoder.positions - self._encoder.room
        return self._encoder.single(Pieced(text.ids[: room - special], text.firsts))

    def _pool(self, inputs: Sequence[EncoderInput]) -> Tensor:
        """[inputs, what is pooled] in single precision."""
        if self._eight_bits is not None:
            return torch.stack([self._pool_eight_bits(self._eight_bits, one) for one in inputs])
        layers: Layers = "all" if self.settings.pooling == "joined" else "last"
        states, mask = self._encoder.outputs(inputs, layers)
        if self.settings.pooling == "cls":
            return states[-1][:, 0].float()
        if self.settings.pooling == "mean":
            return _mean(states[-1], mask)
        return torch.cat([_mean(states[-1], mask), states[-1][:, 0].float(), _mean(states[0], mask)], dim=1)

    def _pool_eight_bits(self, encoder: EightBitBert, text: EncoderInput) -> Tensor:
        """[what is pooled]"""
        embedded, last = encoder(torch.from_numpy(text.ids))
        if self.settings.pooling == "cls":
            return last[0]
        if self.settings.pooling == "mean":
            return last.mean(dim=0)
        return torch.cat([last.mean(dim=0), last[0], embedded.mean(dim=0)])

    def _fingerprint(self) -> str:
        """SHA-256 of all that vectors depend on."""
        digest = hashlib.sha256(self._encoder.fingerprint.encode())
        digest.update(json.dumps(asdict(self.settings), sort_keys=True).encode())
        for tensor in self._head or ():
            digest.update(tensor.contiguous().numpy().tobytes())
        return digest.hexdigest()


def _mean(states: Tensor, mask: Tensor) -> Tensor:
    """[inputs, width] the mean of the states where there are pieces."""
    weights = mask.float() / mask.sum(dim=1, keepdim=True)
    return torch.bmm(weights.unsqueeze(1), states.float()).squeeze(1)


def _head(folder: Path) -> tuple[Tensor, Tensor] | None:
    if not (folder / HEAD).is_file():
        return None
    try:
        stored = load_file(folder / HEAD)
        return stored["matrix"].float(), stored["added"].float()
    except (OSError, SafetensorError, KeyError) as error:
        raise EncoderError(f"{folder / HEAD}: cannot be read: {error}") from error
