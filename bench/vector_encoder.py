"""Make of an encoder the folder that `bioqa vectors` takes by its name: small, with fewer numbers a vector.

    python -m bench.vector_encoder ENCODER OUTPUT --index DIR [--width 256] [--least 5]

Weights are stored with eight bits, with the word pieces that the citations of an index have several times.
The head turns vectors so that their first numbers tell the most (principal components of the index's
citations and titles), and keeps these.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file

from bench.bundling import write_compact
from bioqa.bioasq.domain import Document
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.models.encoders.loading import open_encoder
from bioqa.models.encoders.vectors import HEAD, SETTINGS, TRANSFORMER, Floats, VectorEncoder, VectorSettings
from bioqa.models.folders import written_whole

SAMPLE = 2000
"""Citations whose vectors decide which numbers are kept."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("encoder")
    parser.add_argument("output", type=Path)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--pieces", type=int, default=144)
    parser.add_argument("--least", type=int, default=5, help="how often a word piece occurs that is kept")
    options = parser.parse_args()
    with TantivyIndex.open(options.index) as index:
        documents = [*index.documents()]
    settings = VectorSettings(pooling="mean", pieces=options.pieces)
    make(options.encoder, options.output, documents, settings, width=options.width, least=options.least)


def make(
    encoder: str,
    output: Path,
    documents: Sequence[Document],
    settings: VectorSettings,
    *,
    width: int,
    least: int,
) -> None:
    transformer, tokeniser, _ = open_encoder(encoder)
    used = frequent_pieces(tokeniser, (f"{each.title} {each.abstract}" for each in documents), least)
    chosen = np.random.default_rng(0).permutation(len(documents))[:SAMPLE]
    sample = [documents[place] for place in chosen]
    loaded = VectorEncoder.load(encoder, settings, device="cpu")
    vectors = np.concatenate([loaded.passages(sample), loaded.questions([each.title for each in sample])])
    with written_whole(output) as unfinished:
        write_compact(transformer, tokeniser, used, unfinished / TRANSFORMER)
        matrix = torch.from_numpy(principal(vectors, width))
        save_file({"matrix": matrix, "added": torch.zeros(width)}, unfinished / HEAD)
        content = {"settings": {"pooling": settings.pooling, "pieces": settings.pieces}}
        (unfinished / SETTINGS).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def frequent_pieces(tokeniser: Any, texts: Iterable[str], least: int) -> set[int]:
    """Numbers of the word pieces that occur so often."""
    counts: Counter[int] = Counter()
    for text in texts:
        counts.update(tokeniser.backend_tokenizer.encode(text, add_special_tokens=False).ids)
    return {piece for piece, count in counts.items() if count >= least}


def principal(vectors: Floats, width: int) -> Floats:
    """[width, numbers] the directions in which vectors differ most from zero, those first.

    Not from their mean: so products of vectors stay what they are, as far as the width allows.
    """
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    return np.ascontiguousarray(directions[:, ::-1][:, :width].T.astype(np.float32))


if __name__ == "__main__":
    main()
