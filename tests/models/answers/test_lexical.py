import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.bioasq.domain import Candidate
from bioqa.models.answers.lexical import CALIBRATION, rank_lexically
from bioqa.models.answers.ranking import Ranking
from bioqa.models.answers.selection import select
from tests.models.toys import GOLDEN, ToyIndex, document


def test_documents_stay_in_order_and_sentences_are_scored_by_bm25() -> None:
    candidates = [
        Candidate(document(5, "Statins.", "Statins lower cholesterol.", "Mice were used."), 9.0),
        Candidate(document(3, "Of mice.", "Cholesterol was lowered by a statin in the mice."), 7.5),
    ]
    found = rank_lexically("Does a statin lower the cholesterol?", candidates)
    assert [(d.document.pmid, d.score) for d in found.documents] == [("5", 9.0), ("3", 7.5)]
    # Stems of the question: statin, lower, cholesterol, in 3, 2 and 2 of the five sentences.
    idf = [math.log(1 + (5 - n + 0.5) / (n + 0.5)) for n in (3, 2, 2)]
    lengths = [1, 3, 2, 1, 4]  # stop words left out

    def bm25(length: int, weights: list[float]) -> float:
        norm = 1.2 * (0.25 + 0.75 * length / (sum(lengths) / 5))
        return sum(weight * 2.2 / (1 + norm) for weight in weights)

    expected = [bm25(1, idf[:1]), bm25(3, idf), 0.0, 0.0, bm25(4, idf)]
    scores = [score for d in found.documents for score in d.sentence_scores]
    assert scores == pytest.approx(expected, rel=1e-5)


def test_the_sentence_that_answers_comes_first() -> None:
    for gold in GOLDEN:
        body = gold.question.body
        chosen = select(rank_lexically(body, ToyIndex().search(body)), CALIBRATION).sentences
        assert chosen[0].document.snippet(chosen[0].sentence) in gold.snippets


@given(st.text(), st.lists(st.tuples(st.text(), st.text(min_size=1)), max_size=4))
def test_any_question_and_any_text(question: str, texts: list[tuple[str, str]]) -> None:
    candidates = [Candidate(document(n, *text), float(-n)) for n, text in enumerate(texts, start=1)]
    found = rank_lexically(question, candidates)
    assert [d.document for d in found.documents] == [c.document for c in candidates]
    for ranked in found.documents:
        assert len(ranked.sentence_scores) == len(ranked.document.sentences)
        assert np.isfinite(ranked.sentence_scores).all()


def test_nothing_to_rank() -> None:
    assert rank_lexically("Which drug?", []) == Ranking(())
