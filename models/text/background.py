"""What is known of words whatever the ranker and index: how rare they are in biomedical English, and whether
they are words of everyday English.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from safetensors import safe_open

from bioqa.models.bundled import DEFAULT, WEIGHTS
from bioqa.models.text.words import stems_without_accents


@dataclass(frozen=True, slots=True)
class Background:
    """``idf``: by stem."""

    idf: dict[str, float]
    unknown: float
    """The IDF of a stem that the vocabulary does not have: that of its rarest."""
    everyday: frozenset[str]
    """Words that BERT's word pieces, which were chosen for Wikipedia and novels, have whole. The
    bundled pieces are those that MEDLINE has, too."""

    def weight(self, stemmed: str) -> float:
        return self.idf.get(stemmed, self.unknown)

    @classmethod
    def load(cls, folder: Path, pieces: Path) -> "Background":
        """Read only what is needed of a vocabulary's folder and the names of word pieces: no vectors."""
        terms = (folder / "terms.txt").read_text(encoding="utf-8").split("\n")
        with safe_open(folder / "vocabulary.safetensors", framework="numpy") as tensors:
            of_stems = tensors.get_tensor("stem_idf").tolist()
            stems = tensors.get_tensor("term_stems").tolist()
        names, _ = stems_without_accents(terms, stems)
        idf = {name: of_stems[number] for name, number in names.items()}
        everyday = frozenset(filter(str.isalpha, pieces.read_text(encoding="utf-8").split("\n")))
        return cls(idf, max(of_stems), everyday)


@cache
def background() -> Background:
    """That of the bundled vocabulary, read once. Takes a second if no ranker with its stems is loaded yet."""
    (folder,) = WEIGHTS.glob("vocabulary-*")
    return Background.load(folder, WEIGHTS / DEFAULT / "pieces.txt")
