"""The checkpoints that come with the package; read without torch."""

from pathlib import Path

WEIGHTS = Path(__file__).parent / "weights"
DEFAULT = "soft"
"""The ranker of whoever names none."""


def available() -> list[str]:
    """Their names."""
    return sorted(path.parent.name for path in WEIGHTS.glob("*/config.json"))
