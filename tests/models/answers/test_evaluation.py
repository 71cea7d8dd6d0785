import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.bioasq.domain import PUBMED_URL, Question, Response
from bioqa.bioasq.measures import document_measures, evaluate
from bioqa.models.answers.evaluation import SentenceCase, mean_average_precision, measure, sentence_auc
from bioqa.models.answers.ranking import RankedDocument, Ranking
from bioqa.models.answers.selection import Calibration, select
from tests.models.toys import GOLDEN, ToyIndex, snippet


@given(st.lists(st.tuples(st.lists(st.booleans(), max_size=15), st.integers(0, 14)), max_size=4))
def test_document_map_is_that_of_edition_8(questions: list[tuple[list[bool], int]]) -> None:
    by_rank = [np.array(ranks, dtype=np.bool_) for ranks, _ in questions]
    counts = [sum(ranks) + missed for ranks, missed in questions]
    expected = []
    for ranks, missed in questions:
        found = [f"{PUBMED_URL}{i}" for i in range(len(ranks))]
        gold = [url for url, relevant in zip(found, ranks, strict=True) if relevant]
        gold += [f"{PUBMED_URL}{1000 + i}" for i in range(missed)]
        expected.append(document_measures(gold, found[:10], 8).average_precision)
    assert mean_average_precision(by_rank, counts) == pytest.approx(sum(expected) / max(1, len(expected)))


@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=8), max_size=4))
def test_auc_is_the_share_of_pairs_in_the_right_order(documents: list[list[tuple[int, bool]]]) -> None:
    areas = []
    for sentences in documents:
        positive = [score for score, label in sentences if label]
        negative = [score for score, label in sentences if not label]
        pairs = [(p > n) + (p == n) / 2 for p in positive for n in negative]
        if pairs:
            areas.append(sum(pairs) / len(pairs))
    cases = [
        SentenceCase(
            np.array([score for score, _ in sentences], dtype=np.float32),
            np.array([label for _, label in sentences], dtype=np.bool_),
        )
        for sentences in documents
    ]
    assert sentence_auc(cases) == pytest.approx(sum(areas) / len(areas) if areas else 0.0)


def _ranking(gold: Response, index: ToyIndex) -> Ranking:
    found = index.search(gold.question.body)
    return Ranking(
        tuple(
            RankedDocument(c.document, c.score, tuple(float(-i) for i in range(len(c.document.sentences))))
            for c in found
        )
    )


def test_a_response_names_the_selected_documents_and_sentences(index: ToyIndex) -> None:
    gold = GOLDEN[0]
    selection = select(_ranking(gold, index), Calibration())
    response = selection.response(gold.question)
    assert response.question is gold.question
    assert response.documents == tuple(d.document.url for d in selection.documents)
    assert response.snippets == tuple(snippet(s.document, s.sentence) for s in selection.sentences)
    assert len(response.documents) == len(response.snippets) == 10


@pytest.mark.parametrize("edition", [5, 8])
def test_measures_are_the_official_ones(index: ToyIndex, edition: int) -> None:
    rankings = [_ranking(gold, index) for gold in GOLDEN]
    scalars = Calibration(2.0, -1.0, 0.5)
    found = measure(rankings, GOLDEN, scalars, edition)
    answers = [select(r, scalars).response(g.question) for g, r in zip(GOLDEN, rankings, strict=True)]
    official = evaluate(GOLDEN, answers, edition)
    assert [q.id for q in found] == [g.question.id for g in GOLDEN]
    assert np.mean([q.documents.average_precision for q in found]) == pytest.approx(official.documents.map)
    assert np.mean([q.snippets.f1 for q in found]) == pytest.approx(official.snippets.f1)
    assert np.mean([q.snippets.average_precision for q in found]) == pytest.approx(official.snippets.map)
    assert official.documents.map > 0


def test_questions_without_candidates_score_nought_and_stay() -> None:
    gold = Response(Question("q", "?"), (PUBMED_URL + "1",), ())
    (found,) = measure([Ranking(())], [gold], Calibration())
    assert (found.id, found.documents.average_precision, found.documents.gold) == ("q", 0.0, 1)


def test_rankings_and_questions_must_be_as_many() -> None:
    with pytest.raises(ValueError, match="shorter"):
        measure([Ranking(())], GOLDEN[:2], Calibration())
