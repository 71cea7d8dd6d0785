"""An encoder in a quarter of its size: eight-bit weights, and only the word pieces that are used.

Each row of a matrix is stored as whole numbers from -127 to 127 with one scale; what is not a matrix stays in
single precision. Loaded, the encoder is one in single precision like any other, and close to what it was.
``bench.bundling`` writes it.
"""

from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

FILE = "model.int8.safetensors"
SCALE = ".scale"
"""What the name of a matrix's scales ends in."""


def read_weights(folder: Path) -> dict[str, Tensor]:
    """The weights in single precision. Raises OSError, SafetensorError or KeyError."""
    stored = load_file(folder / FILE)
    return {
        name: value.float() * stored[name + SCALE].unsqueeze(1) if value.dtype == torch.int8 else value
        for name, value in stored.items()
        if not name.endswith(SCALE)
    }
