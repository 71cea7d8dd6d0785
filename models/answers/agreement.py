"""How far a question's best documents agree: what a sentence says that other documents say, too.

What several documents say of a question is more often the answer than what one says. A sentence's support is
the cosine of its stems, weighted by counts and IDF and without those that were asked for, with the sum of the
other documents' sentences, each weighted by its selection score. It depends on which documents were found, as
the selection does; the ranker's own scores do not.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from bioqa.bioasq.domain import DEPTH, Document
from bioqa.models.answers.ranking import Ranking
from bioqa.models.answers.selection import Calibration, own_log_weights
from bioqa.models.arrays import Floats, Ints, concatenate
from bioqa.models.text.tokens import TokenisedDocument
from bioqa.models.text.vocabulary import STOP, Vocabulary

Tokens = Callable[[Sequence[Document]], list[TokenisedDocument]]


def with_support(
    ranking: Ranking, question: Ints, tokens: Tokens, vocabulary: Vocabulary, calibration: Calibration
) -> Ranking:
    """The ranking with the support of its ten best documents' sentences; ``asked``: the question's stems.

    A single document has none: there is nothing that could support it.
    """
    best = ranking.documents[:DEPTH]
    if len(best) < 2:
        return ranking
    logs = [own_log_weights(ranked, calibration) for ranked in best]
    highest = max(float(values.max(initial=-np.inf)) for values in logs)
    weights = [np.exp(log - highest) for log in logs]
    supports = support(question, tokens([ranked.document for ranked in best]), weights, vocabulary)
    supported = (
        replace(ranked, support=tuple(values.tolist())) for ranked, values in zip(best, supports, strict=True)
    )
    return replace(ranking, documents=(*supported, *ranking.documents[DEPTH:]))


def support(
    question: Ints, documents: Sequence[TokenisedDocument], weights: Sequence[Floats], vocabulary: Vocabulary
) -> list[Floats]:
    """[sentences] of each document, in [0, 1], from the weights [sentences] of each.

    Computed over pairs of a sentence and a stem that it has: memory grows with the text alone.
    """
    counts = concatenate(tokens.stem_counts for tokens in documents)
    lengths = [len(tokens.stem_counts) for tokens in documents]
    stems = concatenate(tokens.stems for tokens in documents)
    kept = (stems != STOP) & ~np.isin(stems, question)
    distinct, stem = np.unique(stems[kept], return_inverse=True)
    if not len(distinct):
        return [np.zeros(length) for length in lengths]
    pairs, times = np.unique(
        np.repeat(np.arange(len(counts)), counts)[kept] * len(distinct) + stem, return_counts=True
    )
    sentence, stem = np.divmod(pairs, len(distinct))
    values = (1 + np.log(times)) * vocabulary.stem_idf_of(distinct)[stem]
    values /= np.maximum(np.sqrt(np.bincount(sentence, values**2))[sentence], 1e-12)
    weighted = values * np.concatenate(weights)[sentence]
    total = np.bincount(stem, weighted, len(distinct))
    # What each document itself adds to the sum.
    document = np.repeat(np.arange(len(documents)), lengths)[sentence]
    of_documents, position = np.unique(document * len(distinct) + stem, return_inverse=True)
    own = np.bincount(position, weighted)
    owner, of_stem = np.divmod(of_documents, len(distinct))
    squares = float(total @ total) - np.bincount(owner, own * (2 * total[of_stem] - own), len(documents))
    shared = np.bincount(sentence, values * (total[stem] - own[position]), len(counts))
    # Rounding leaves a little where the other documents have nothing.
    alone = squares <= 1e-9 * float(total @ total)
    scale = np.where(alone, 0.0, 1 / np.sqrt(np.where(alone, 1.0, squares)))
    cosines = (shared * np.repeat(scale, lengths)).clip(0.0, 1.0)
    return np.split(cosines, np.cumsum(lengths)[:-1])
