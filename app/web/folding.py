"""What of an abstract is shown before a reader unfolds it: the chosen sentences and their neighbours."""

from collections.abc import Collection, Sequence
from itertools import pairwise

from bioqa.bioasq.domain import Document, Sentence

Span = tuple[int, int]

SHORT = 400
"""An abstract of so many characters is shown as a whole."""


def shown_spans(document: Document, chosen: Collection[Sentence], scores: Sequence[float]) -> list[Span]:
    """Return the parts of the abstract that are shown, in order.

    Without a chosen sentence in the abstract, that is the one with the best score; without scores, the first.
    """
    whole = [(0, len(document.abstract))]
    sentences = [sentence for sentence in document.sentences if sentence.section == "abstract"]
    if len(document.abstract) <= SHORT or not sentences:
        return whole
    positions = [position for position, sentence in enumerate(sentences) if sentence in chosen]
    if positions:
        near = {near for position in positions for near in (position - 1, position, position + 1)}
    else:
        # The scores are in the order of the document's sentences, those of the title first.
        own = scores[-len(sentences) :] if len(scores) == len(document.sentences) else ()
        near = {own.index(max(own)) if own else 0}
    return _join(
        [sentences[position] for position in sorted(near) if 0 <= position < len(sentences)], sentences
    )


def _join(shown: Sequence[Sentence], sentences: Sequence[Sentence]) -> list[Span]:
    """Spans of sentences, with the space between those that follow each other."""
    following = dict(pairwise(sentences))
    spans: list[Span] = []
    for sentence in shown:
        after = following.get(sentence)
        end = sentence.end if after is None else after.begin
        if spans and spans[-1][1] >= sentence.begin:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((sentence.begin, end))
    return spans
