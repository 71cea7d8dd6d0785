"""States of a frozen encoder, cached on disk in half precision, so that each sequence is encoded once.

Two append-only files: the states, and an index of their offsets. A record that an interrupted run left
incomplete is cut off when the cache is opened again.
"""

import os
from hashlib import blake2b
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from bioqa.models.encoders.inputs import EncoderInput
from bioqa.system.errors import BioqaError
from bioqa.system.locks import FileLock, LockTaken

_RECORD = np.dtype([("key", "V16"), ("begin", "<u8"), ("rows", "<u4"), ("layers", "<u4")])


class StateCache:
    """For one process at a time. Raises BioqaError if another has it open, or if it cannot be written."""

    def __init__(self, folder: Path, fingerprint: str, width: int) -> None:
        """``fingerprint`` of the encoder: each encoder has its own files in the folder."""
        self._width = width
        try:
            folder.mkdir(parents=True, exist_ok=True)
            paths = [folder / f"{fingerprint[:16]}.{kind}" for kind in ("index", "states")]
            self._lock = FileLock(paths[0])
            self._index, self._states = (os.open(path, os.O_RDWR | os.O_CREAT, 0o644) for path in paths)
        except LockTaken as error:
            raise BioqaError(f"{folder}: another process uses these cached states") from error
        except OSError as error:
            raise BioqaError(f"{folder}: cannot keep states there: {error}") from error
        self._known: dict[bytes, tuple[int, int, int]] = {}
        self._end = self._open()

    def __len__(self) -> int:
        return len(self._known)

    def close(self) -> None:
        os.close(self._index)
        os.close(self._states)
        self._lock.close()

    def get(self, key: bytes) -> Tensor | None:
        """[rows, layers, width]"""
        if key not in self._known:
            return None
        begin, rows, layers = self._known[key]
        content = os.pread(self._states, rows * layers * self._width * 2, begin)
        kept = np.frombuffer(content, dtype=np.float16).reshape(rows, layers, self._width)
        return torch.from_numpy(kept.astype(np.float32))

    def put(self, key: bytes, states: Tensor) -> None:
        """Write the states before the index entry, so that what the index names is complete."""
        content = states.detach().cpu().numpy().astype(np.float16).tobytes()
        record = np.array([(key, self._end, *states.shape[:2])], dtype=_RECORD)
        location = self._end, int(states.shape[0]), int(states.shape[1])
        os.pwrite(self._states, content, self._end)
        os.pwrite(self._index, record.tobytes(), len(self._known) * _RECORD.itemsize)
        self._known[key] = location
        self._end += len(content)

    def _open(self) -> int:
        size = os.fstat(self._states).st_size
        content = os.pread(self._index, os.fstat(self._index).st_size, 0)
        whole = len(content) // _RECORD.itemsize
        end = 0
        for record in np.frombuffer(content[: whole * _RECORD.itemsize], dtype=_RECORD):
            begin, rows, layers = (int(record[name]) for name in ("begin", "rows", "layers"))
            after = begin + rows * layers * self._width * 2
            if begin != end or after > size:
                break
            self._known[record["key"].tobytes()] = begin, rows, layers
            end = after
        os.ftruncate(self._index, len(self._known) * _RECORD.itemsize)
        os.ftruncate(self._states, end)
        return end


def key_of(sequence: EncoderInput, layers: str) -> bytes:
    """16 bytes that identify a sequence, the places and the layers wanted."""
    digest = blake2b(layers.encode(), digest_size=16)
    for part in (sequence.ids, sequence.types, sequence.places):
        digest.update(len(part).to_bytes(4, "little") + part.tobytes())
    return digest.digest()
