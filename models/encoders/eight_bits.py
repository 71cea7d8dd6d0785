"""A BERT read in whole numbers of eight bits: a third of the time where the processor multiplies them.

Weights have one scale for each row, as ``compact`` stores them. States are rounded before each matrix, with
one scale for each word piece (token-wise quantisation: Yao et al., 2022, https://arxiv.org/abs/2206.01861).
What lies between the matrices stays in single precision. One text is read at a time, so no other changes its
states.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

LARGEST = 127


def processor_multiplies_eight_bits() -> bool:
    """Whether it pays on this CPU. Others compute the same, more slowly than in single precision."""
    return bool(torch.cpu._is_vnni_supported())


def can_be_read(transformer: nn.Module) -> bool:
    """Whether the transformer is a BERT as published, which ``EightBitBert`` follows."""
    config: Any = transformer.config
    position_type = getattr(config, "position_embedding_type", "absolute")
    return (config.model_type, config.hidden_act, position_type) == ("bert", "gelu", "absolute")


class EightBitBert:
    """Threads may share it. It holds rounded copies of the matrices; the rest is the transformer's."""

    def __init__(self, transformer: Any) -> None:
        """``transformer``: a BertModel in single precision, on a CPU."""
        self._embeddings = transformer.embeddings
        self._heads = int(transformer.config.num_attention_heads)
        self._layers = [_Layer(layer) for layer in transformer.encoder.layer]

    def __call__(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """A text's states [pieces, width] as they are embedded, and of the last layer. ``ids``: [pieces]"""
        parts = self._embeddings
        first: Tensor = parts.LayerNorm(
            parts.word_embeddings.weight[ids]
            + parts.position_embeddings.weight[: len(ids)]
            + parts.token_type_embeddings.weight[0]
        )
        states = first
        for layer in self._layers:
            states = layer(states, self._heads)
        return first, states


class _Layer:
    def __init__(self, layer: Any) -> None:
        attention, output = layer.attention, layer.output
        # One product in place of three.
        own = attention.self
        self._attended = _Matrix(own.query, own.key, own.value)
        self._attention, self._attention_norm = _Matrix(attention.output.dense), attention.output.LayerNorm
        self._wide, self._narrow, self._norm = (
            _Matrix(layer.intermediate.dense),
            _Matrix(output.dense),
            output.LayerNorm,
        )

    def __call__(self, states: Tensor, heads: int) -> Tensor:
        """[pieces, width]"""
        pieces, width = states.shape
        queries, keys, values = self._attended(states).view(1, pieces, 3, heads, -1).permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(queries, keys, values)
        context = attended[0].transpose(0, 1).reshape(pieces, width)
        states = self._attention_norm(states + self._attention(context))
        normed: Tensor = self._norm(states + self._narrow(functional.gelu(self._wide(states))))
        return normed


class _Matrix:
    """One or more linear modules over the same states, as one matrix of whole numbers."""

    def __init__(self, *modules: nn.Linear) -> None:
        weights = torch.cat([module.weight.detach() for module in modules])
        whole, self._scales = _round(weights)
        self._columns = whole.T
        self._bias = torch.cat([module.bias.detach() for module in modules])

    def __call__(self, states: Tensor) -> Tensor:
        """[pieces, rows]"""
        whole, scales = _round(states)
        sums: Tensor = torch.ops.aten._int_mm(whole, self._columns)
        return sums.float().mul_(scales[:, None]).mul_(self._scales).add_(self._bias)


def _round(values: Tensor) -> tuple[Tensor, Tensor]:
    """[rows, columns] whole numbers, and each row's scale."""
    scales = values.abs().amax(dim=1).clamp_(min=1e-12).div_(LARGEST)
    return torch.round(values / scales[:, None]).to(torch.int8), scales
