"""Which sentences of a document are relevant: those that a gold snippet covers."""

from collections.abc import Iterable

import numpy as np

from bioqa.bioasq.domain import Document, Snippet
from bioqa.models.arrays import Booleans


def sentence_labels(document: Document, snippets: Iterable[Snippet]) -> Booleans:
    """[sentences] True if a gold snippet overlaps by at least half of the sentence or half of the snippet.

    The papers compare cleaned texts. Exact offsets give the same labels, and do not confuse two sentences of
    the same text.
    """
    spans = [
        (s.begin_section, s.begin, s.end)
        for s in snippets
        if s.document == document.url and s.begin_section == s.end_section and s.begin < s.end
    ]
    labels = np.zeros(len(document.sentences), dtype=np.bool_)
    for row, sentence in enumerate(document.sentences):
        for section, begin, end in spans:
            shared = min(end, sentence.end) - max(begin, sentence.begin)
            shorter = min(end - begin, sentence.end - sentence.begin)
            if section == sentence.section and shared > 0 and 2 * shared >= shorter:
                labels[row] = True
    return labels
