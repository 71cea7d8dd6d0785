"""Training from files, as the command line does it."""

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bioqa.bioasq.errors import BioqaError
from bioqa.bioasq.files import read_golden
from bioqa.models.bundled import DEFAULT, WEIGHTS, available
from bioqa.models.checkpoint import Checkpoint, load_vocabulary, save
from bioqa.models.encoders.cache import StateCache
from bioqa.models.rankers.registry import SettingsError, load_encoder, settings_of
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.data import Prepared, Searcher, prepare
from bioqa.models.training.resume import Epoch
from bioqa.models.training.run import make_checkpoint

Preparing = Callable[[str, int, int], None]
"""Called with the file's name, questions done, and questions in all."""


def bundled_vocabulary() -> Vocabulary:
    """The one that the default ranker was trained with."""
    if DEFAULT not in available():
        raise BioqaError("no vocabulary is bundled: make one with `bioqa vocabulary` and name it")
    return load_vocabulary(WEIGHTS / DEFAULT)


def parse_settings(pairs: list[str]) -> dict[str, Any]:
    """``NAME=VALUE`` settings, values as JSON or else as text. Raises SettingsError."""
    settings = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise SettingsError(f"{pair!r} is not NAME=VALUE")
        try:
            settings[name] = json.loads(value)
        except json.JSONDecodeError:
            settings[name] = value
    return settings


def prepare_file(
    index: Searcher,
    path: Path,
    vocabulary: Vocabulary,
    progress: Preparing = lambda name, done, total: None,
    limit: int | None = None,
) -> list[Prepared]:
    """The questions of a golden file, made ready. Raises BioqaError if the index holds no gold."""
    responses = read_golden(path).responses[:limit]
    prepared = prepare(
        index, responses, vocabulary, progress=lambda done, total: progress(path.name, done, total)
    )
    if not any(len(question.gold.tokens) for question in prepared):
        raise BioqaError(f"{path}: the index holds none of its questions' gold documents")
    return prepared


def train_files(
    ranker: str,
    index: Searcher,
    train: Path,
    dev: Path,
    output: Path,
    *,
    seed: int = 1,
    settings: Mapping[str, Any] | None = None,
    vocabulary: Vocabulary | None = None,
    device: str = "auto",
    states: Path | None = None,
    preparing: Preparing = lambda name, done, total: None,
    progress: Callable[[Epoch], None] = lambda epoch: None,
) -> Checkpoint:
    """Trains a ranker of the registry, writes it to ``output`` and returns it.

    A ranker over an encoder is trained on ``device``; its frozen states are kept in the folder ``states``
    (else ``OUTPUT.states``), and where training was interrupted it goes on after the last whole epoch.
    Raises SettingsError for a wrong name or setting before anything is read, and EncoderError.
    """
    wanted = settings_of(ranker, **(settings or {}))
    words = vocabulary or bundled_vocabulary()
    if words.vectors.shape[1] != wanted.dimensions:
        raise SettingsError(
            f"dimensions {wanted.dimensions}: the vocabulary's vectors have {words.vectors.shape[1]}"
        )
    if wanted.features == "soft" and words.pieces is None:
        raise SettingsError("features 'soft': the vocabulary has no word pieces; make one with --encoder")
    encoder = load_encoder(wanted, device)
    prepared = [prepare_file(index, path, words, preparing) for path in (train, dev)]
    record = {"train": file_fingerprint(train), "dev": file_fingerprint(dev)}
    unfinished = None
    if encoder is not None:
        kept = states or output.with_name(output.name + ".states")
        encoder.cache = StateCache(kept, encoder.fingerprint, encoder.width)
        unfinished = output.with_name(output.name + ".unfinished")
    made = make_checkpoint(
        wanted,
        words,
        *prepared,
        seed=seed,
        training=record,
        progress=progress,
        encoder=encoder,
        unfinished=unfinished,
    )
    save(made, output)
    if encoder is not None and unfinished is not None:
        encoder.cache = None
        shutil.rmtree(unfinished, ignore_errors=True)
    return made


def file_fingerprint(path: Path) -> dict[str, Any]:
    """A training file's name, size and SHA-256, for a checkpoint's record."""
    content = path.read_bytes()
    return {"file": path.name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
