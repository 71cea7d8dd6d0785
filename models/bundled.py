"""The checkpoints that come with the package. Imported without torch, so that settings can name them.

``deep`` is a cascade (bioqa.models.cascade.files) over ``soft``. The others share one vocabulary, which
``bench.bundling`` moves out of a newly trained one.
"""

from pathlib import Path

WEIGHTS = Path(__file__).parent / "weights"
DEFAULT = "soft"
"""The ranker that is used if none is named."""


def folder_of(name_or_folder: str | Path) -> Path:
    """The folder of a bundled ranker, given by its name; of any other, what is given."""
    return WEIGHTS / name_or_folder if str(name_or_folder) in available() else Path(name_or_folder)


def available() -> list[str]:
    """Names of the bundled rankers."""
    return sorted(path.parent.name for path in WEIGHTS.glob("*/config.json"))


VECTOR_ENCODER = "meaning"
"""The encoder of vectors that is used if none is named."""


def vector_encoder(name_or_folder: str) -> str:
    """The folder of the bundled encoder of vectors, given by its name; of any other, what is given."""
    folder = WEIGHTS / name_or_folder
    is_bundled = name_or_folder == VECTOR_ENCODER and (folder / "vectors.json").is_file()
    return str(folder) if is_bundled else name_or_folder
