"""Articles that are like another one: by its title and the words that its abstract repeats, and by its vector
if the index has any.
"""

import logging
from collections import Counter
from dataclasses import dataclass

from bioqa.app.answers.fusion import FoundBy, found_by, fused_score
from bioqa.app.answers.vectors import near_article, remove_folders
from bioqa.bioasq.domain import Candidate, Document
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.vectors.file import VectorsError

log = logging.getLogger("bioqa")

MOST_WORDS = 40
"""Words of a title, and of an abstract: further ones cost time and find nothing else."""

REPEATED = 2
"""How often a word must occur in the abstract to say what it is about."""

LISTED = 100
"""Articles of each list that are fused."""


@dataclass(frozen=True, slots=True)
class SimilarArticle:
    document: Document
    found_by: FoundBy | None
    """Its ranks in both lists; None if vectors were not used."""


@dataclass(frozen=True, slots=True)
class SimilarArticles:
    """The most similar first."""

    articles: tuple[SimilarArticle, ...]
    problem: str | None = None
    """Why vectors were not used, though there are some."""


def similar(index: SearchIndex, document: Document, size: int) -> SimilarArticles:
    """Return the ``size`` best articles by words and vectors, without the article itself; by BM25 alone if
    vectors cannot be used, or if there is none of this article.

    Raises what the index raises.
    """
    by_words = _by_words(index, document, max(size, LISTED))
    problem = None
    try:
        articles = _by_both(index, document, by_words, size)
        if articles is not None:
            return SimilarArticles(articles)
    except VectorsError as error:
        problem = remove_folders(str(error))
        log.warning("%s; similar articles are found by words alone", error)
    found = (SimilarArticle(candidate.document, None) for candidate in by_words[:size])
    return SimilarArticles(tuple(found), problem)


def _by_words(index: SearchIndex, document: Document, size: int) -> list[Candidate]:
    candidates = index.search(best_words(document.title, document.abstract), size + 1)
    return [candidate for candidate in candidates if candidate.document.pmid != document.pmid][:size]


def _by_both(
    index: SearchIndex, document: Document, by_words: list[Candidate], size: int
) -> tuple[SimilarArticle, ...] | None:
    """None if the article has no vector. Raises VectorsError."""
    candidates = {candidate.document.pmid: candidate for candidate in by_words}
    nearest = near_article(index, document.pmid, max(size, LISTED), candidates)
    if nearest is None:
        return None
    near, near_documents = nearest
    documents = {**near_documents, **{pmid: item.document for pmid, item in candidates.items()}}
    places = found_by([*candidates], {neighbour.pmid: neighbour.cosine for neighbour in near})
    best = sorted(places, key=lambda pmid: (-fused_score(places[pmid]), int(pmid)))[:size]
    return tuple(SimilarArticle(documents[pmid], places[pmid]) for pmid in best)


def best_words(title: str, abstract: str) -> str:
    """Return the words of the title, then those that the abstract repeats, the most frequent first."""
    # nltk takes half a second to import, which no start of a command should wait for.
    from bioqa.models.text.words import stem, terms

    in_title = terms(title)[:MOST_WORDS]
    counts = Counter(term for term in terms(abstract) if len(term) > 2 and stem(term))
    repeated = [word for word, count in counts.most_common(MOST_WORDS) if count >= REPEATED]
    return " ".join(dict.fromkeys([*in_title, *repeated]))
