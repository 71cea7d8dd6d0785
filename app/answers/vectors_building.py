"""Make the vectors of an index in a folder: its citations, through an encoder, into the file beside it."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bioqa.app.answers.workers import STARTING_S, NoWorker, WorkerLost, Workers
from bioqa.bioasq.domain import Document
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.indexer.vectors.file import EncoderRecord, Floats, VectorsError
from bioqa.indexer.vectors.writing import Written, write
from bioqa.models import bundled
from bioqa.models.encoders.loading import device_of, place_of
from bioqa.models.encoders.vectors import VectorEncoder, VectorSettings, passage_text, settings_of

TOGETHER = 32
"""Texts encoded by one call, in one process or in several, so that both make the same vectors."""

FEW = 8 * TOGETHER
"""So many texts are encoded here: a process takes seconds to start."""

MOST_PROCESSES = 8
"""Unless more are asked for: each holds the encoder, some 300 MB with the smallest."""


def build(
    index: TantivyIndex,
    encoder: str,
    changes: Mapping[str, Any],
    *,
    device: str = "auto",
    processes: int | None = None,
    progress: Callable[[int, int], None] = lambda done, encoded: None,
) -> Written:
    """Write the vectors that are missing. ``changes``: to what the encoder's folder says of its settings;
    ``processes``: of one thread each, that encode on a CPU; by default one for each core.

    Raises EncoderError if the encoder cannot be used, VectorsError if the file cannot be written.
    """
    folder = bundled.vector_encoder(encoder)
    settings = replace(settings_of(Path(place_of(folder))), **changes)
    # Questions may be asked from another folder.
    name = str(Path(encoder).resolve()) if Path(encoder).is_dir() else encoder
    threads = torch.get_num_threads()
    with ExitStack() as after:
        count = 1
        if device_of(device).type == "cpu":
            # Threads of one process wait for each other after every matrix; processes do not.
            after.callback(torch.set_num_threads, threads)
            torch.set_num_threads(1)
            count = processes or min(os.cpu_count() or 1, MOST_PROCESSES)
        loaded = VectorEncoder.load(folder, settings, device=device, title=name)
        record = EncoderRecord(loaded.name, loaded.hash, loaded.width, asdict(loaded.settings))
        encoding = after.enter_context(Encoding(loaded, folder, count))
        return write(index.documents(), record, encoding, index.beside, progress)


class Encoding:
    """Encodes citations, many of them in several processes. A context manager, which ends these."""

    def __init__(self, encoder: VectorEncoder, folder: str, processes: int) -> None:
        self._encoder = encoder
        self._threads = ThreadPoolExecutor(processes, thread_name_prefix="encoding")
        self.processes: Workers[Sequence[str], Floats] | None = None
        """Started when there is much to encode."""
        if processes > 1:
            start = partial(start_encoder, folder, encoder.settings, encoder.name, encoder.hash)
            self.processes = Workers(start, processes, name="encoding")

    def __call__(self, documents: Sequence[Document]) -> Floats:
        """[documents, width] vectors. Raises VectorsError if a process ends twice over the same citations."""
        texts = [passage_text(document) for document in documents]
        # Those of one length together, so that little is padded.
        order = sorted(range(len(texts)), key=lambda number: -len(texts[number]))
        groups = [order[begin : begin + TOGETHER] for begin in range(0, len(order), TOGETHER)]
        in_groups = [[texts[number] for number in group] for group in groups]
        encoded: Iterator[Floats]
        if self.processes is not None and len(texts) > FEW:
            self.processes.open()
            encoded = self._threads.map(self._encode_there, in_groups)
        else:
            encoded = map(partial(encode_texts, self._encoder), in_groups)
        vectors = np.zeros((len(texts), self._encoder.width), dtype=np.float32)
        for group, of_group in zip(groups, encoded, strict=True):
            vectors[group] = of_group
        return vectors

    def _encode_there(self, texts: Sequence[str], *, again: bool = True) -> Floats:
        assert self.processes is not None
        try:
            return self.processes.call(texts, wait_s=STARTING_S)
        except WorkerLost as error:
            if again:
                return self._encode_there(texts, again=False)
            raise VectorsError(
                f"{error}, twice over the same citations; what is written stays, and the next run "
                "continues there"
            ) from error
        except NoWorker as error:
            raise VectorsError(str(error)) from error

    def __enter__(self) -> "Encoding":
        return self

    def __exit__(self, *_: object) -> None:
        # First, so that threads that wait for a process end, too.
        if self.processes is not None:
            self.processes.close()
        self._threads.shutdown(cancel_futures=True)


def start_encoder(
    folder: str, settings: VectorSettings, name: str, expected: str
) -> Callable[[Sequence[str]], Floats]:
    """What a process starts with. ``expected``: the encoder's hash. Raises EncoderError, and VectorsError if
    the encoder is another one by now."""
    torch.set_num_threads(1)
    encoder = VectorEncoder.load(folder, settings, device="cpu", title=name)
    if encoder.hash != expected:
        raise VectorsError(f"{name} was exchanged while its vectors were made: run `bioqa vectors` again")
    return partial(encode_texts, encoder)


def encode_texts(encoder: VectorEncoder, texts: Sequence[str]) -> Floats:
    return encoder.encode(texts, as_questions=False).vectors
