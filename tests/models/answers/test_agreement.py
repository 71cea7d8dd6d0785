"""How far documents agree: against a plain computation, and what must hold of every ranking."""

import math
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bioqa.bioasq.domain import Candidate, Document
from bioqa.models.answers.agreement import support, with_support
from bioqa.models.answers.ranking import RankedDocument, Ranking
from bioqa.models.answers.selection import (
    UNKNOWN_SUPPORT,
    Calibration,
    SelectionLimits,
    log_weights,
    own_log_weights,
    select,
)
from bioqa.models.reranker import Reranker
from bioqa.models.text.tokens import tokenise_documents, tokenise_question
from bioqa.models.text.vocabulary import STOP, Vocabulary
from tests.models.toys import document

WORDS = st.sampled_from(
    ["aspirin", "asthma", "gene", "the", "kidney", "of", "statin", "zzzyx", "lung", "mice"]
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
DOCUMENTS = st.lists(st.lists(SENTENCES, max_size=4), min_size=2, max_size=4)
CALIBRATION = Calibration(agreement=3.0)


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Reranker.load("soft").vocabulary


def _documents(texts: list[list[str]]) -> list[Document]:
    return [document(number, "", *sentences) for number, sentences in enumerate(texts, 1)]


def _plainly(
    asked: set[int], vectors: list[list[Counter[int]]], weights: list[list[float]], idf: dict[int, float]
) -> list[list[float]]:
    """The same, written as the docstring says it."""

    def unit(counts: Counter[int]) -> dict[int, float]:
        made = {
            stem: (1 + math.log(count)) * idf[stem]
            for stem, count in counts.items()
            if stem not in asked and stem != STOP
        }
        length = math.sqrt(sum(value**2 for value in made.values())) or 1.0
        return {stem: value / length for stem, value in made.items()}

    units = [[unit(counts) for counts in sentences] for sentences in vectors]
    found = []
    for number, own in enumerate(units):
        others: defaultdict[int, float] = defaultdict(float)
        for other, (sentences, of_other) in enumerate(zip(units, weights, strict=True)):
            if other != number:
                for each, weight in zip(sentences, of_other, strict=True):
                    for stem, value in each.items():
                        others[stem] += weight * value
        length = math.sqrt(sum(value**2 for value in others.values())) or 1.0
        found.append([sum(v * others[stem] for stem, v in each.items()) / length for each in own])
    return found


@given(texts=DOCUMENTS, question=SENTENCES, seed=st.integers(0, 9))
def test_support_is_the_cosine_with_what_other_documents_say(
    vocabulary: Vocabulary, texts: list[list[str]], question: str, seed: int
) -> None:
    tokens = tokenise_documents(_documents(texts), vocabulary)
    asked = tokenise_question(question, vocabulary).stems
    generator = np.random.default_rng(seed)
    weights = [generator.random(len(each.stem_counts)) + 0.1 for each in tokens]
    vectors = [
        [Counter(part.tolist()) for part in np.split(each.stems, np.cumsum(each.stem_counts)[:-1])]
        if len(each.stem_counts)
        else []
        for each in tokens
    ]
    distinct = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(each.stems for each in tokens)]))
    idf = dict(zip(distinct.tolist(), vocabulary.stem_idf_of(distinct).tolist(), strict=True))
    expected = _plainly({*asked.tolist()}, vectors, [each.tolist() for each in weights], idf)
    found = support(asked, tokens, weights, vocabulary)
    assert [len(each) for each in found] == [len(each.stem_counts) for each in tokens]
    for each, wanted in zip(found, expected, strict=True):
        assert each.tolist() == pytest.approx(wanted, abs=1e-6)


def test_what_several_documents_say_is_supported() -> None:
    ranker = Reranker.load("soft")
    documents = _documents(
        [
            ["Aspirin causes asthma in some.", "Mice were fed."],
            ["Asthma after aspirin is known.", "Statin doses vary."],
            ["Nothing is known of kidneys."],
        ]
    )
    ranking = ranker.rank("What is a trigger?", [Candidate(each, 1.0) for each in documents])
    by_pmid = {ranked.document.pmid: ranked.support for ranked in ranking.documents}
    assert min(by_pmid["1"][-2], by_pmid["2"][-2]) > max(by_pmid["1"][-1], by_pmid["2"][-1])


def test_a_single_document_has_no_support(vocabulary: Vocabulary) -> None:
    (only,) = _documents([["Aspirin causes asthma."]])
    ranking = Ranking((RankedDocument(only, 1.0, (0.5,) * only.sentence_count),))
    asked = tokenise_question("asthma", vocabulary).stems
    made = with_support(
        ranking, asked, lambda found: tokenise_documents(found, vocabulary), vocabulary, CALIBRATION
    )
    assert made == ranking
    shift = CALIBRATION.agreement * (UNKNOWN_SUPPORT - 1)
    assert log_weights(made.documents[0], CALIBRATION).tolist() == pytest.approx(
        (own_log_weights(made.documents[0], CALIBRATION) + shift).tolist()
    )


def test_a_rankers_own_scores_do_not_depend_on_other_documents() -> None:
    ranker = Reranker.load("soft")
    documents = _documents([["Aspirin causes asthma."], ["Asthma is caused by aspirin."]])
    candidates = [Candidate(each, 1.0) for each in documents]
    together = {d.document.pmid: d for d in ranker.rank("aspirin", candidates).documents}
    for candidate in candidates:
        (alone,) = ranker.rank("aspirin", [candidate]).documents
        other = together[candidate.document.pmid]
        assert alone.sentence_scores == pytest.approx(other.sentence_scores, abs=1e-5)
        assert alone.support == ()
        assert other.support


@settings(max_examples=40)
@given(texts=DOCUMENTS, agreement=st.floats(0, 6))
def test_agreement_counts_as_much_as_it_weighs(texts: list[list[str]], agreement: float) -> None:
    ranked = tuple(
        RankedDocument(
            each,
            -number / 10,
            tuple(0.1 * place for place in range(each.sentence_count)),
            support=tuple(0.5 / (1 + place) for place in range(each.sentence_count)),
        )
        for number, each in enumerate(_documents(texts))
    )
    calibration = Calibration(agreement=agreement)
    selection = select(Ranking(ranked), calibration, SelectionLimits(10, 99))
    scores = [each.score for each in selection.sentences]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    without = replace(calibration, agreement=0.0)
    plain = {
        (each.document.pmid, each.sentence): each.score
        for each in select(Ranking(ranked), without, SelectionLimits(10, 99)).sentences
    }
    by_pmid = {each.document.pmid: each for each in ranked}
    for each in selection.sentences:
        place = each.document.sentences.index(each.sentence)
        factor = math.exp(agreement * (by_pmid[each.document.pmid].support[place] - 1))
        assert each.score == pytest.approx(plain[each.document.pmid, each.sentence] * factor)
