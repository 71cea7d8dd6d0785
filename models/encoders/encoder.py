"""A BERT-like encoder: word pieces in, hidden states of chosen layers and places out."""

import platform
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from bioqa.models.arrays import Ints
from bioqa.models.encoders.cache import StateCache, key_of
from bioqa.models.encoders.inputs import EncoderInput, Pieced, Template, pair, passage, single
from bioqa.models.encoders.loading import EncoderError, device_of, open_encoder

Layers = Literal["last", "all"]

X86 = ("x86_64", "amd64")
"""What ``platform.machine()`` calls them, in lower case."""

MAX_PIECES = 512
"""Longest sequence, even if an encoder has more positions: attention's cost grows with its square."""

_OFFSET_POSITIONS = ("roberta", "xlm-roberta", "camembert", "longformer")
"""Model types that number positions from the padding id + 1."""


class Encoder(nn.Module):
    """Runs on its own device, and returns states there, in single precision.

    Neither other sequences of a batch nor padding change a sequence's states, except for rounding.
    """

    def __init__(
        self,
        transformer: nn.Module,
        tokeniser: Any,
        *,
        name: str = "",
        fingerprint: str = "",
        device: str = "cpu",
        budget: int | None = None,
    ) -> None:
        """``budget``: word pieces, padding included, per forward pass; by default what suits the device."""
        super().__init__()
        self.name = name
        self.fingerprint = fingerprint
        self.device = device_of(device)
        # On a CPU larger batches are slower: their states no longer fit its caches.
        self.budget = budget or (1024 if self.device.type == "cpu" else 16_384)
        self.transformer: Any = transformer.to(self.device)
        config: Any = transformer.config
        self.width = int(config.hidden_size)
        self.layers = int(config.num_hidden_layers)
        self.positions = min(MAX_PIECES, _positions(config, tokeniser))
        self._padding = int(tokeniser.pad_token_id or 0)
        self._has_types = "token_type_ids" in tokeniser.model_input_names
        self._backend = tokeniser.backend_tokenizer
        self._backend.no_truncation()
        self._backend.no_padding()
        self._single, self._pair = (_template(self._backend, texts) for texts in (["a"], ["a", "b"]))
        self.cache: StateCache | None = None
        self.half_precision = False
        """On a CPU too: bfloat16 takes half the time where the processor has it."""
        self.freeze()

    def halve(self) -> None:
        """Hold the weights in bfloat16 from now on, for reading alone.

        That takes half the memory, and a fifth to a third of the time where the processor has bfloat16.
        """
        self.freeze()
        self.transformer.bfloat16()

    @classmethod
    def load(
        cls,
        name: str,
        *,
        device: str = "auto",
    ) -> "Encoder":
        """Load by folder, installed package or hub name; frozen. Raises EncoderError."""
        device_of(device)
        transformer, tokeniser, fingerprint = open_encoder(name)
        return cls(
            transformer,
            tokeniser,
            name=name,
            fingerprint=fingerprint,
            device=device,
        )

    def freeze(self, layers: int | None = None) -> None:
        """Freeze everything (None), nothing (-1), or the embeddings and the lower ``layers``."""
        self.transformer.requires_grad_(layers is not None)
        if layers is not None and layers >= 0:
            stack = self.stack
            if layers > len(stack):
                raise EncoderError(
                    f"encoder {self.name!r} has {len(stack)} layers: {layers} cannot be frozen"
                )
            embeddings = getattr(self.transformer, "embeddings", None)
            for part in (embeddings or self.transformer.get_input_embeddings(), *stack[:layers]):
                part.requires_grad_(False)
        self.train(self.training)

    def train(self, mode: bool = True) -> "Encoder":
        """Like torch's, but without dropout in frozen modules: their states are cached and must not vary."""
        super().train(mode)
        for module in self.transformer.modules():
            parameters = list(module.parameters())
            if parameters and not any(parameter.requires_grad for parameter in parameters):
                module.eval()
        return self

    @property
    def learns(self) -> bool:
        return any(parameter.requires_grad for parameter in self.transformer.parameters())

    def pieces(self, texts: Sequence[str]) -> list[Pieced]:
        """Word pieces of running texts, not cut."""
        return [Pieced(_ids(e), np.zeros(0, dtype=np.int64)) for e in self._encode(map(_clean, texts))]

    def word_pieces(self, texts: Sequence[Sequence[str]]) -> list[Pieced]:
        """Word pieces of texts given as words, not cut, with the place of each word's first."""
        cleaned = [[_clean(word) for word in words] for words in texts]
        encoded = self._encode(cleaned, is_pretokenized=True)
        return [Pieced(_ids(e), _firsts(e, len(words))) for e, words in zip(encoded, texts, strict=True)]

    def pair(self, question: Ints, text: Ints) -> EncoderInput:
        """[CLS] question [SEP] text [SEP] as this encoder has it, for the state of [CLS]."""
        return pair(self._pair, question, text, self.positions)

    def passage(self, question: Ints, text: Ints) -> EncoderInput:
        """[CLS] question [SEP] text [SEP] as this encoder has it, for the states of the text's pieces."""
        return passage(self._pair, question, text, self.positions)

    def single(self, text: Pieced) -> EncoderInput:
        """[CLS] text [SEP], for the states of the words' first pieces."""
        return single(self._single, text, self.positions)

    @property
    def room(self) -> int:
        """Number of pieces of a single text that fit."""
        return self.positions - self._single.special

    def room_beside(self, question: int) -> int:
        """Number of pieces of a text that fit beside a question of ``question`` pieces."""
        room = self.positions - self._pair.special
        return room - min(question, room // 2)

    def states(self, inputs: Sequence[EncoderInput], layers: Layers = "last") -> Tensor:
        """[rows of all inputs in turn, 1 or layers, width]: the states at each input's places.

        While the encoder is frozen, states come from the cache, and missing ones are added to it.
        """
        if self.cache is None or self.learns or not inputs:
            return self._compute(inputs, layers)
        keys = [key_of(x, layers) for x in inputs]
        kept = {key: self.cache.get(key) for key in keys}
        missing = {key: x for key, x in zip(keys, inputs, strict=True) if kept[key] is None}
        counts = [len(x.places) for x in missing.values()]
        computed_states = torch.split(self._compute(list(missing.values()), layers), counts)
        for key, computed in zip(missing, computed_states, strict=True):
            self.cache.put(key, computed)
            kept[key] = computed
        return torch.cat([states.to(self.device) for key in keys if (states := kept[key]) is not None])

    def _compute(self, inputs: Sequence[EncoderInput], layers: Layers) -> Tensor:
        counts = np.array([len(x.places) for x in inputs], dtype=np.int64)
        starts = np.cumsum(counts) - counts
        computed, rows = [], []
        with torch.set_grad_enabled(torch.is_grad_enabled() and self.learns):
            for group in self.batches(inputs):
                computed.append(self._run([inputs[i] for i in group], layers).float())
                rows += [np.arange(starts[i], starts[i] + counts[i]) for i in group]
        if not computed:
            return torch.zeros(0, 1 if layers == "last" else self.layers, self.width, device=self.device)
        in_turn = torch.from_numpy(np.argsort(np.concatenate(rows)))
        return torch.cat(computed)[in_turn.to(self.device)]

    def batches(self, inputs: Sequence[EncoderInput]) -> Iterator[list[int]]:
        """Batches of inputs of similar length, longest first, within the budget; at least one input each."""
        group: list[int] = []
        for i in sorted(range(len(inputs)), key=lambda i: -len(inputs[i].ids)):
            if group and len(inputs[group[0]].ids) * (len(group) + 1) > self.budget:
                yield group
                group = []
            group.append(i)
        if group:
            yield group

    def _run(self, inputs: Sequence[EncoderInput], layers: Layers) -> Tensor:
        """Run the inputs; on lack of GPU memory retry with halves, down to a single input."""
        try:
            return self._forward(inputs, layers)
        except torch.OutOfMemoryError as error:
            if len(inputs) == 1:
                pieces = len(inputs[0].ids)
                raise EncoderError(
                    f"encoder {self.name!r}: no memory for a sequence of {pieces} pieces"
                ) from error
        # Outside the handler: inside, the traceback keeps the tensors of the failed attempt alive.
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        half = len(inputs) // 2
        return torch.cat([self._run(inputs[:half], layers), self._run(inputs[half:], layers)])

    def _forward(self, inputs: Sequence[EncoderInput], layers: Layers) -> Tensor:
        all_states, _ = self.outputs(inputs, layers)
        # What comes first of all states is the output of the embeddings, not of a layer.
        states = all_states if layers == "last" else all_states[1:]
        rows = torch.repeat_interleave(
            torch.arange(len(inputs)), torch.tensor([len(x.places) for x in inputs])
        ).to(self.device)
        places = torch.from_numpy(np.concatenate([x.places for x in inputs])).to(self.device)
        return torch.stack([layer[rows, places] for layer in states], dim=1)

    def outputs(
        self, inputs: Sequence[EncoderInput], layers: Layers = "last"
    ) -> tuple[Sequence[Tensor], Tensor]:
        """Read one batch: the states [inputs, pieces, width] of the last layer, or of the embeddings and of
        each layer; and where there are pieces [inputs, pieces]: 1, or 0 for padding."""
        shape = len(inputs), max(len(x.ids) for x in inputs)
        ids, types = torch.full(shape, self._padding), torch.zeros(shape, dtype=torch.long)
        mask = torch.zeros(shape, dtype=torch.long)
        for row, x in enumerate(inputs):
            ids[row, : len(x.ids)] = torch.from_numpy(x.ids)
            types[row, : len(x.ids)] = torch.from_numpy(x.types)
            mask[row, : len(x.ids)] = 1
        fed = {"input_ids": ids, "attention_mask": mask} | (
            {"token_type_ids": types} if self._has_types else {}
        )
        on_device = {name: tensor.to(self.device) for name, tensor in fed.items()}
        # On a CPU only if asked for, or if the caller (training) has enabled autocast.
        halved = self.half_precision or torch.is_autocast_enabled(self.device.type)
        half = halved or self.device.type == "cuda"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=half):
            output = self.transformer(**on_device, output_hidden_states=layers == "all")
        states = (output.last_hidden_state,) if layers == "last" else output.hidden_states
        return states, on_device["attention_mask"]

    @property
    def stack(self) -> nn.ModuleList:
        """The layers, lowest first. Raises EncoderError if they cannot be told."""
        for module in self.transformer.modules():
            if isinstance(module, nn.ModuleList) and len(module) == self.layers:
                return module
        raise EncoderError(f"encoder {self.name!r}: its layers cannot be identified, so none can be frozen")

    def _encode(self, texts: Any, **options: Any) -> list[Any]:
        encoded: list[Any] = self._backend.encode_batch(list(texts), add_special_tokens=False, **options)
        return encoded


def processor_has_bfloat16() -> bool:
    """Whether it pays to read in bfloat16 on this CPU. Emulated, it takes up to four times as long."""
    if platform.machine().lower() in X86:
        # oneDNN calls every processor with AVX-512 able to, also those that must emulate it.
        return torch.cpu._is_avx512_bf16_supported()
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def _positions(config: Any, tokeniser: Any) -> int:
    positions = int(getattr(config, "max_position_embeddings", 512))
    if config.model_type in _OFFSET_POSITIONS:
        positions -= int(config.pad_token_id) + 1
    return min(positions, int(tokeniser.model_max_length))


def _template(backend: Any, texts: list[str]) -> Template:
    """Derived from an encoded example, as every model family has its own special pieces."""
    encoding = backend.encode(*texts)
    parts: list[tuple[int, ...]] = []
    types: list[int] = []
    pieces = list(zip(encoding.ids, encoding.type_ids, encoding.sequence_ids, strict=True))
    for text in range(len(texts)):
        own = [position for position, piece in enumerate(pieces) if piece[2] == text]
        before, inside = pieces[: own[0]], pieces[own[0]]
        parts.append(tuple(id_ for id_, _, _ in before))
        # Adjacent special pieces share one type.
        types += [before[-1][1] if before else 0, inside[1]]
        pieces = pieces[own[-1] + 1 :]
    parts.append(tuple(id_ for id_, _, _ in pieces))
    types.append(pieces[-1][1] if pieces else 0)
    return Template(tuple(parts), tuple(types))


def _ids(encoding: Any) -> Ints:
    return np.array(encoding.ids, dtype=np.int64)


def _firsts(encoding: Any, words: int) -> Ints:
    firsts = np.full(words, -1, dtype=np.int64)
    for position in range(len(encoding.ids) - 1, -1, -1):
        firsts[encoding.word_ids[position]] = position
    return firsts


def _clean(text: str) -> str:
    """Without lone surrogates, which tokenisers refuse."""
    return text.encode("utf-8", "replace").decode("utf-8")
