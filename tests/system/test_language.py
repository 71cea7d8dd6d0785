"""Languages by code and name."""

import subprocess
import sys

from bioqa.system.language import NAMES


def test_codes_are_those_of_iso_639_1() -> None:
    assert all(len(code) == 2 and code.islower() and code.isascii() for code in NAMES)
    assert len(set(NAMES.values())) == len(NAMES)
    assert "en" not in NAMES


def test_neither_languages_nor_confidence_load_nltk() -> None:
    code = "import sys, bioqa.models.answers.confidence; assert 'nltk' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
