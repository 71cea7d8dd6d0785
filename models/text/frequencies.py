"""How rare a term is in a corpus."""

import numpy as np

from bioqa.models.arrays import Floats, Ints


def inverse_document_frequencies(having: Floats | Ints, total: int) -> Floats:
    """[terms] ln(1 + (N - df + .5) / (df + .5)) of N texts in all, df of which have the term."""
    idf: Floats = np.log1p((total - having + 0.5) / (having + 0.5))
    return idf
