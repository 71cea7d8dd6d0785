"""A BERT of two layers, sixteen numbers wide, with random weights, and its files."""

import json
import string
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import torch
from tokenizers import BertWordPieceTokenizer
from transformers import BertConfig, BertModel

from bioqa.models.encoders.encoder import Encoder
from bioqa.models.rankers.registry import ARCHITECTURES
from bioqa.models.rankers.settings import RankerSettings

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def write_tiny(folder: Path, words: Iterable[str] = (), *, positions: int = 64, seed: int = 0) -> Path:
    """Writes config, weights and tokeniser; ``words`` are pieces of their own, all others fall to letters."""
    letters = string.ascii_lowercase + string.digits + "?.,-–∞ζ"
    pieces = dict.fromkeys([*SPECIAL, *letters, *(f"##{c}" for c in letters), *words])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    BertWordPieceTokenizer(str(folder / "vocab.txt")).save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": positions}
    named = {f"{name[1:-1].lower()}_token": name for name in SPECIAL}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | named))
    config = BertConfig(
        vocab_size=len(pieces),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=24,
        max_position_embeddings=positions,
        pad_token_id=0,
        # Large, so that layers, places and words differ much more than rounding.
        initializer_range=0.5,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


@cache
def _shared_folder() -> Path:
    return write_tiny(Path(mkdtemp(prefix="tiny-encoder-")), positions=512)


def toy_encoder() -> Encoder:
    """A new one every time, of the same weights."""
    return Encoder.load(str(_shared_folder()), device="cpu")


def encoder_for(settings: RankerSettings) -> Encoder | None:
    return None if ARCHITECTURES[settings.ranker].reads == "vectors" else toy_encoder()


def tiny_encoder(folder: Path, words: Iterable[str] = (), *, positions: int = 64) -> Encoder:
    return Encoder.load(str(write_tiny(folder, words, positions=positions)), device="cpu")
