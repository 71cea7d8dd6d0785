"""Dataclasses of answers are the schema of what is returned: their docstrings are its descriptions."""

from pydantic import ConfigDict

DESCRIBED_BY_DOCSTRINGS = ConfigDict(use_attribute_docstrings=True)
"""For a dataclass, as ``__pydantic_config__``."""
