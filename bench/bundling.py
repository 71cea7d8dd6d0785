"""Make of newly trained rankers what the package bundles: smaller folders with the same scores, or nearly so.

    python -m bench.bundling vocabulary CHECKPOINT
    python -m bench.bundling cascade CASCADE OUTPUT --index DIR

A checkpoint's vocabulary moves into a folder beside it, which all that were trained with it share. The
encoder of a cascade is stored with eight bits, and with the word pieces that the citations of an index have.
"""

import argparse
import json
import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.models import bundled, checkpoint
from bioqa.models.cascade import files
from bioqa.models.cascade.ranker import Cascade, CascadeError
from bioqa.models.config import write_config
from bioqa.models.encoders.compact import FILE, SCALE
from bioqa.models.encoders.loading import open_encoder
from bioqa.models.folders import written_whole
from bioqa.models.reranker import Reranker
from bioqa.models.text import vocabulary as vocabularies
from bioqa.system.errors import BioqaError


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("vocabulary").add_argument("checkpoint", type=Path)
    of_cascade = commands.add_parser("cascade")
    of_cascade.add_argument("cascade", type=Path)
    of_cascade.add_argument("output", type=Path)
    of_cascade.add_argument("--index", type=Path, required=True, help="whose citations' pieces are kept")
    options = parser.parse_args()
    if options.command == "vocabulary":
        print(share_vocabulary(options.checkpoint))
        return
    transformer, tokeniser, _ = open_encoder(str(options.cascade / "encoder"))
    cascade = files.load(options.cascade, device="cpu", as_stored=True)
    with TantivyIndex.open(options.index) as index:
        texts = (f"{document.title} {document.abstract}" for document in index.documents())
        save_compact(cascade, tokeniser, texts, options.output, transformer)


def share_vocabulary(folder: Path) -> Path:
    """Move a checkpoint's vocabulary into a folder beside it, and return that folder.

    For rankers that come with the package: those trained with the same vocabulary then share one copy.
    """
    if checkpoint.read_config(folder).get("vocabulary") is not None:
        return checkpoint.vocabulary_folder(folder, checkpoint.read_config(folder))
    shared = vocabularies.files_fingerprint(folder)
    beside = folder.with_name(f"vocabulary-{shared[:8]}")
    if not beside.exists():
        with written_whole(beside) as unfinished:
            for name in vocabularies.FILES:
                shutil.copyfile(folder / name, unfinished / name)
    config = {**checkpoint.read_config(folder), "vocabulary": {"folder": beside.name, "sha256": shared}}
    write_config(folder, config)
    for name in vocabularies.FILES:
        (folder / name).unlink()
    return beside


def save_compact(
    cascade: Cascade,
    tokeniser: Any,
    texts: Iterable[str],
    folder: Path,
    transformer: nn.Module | None = None,
) -> None:
    """Write the cascade as it is bundled: compact, with the word pieces of ``texts``.

    Raises BioqaError if its first ranker is not a bundled one, or its tokeniser's model is not WordPiece.
    """
    first = cascade.first
    if first.name not in bundled.available() or Reranker.load(first.name).hash != first.hash:
        raise CascadeError(f"its first ranker {first.name} is not bundled")
    used = used_pieces(tokeniser, texts)
    with written_whole(folder) as unfinished:
        write_compact(files.transformer_of(cascade, transformer), tokeniser, used, unfinished / "encoder")
        files.write_rest(cascade, unfinished, {"first": {"bundled": first.name, "hash": first.hash}})


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
    save_file(quantise(weights), folder / FILE)


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


def quantise(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Matrices as int8 with a scale for each row; other tensors in single precision."""
    made: dict[str, Tensor] = {}
    for name, value in weights.items():
        if value.ndim == 2:
            scale = value.float().abs().amax(dim=1).clamp(min=1e-12) / 127
            made[name] = torch.round(value.float() / scale.unsqueeze(1)).to(torch.int8)
            made[name + SCALE] = scale
        elif value.is_floating_point():
            made[name] = value.float().contiguous()
    return made


if __name__ == "__main__":
    main()
