"""A second reading: what it may change, what it must leave, and that it prefers what answers."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bioqa.bioasq.domain import Candidate, Document
from bioqa.models.answers import aptness
from bioqa.models.answers.aptness import COLUMNS, Aptness, columns, flags_of, level, with_aptness
from bioqa.models.answers.asked import FLAGS
from bioqa.models.answers.ranking import Ranking
from bioqa.models.answers.selection import first_log_weights, log_weights, select
from bioqa.models.reranker import Reranker
from bioqa.models.text.tokens import TokenisedQuestion, tokenise_question
from tests.models.toys import document

QUESTION = "Does aspirin lower mortality in zelosis?"
ABSTRACT = (
    "Zelosis is a common disease of the lung, and its treatment remains controversial.",
    "The aim of this study was to determine whether aspirin lowers mortality in zelosis.",
    "Patients were recruited from clinics, and mortality was measured with a questionnaire.",
    "Mortality was 12% in the aspirin group and 25% in the placebo group (p = 0.01).",
    "In conclusion, aspirin reduced mortality significantly and should be given to patients with zelosis.",
)
DOCUMENTS = (
    document(1, "Aspirin in zelosis: a randomised trial.", *ABSTRACT),
    document(2, "Is aspirin useful in zelosis?", "Aspirin is an old drug."),
    document(3, "Zelosis.", "METHODS:", "Twelve mice were studied.", "They recovered."),
    document(4),
    document(5, "...", "?", "ζ – ∞"),
)


@pytest.fixture(scope="module")
def soft() -> Reranker:
    return Reranker.load("soft")


def _candidates(documents: Sequence[Document] = DOCUMENTS) -> list[Candidate]:
    return [Candidate(each, 10.0 - place) for place, each in enumerate(documents)]


def _plain(soft: Reranker, question: str, documents: Sequence[Document] = DOCUMENTS) -> Ranking:
    ranking = soft.rank(question, _candidates(documents))
    return Ranking(tuple(replace(each, aptness=(), relevance=()) for each in ranking.documents))


def _tokens(soft: Reranker, question: str = QUESTION) -> TokenisedQuestion:
    return tokenise_question(question, soft.vocabulary)


def test_aims_and_titles_stand_below_what_they_ask_for(soft: Reranker) -> None:
    selection = select(soft.rank(QUESTION, _candidates()), soft.calibration)
    first = [sentence.text for sentence in selection.sentences[:2]]
    assert {*first} == {*ABSTRACT[3:]}
    without = select(_plain(soft, QUESTION), replace(soft.calibration, aptness=0.0))
    assert {sentence.text for sentence in without.sentences[:2]} != {*first}


@pytest.mark.parametrize("question", [QUESTION, "", "?!", "zelosis " * 300, "what is 12%?"])
def test_documents_and_the_rankers_scores_stay(soft: Reranker, question: str) -> None:
    plain = _plain(soft, question)
    read = with_aptness(
        plain, question, _tokens(soft, question), soft.tokens, soft.vocabulary, soft.calibration
    )
    assert Ranking(tuple(replace(each, aptness=(), relevance=()) for each in read.documents)) == plain
    for each in read.documents:
        assert len(each.aptness) == len(each.relevance) == len(each.sentence_scores)
        assert np.isfinite([*each.aptness, *each.relevance]).all()


def test_where_it_does_not_count_nothing_is_read(soft: Reranker) -> None:
    plain = _plain(soft, QUESTION)
    off = replace(soft.calibration, aptness=0.0)
    assert with_aptness(plain, QUESTION, _tokens(soft), soft.tokens, soft.vocabulary, off) is plain
    without_pieces = replace(soft.vocabulary, pieces=None)
    assert (
        with_aptness(plain, QUESTION, _tokens(soft), soft.tokens, without_pieces, soft.calibration) is plain
    )
    none = Ranking(())
    assert with_aptness(none, QUESTION, _tokens(soft), soft.tokens, soft.vocabulary, soft.calibration) is none


def test_the_best_weight_of_a_question_stays_as_high(soft: Reranker) -> None:
    ranking = soft.rank(QUESTION, _candidates())
    of_all = [
        np.concatenate([weigh(each, soft.calibration) for each in ranking.documents])
        for weigh in (first_log_weights, log_weights)
    ]
    assert of_all[0].max() == pytest.approx(of_all[1].max())
    assert level(np.zeros(0), np.zeros(0)).tolist() == []


def test_only_the_ten_best_are_read_again(soft: Reranker) -> None:
    many = [document(number, "Aspirin in zelosis.", *ABSTRACT[3:]) for number in range(1, 13)]
    ranking = soft.rank(QUESTION, _candidates(many))
    assert [bool(each.aptness) for each in ranking.documents] == [True] * 10 + [False] * 2


def test_what_a_document_has_of_its_own_does_not_depend_on_the_others(soft: Reranker) -> None:
    ranking = _plain(soft, QUESTION).documents
    tokens = soft.tokens([each.document for each in ranking])
    together = columns(QUESTION, _tokens(soft), ranking, tokens, soft.vocabulary, soft.calibration)
    of_others = [COLUMNS.index(name) for name in ("below_first", "place", "below_best")]
    own = np.delete(np.arange(len(COLUMNS)), of_others)
    begin = 0
    for each, of_one in zip(ranking, tokens, strict=True):
        alone = columns(QUESTION, _tokens(soft), [each], [of_one], soft.vocabulary, soft.calibration)
        end = begin + len(alone)
        assert together[begin:end, own] == pytest.approx(alone[:, own], abs=1e-5)
        begin = end
    assert begin == len(together)


def test_a_flag_adds_its_slopes() -> None:
    slopes = np.zeros((1 + len(FLAGS), len(COLUMNS)))
    title = COLUMNS.index("title")
    slopes[0, title], slopes[1 + FLAGS.index("harm"), title] = 1.0, 2.0
    model = Aptness(np.zeros(len(COLUMNS)), np.ones(len(COLUMNS)), slopes, slopes)
    rows = np.zeros((2, len(COLUMNS)))
    rows[0, title] = 1.0
    for question, wanted in (("zelosis", 1.0), ("is it safe", 3.0)):
        apt, relevant = model(rows, flags_of(question))
        assert apt[0] - apt[1] == relevant[0] - relevant[1] == wanted


def test_a_saved_model_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    aptness.load_model().save(tmp_path / "aptness.safetensors")
    monkeypatch.setattr(aptness, "FITTED", tmp_path / "aptness.safetensors")
    loaded = aptness.load_model.__wrapped__()
    assert loaded.apt.tolist() == aptness.load_model().apt.tolist()
    assert loaded.apt.shape == loaded.relevant.shape == (1 + len(FLAGS), len(COLUMNS))
