"""Articles that are like another one, found by its title and the words that its abstract repeats."""

from collections import Counter

from bioqa.bioasq.domain import Candidate, Document
from bioqa.indexer.search.base import SearchIndex

MOST_WORDS = 40
"""Words of a title, and of an abstract: further ones cost time and find nothing else."""

REPEATED = 2
"""How often a word must occur in the abstract to say what it is about."""


def similar(index: SearchIndex, document: Document, size: int) -> list[Candidate]:
    """Return the ``size`` best articles by BM25, without the article itself."""
    candidates = index.search(best_words(document.title, document.abstract), size + 1)
    return [candidate for candidate in candidates if candidate.document.pmid != document.pmid][:size]


def best_words(title: str, abstract: str) -> str:
    """Return the words of the title, then those that the abstract repeats, the most frequent first."""
    # nltk takes half a second to import, which no start of a command should wait for.
    from bioqa.models.text.words import stem, terms

    in_title = terms(title)[:MOST_WORDS]
    counts = Counter(term for term in terms(abstract) if len(term) > 2 and stem(term))
    repeated = [word for word, count in counts.most_common(MOST_WORDS) if count >= REPEATED]
    return " ".join(dict.fromkeys([*in_title, *repeated]))
