"""Finding and opening an encoder: a folder, an installed package that holds one, or a name of a model hub.

Every problem is an EncoderError that names the encoder. Loading is strict, because a ranker over partly
loaded weights would still give scores, only bad ones.
"""

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import nn

from bioqa.models.encoders import compact
from bioqa.system.errors import BioqaError

_POINTER = b"version https://git-lfs"


class EncoderError(BioqaError):
    """An encoder cannot be found, read or moved to the device asked for."""


def open_encoder(name: str) -> tuple[nn.Module, Any, str]:
    """The transformer in single precision, its fast tokeniser, and a fingerprint of both.

    Only local files are read: a hub's name must have been fetched before.
    """
    try:
        transformers: Any = import_module("transformers")
    except ImportError as error:
        raise EncoderError("rankers over encoders need transformers: pip install transformers") from error
    path = place_of(name)
    _refuse_pointers(name, path)
    options: dict[str, Any] = {"local_files_only": True}
    try:
        with _quiet():
            config = transformers.AutoConfig.from_pretrained(path, **options)
            kind = transformers.MODEL_MAPPING[type(config)]
            tokeniser = transformers.AutoTokenizer.from_pretrained(path, **options)
            if "add_pooling_layer" in signature(kind.__init__).parameters:
                options["add_pooling_layer"] = False
            if (Path(path) / compact.FILE).is_file():
                options |= {"config": config, "state_dict": compact.read_weights(Path(path))}
                place_of_weights = None
            else:
                options["use_safetensors"] = True
                place_of_weights = path
            transformer, info = kind.from_pretrained(
                place_of_weights, dtype=torch.float32, output_loading_info=True, **options
            )
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, ImportError, SafetensorError) as error:
        if not Path(path).is_dir():
            raise EncoderError(
                f"encoder {name!r}: neither a folder nor an installed package, "
                f"and no model of that name in the hub's local cache: {_first_line(error)}"
            ) from error
        raise EncoderError(f"encoder {name!r}: {path} cannot be loaded: {_first_line(error)}") from error
    if missing := sorted([*info["missing_keys"], *(str(key) for key in info["mismatched_keys"])]):
        raise EncoderError(f"encoder {name!r}: weights are missing or misshapen: {', '.join(missing[:5])}")
    if not tokeniser.is_fast:
        raise EncoderError(f"encoder {name!r}: its tokeniser has no fast form (tokenizer.json)")
    return transformer, tokeniser, _fingerprint(transformer, tokeniser)


def device_of(wanted: str) -> torch.device:
    """``auto`` (a GPU if there is one), ``cpu``, ``cuda`` or ``cuda:N``. Raises EncoderError."""
    if wanted == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(wanted)
    except RuntimeError as error:
        raise EncoderError(f"device {wanted!r} is not auto, cpu or cuda") from error
    if device.type not in ("cpu", "cuda"):
        raise EncoderError(f"device {wanted!r} is not auto, cpu or cuda")
    if device.type == "cuda" and (
        not torch.cuda.is_available() or (device.index or 0) >= torch.cuda.device_count()
    ):
        raise EncoderError(f"device {wanted!r} was asked for, but torch finds no such GPU")
    return device


def place_of(name: str) -> str:
    if Path(name).is_dir():
        return name
    package = name.replace("-", "_")
    spec = find_spec(package) if package.isidentifier() else None
    for root in (spec.submodule_search_locations or []) if spec else []:
        for config in sorted(Path(root).glob("**/config.json")):
            if next(config.parent.glob("*.safetensors"), None):
                return str(config.parent)
    return name


def _refuse_pointers(name: str, place: str) -> None:
    if not Path(place).is_dir():
        return
    for path in sorted(Path(place).iterdir()):
        if path.is_file() and path.stat().st_size < 1024 and path.read_bytes().startswith(_POINTER):
            raise EncoderError(
                f"encoder {name!r}: {path} is a Git LFS pointer, not the file itself: "
                "fetch it with `git lfs pull`"
            )


def _fingerprint(transformer: nn.Module, tokeniser: Any) -> str:
    """SHA-256 of the weights, in single precision, and of the word pieces."""
    digest = hashlib.sha256()
    for name, value in sorted(transformer.state_dict().items()):
        digest.update(f"{name} {tuple(value.shape)}".encode() + value.contiguous().numpy().tobytes())
    for piece, number in sorted(tokeniser.get_vocab().items()):
        digest.update(f"{number} {piece}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence transformers' progress bars and load reports; missing weights are checked by the caller."""
    of_transformers: Any = import_module("transformers.utils.logging")
    logger = logging.getLogger("transformers")
    level, bars = logger.level, of_transformers.is_progress_bar_enabled()
    of_transformers.disable_progress_bar()
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
        if bars:
            of_transformers.enable_progress_bar()
