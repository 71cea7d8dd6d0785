"""Word pieces' vectors distilled from a sentence encoder, as in model2vec (Tulkens and van Dongen 2024).

The encoder reads each piece alone, between special pieces; the mean of the states is reduced to fewer
dimensions by principal components. The pieces' IDF is counted in the corpus.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from bioqa.bioasq.domain import Document
from bioqa.models.arrays import Floats
from bioqa.models.encoders.loading import EncoderError, device_of, open_encoder
from bioqa.models.text.frequencies import inverse_document_frequencies
from bioqa.models.text.pieces import CONTINUES, WordPieces, as_stored
from bioqa.models.text.words import terms

_AT_ONCE = 512


def distil(
    encoder: str, documents: Iterable[Document], *, dimensions: int = 64, device: str = "auto"
) -> WordPieces:
    """Distil the pieces that occur in the documents, and all of the encoder's single characters.

    Raises EncoderError, also for an encoder whose pieces are not WordPiece's.
    """
    target = device_of(device)
    transformer, tokeniser, _ = open_encoder(encoder)
    numbers: dict[str, int] = tokeniser.get_vocab()
    special = set(tokeniser.all_special_tokens)
    names = tuple(name for name in sorted(numbers, key=lambda name: numbers[name]) if name not in special)
    if not any(name.startswith(CONTINUES) for name in names):
        raise EncoderError(f"encoder {encoder!r}: its word pieces are not WordPiece's ({CONTINUES}…)")
    counts, total = _document_counts(names, documents)
    kept = [i for i, name in enumerate(names) if counts[i] or len(name) == 1 or name[:-1] == CONTINUES]
    ids = torch.tensor([numbers[names[i]] for i in kept])
    states = _states(transformer.to(target).eval(), tokeniser, ids.to(target))
    df = counts[kept]
    return WordPieces(
        tuple(names[i] for i in kept),
        as_stored(principal_components(states, dimensions)),
        inverse_document_frequencies(df, total).astype(np.float16).astype(np.float32),
    )


def _document_counts(names: tuple[str, ...], documents: Iterable[Document]) -> tuple[Floats, int]:
    """Document frequency of each piece, and the number of documents."""
    splits = WordPieces(names, np.zeros((len(names), 1), np.float32), np.zeros(len(names))).splits
    counts, total = np.zeros(len(names)), 0
    for document in documents:
        total += 1
        distinct = {piece for term in set(_terms_of(document)) for piece in splits[term]}
        counts[sorted(distinct)] += 1
    return counts, total


def _terms_of(document: Document) -> Iterator[str]:
    for text in document.sentence_texts():
        yield from terms(text)


def _states(transformer: nn.Module, tokeniser: Any, ids: torch.Tensor) -> Floats:
    """[pieces, width] means over the states of ``[CLS] piece [SEP]``."""
    first, last = (torch.full_like(ids, end) for end in (tokeniser.cls_token_id, tokeniser.sep_token_id))
    states = []
    with torch.inference_mode():
        for inputs in torch.split(torch.stack([first, ids, last], dim=1), _AT_ONCE):
            found = transformer(input_ids=inputs, attention_mask=torch.ones_like(inputs))
            states.append(found.last_hidden_state.mean(dim=1).cpu())
    joined: Floats = torch.cat(states).numpy()
    return joined


def principal_components(vectors: Floats, dimensions: int) -> Floats:
    """[N, width] → [N, dimensions]: projections on the directions of highest variance, after centring."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, directions = np.linalg.eigh(centred.T @ centred)
    projected: Floats = centred @ directions[:, ::-1][:, :dimensions]
    return projected
