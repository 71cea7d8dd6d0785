"""An encoder in a quarter of its size: eight-bit weights, and only the word pieces that are used.

Each row of a matrix is stored as whole numbers from -127 to 127 with one scale; what is not a matrix stays in
single precision. Loaded, the encoder is one in single precision like any other, and close to what it was.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from bioqa.system.errors import BioqaError

FILE = "model.int8.safetensors"
_SCALE = ".scale"


def used_pieces(tokeniser: Any, texts: Iterable[str], at_once: int = 1000) -> set[int]:
    """Numbers of the word pieces that occur in the texts."""
    backend = tokeniser.backend_tokenizer
    used: set[int] = set()
    waiting: list[str] = []

    def count() -> None:
        for encoding in backend.encode_batch(waiting, add_special_tokens=False):
            used.update(encoding.ids)
        waiting.clear()

    for text in texts:
        waiting.append(text)
        if len(waiting) == at_once:
            count()
    count()
    return used


def write_compact(transformer: Any, tokeniser: Any, used: Collection[int], folder: Path) -> None:
    """Write configuration, weights and tokeniser, with the word pieces ``used`` and those of one character.

    A word whose piece is left out is spelt with shorter ones. Raises BioqaError if the tokeniser's model is
    not WordPiece, whose pieces do not depend on each other.
    """
    made = json.loads(tokeniser.backend_tokenizer.to_str())
    if made["model"]["type"] != "WordPiece":
        raise BioqaError(f"word pieces of a {made['model']['type']} tokeniser cannot be left out")
    added = {token["id"] for token in made["added_tokens"]}
    prefix = made["model"]["continuing_subword_prefix"]
    kept = sorted(
        (number, piece)
        for piece, number in made["model"]["vocab"].items()
        if number in used or number in added or len(piece.removeprefix(prefix)) == 1
    )
    numbers = {old: new for new, (old, _) in enumerate(kept)}
    made["model"]["vocab"] = {piece: numbers[old] for old, piece in kept}
    for token in made["added_tokens"]:
        token["id"] = numbers[token["id"]]
    _renumber(made["post_processor"], numbers)
    folder.mkdir(parents=True, exist_ok=True)
    tokeniser.save_pretrained(folder)
    (folder / "vocab.txt").unlink(missing_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(made, ensure_ascii=False), encoding="utf-8")
    config = transformer.config.to_dict() | {"vocab_size": len(kept)}
    config["pad_token_id"] = numbers[tokeniser.pad_token_id]
    config.pop("_name_or_path", None)  # a folder of the machine that it was made on
    (folder / "config.json").write_text(json.dumps(config, indent=1, default=str) + "\n", encoding="utf-8")
    weights = dict(transformer.state_dict())
    pieces = _name_of(weights, transformer.get_input_embeddings().weight)
    weights[pieces] = weights[pieces][[old for old, _ in kept]]
    save_file(quantised(weights), folder / FILE)


def _name_of(weights: Mapping[str, Tensor], wanted: Tensor) -> str:
    return next(name for name, value in weights.items() if value.data_ptr() == wanted.data_ptr())


def _renumber(part: Any, numbers: Mapping[int, int]) -> None:
    """New numbers of the special pieces in a tokeniser's post-processor."""
    if part["type"] == "TemplateProcessing":
        for special in part["special_tokens"].values():
            special["ids"] = [numbers[old] for old in special["ids"]]
    else:
        for name in ("cls", "sep"):
            piece, old = part[name]
            part[name] = [piece, numbers[old]]


def quantised(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Matrices as int8 with a scale for each row; other tensors in single precision."""
    made: dict[str, Tensor] = {}
    for name, value in weights.items():
        if value.ndim == 2:
            scale = value.float().abs().amax(dim=1).clamp(min=1e-12) / 127
            made[name] = torch.round(value.float() / scale.unsqueeze(1)).to(torch.int8)
            made[name + _SCALE] = scale
        elif value.is_floating_point():
            made[name] = value.float().contiguous()
    return made


def read_weights(folder: Path) -> dict[str, Tensor]:
    """The weights in single precision. Raises OSError, SafetensorError or KeyError."""
    stored = load_file(folder / FILE)
    return {
        name: value.float() * stored[name + _SCALE].unsqueeze(1) if value.dtype == torch.int8 else value
        for name, value in stored.items()
        if not name.endswith(_SCALE)
    }
