"""Make the vectors of an index in a folder: its citations, through an encoder, into the file beside it."""

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.indexer.vectors.file import EncoderRecord
from bioqa.indexer.vectors.writing import Written, write
from bioqa.models import bundled
from bioqa.models.encoders.loading import place_of
from bioqa.models.encoders.vectors import VectorEncoder, settings_of


def build(
    index: TantivyIndex,
    encoder: str,
    changes: Mapping[str, Any],
    *,
    device: str = "auto",
    threads: int | None = None,
    progress: Callable[[int, int], None] = lambda done, encoded: None,
) -> Written:
    """Write the vectors that are missing. ``changes``: to what the encoder's folder says of its settings.

    Raises EncoderError if the encoder cannot be used, VectorsError if the file cannot be written.
    """
    folder = bundled.vector_encoder(encoder)
    settings = replace(settings_of(Path(place_of(folder))), **changes)
    # Questions may be asked from another folder.
    name = str(Path(encoder).resolve()) if Path(encoder).is_dir() else encoder
    before = torch.get_num_threads()
    torch.set_num_threads(threads or os.cpu_count() or 1)
    try:
        loaded = VectorEncoder.load(folder, settings, device=device, title=name)
        record = EncoderRecord(loaded.name, loaded.hash, loaded.width, asdict(loaded.settings))
        return write(index.documents(), record, loaded.passages, index.beside, progress)
    finally:
        torch.set_num_threads(before)
