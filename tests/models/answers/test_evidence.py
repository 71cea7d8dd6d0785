"""Whether an answer answers, from what the question and the best documents share."""

import json
import math
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bioqa.bioasq.domain import Candidate, Document
from bioqa.indexer.medline.sentences import sentences_of
from bioqa.models.answers.confidence import Confidence
from bioqa.models.answers.evidence import (
    ASKING,
    FITTED,
    AnswerEvidence,
    Estimator,
    _find_stems,
    confidence,
    everyday_share,
    evidence,
    load_estimator,
)
from bioqa.models.answers.lexical import CALIBRATION, rank_lexically
from bioqa.models.text.background import background
from bioqa.models.text.words import stem
from bioqa.models.training.files import bundled_vocabulary
from bioqa.system.characters import fold

WARFARIN = (
    "Genes that influence the dose of warfarin.",
    "Variants of the genes CYP2C9 and VKORC1 influence the dose of warfarin. Bleeding was rare.",
)
GLOVES = ("Powder of surgical gloves.", "Powdered gloves caused adhesions in rats. Others did not.")
QUESTION = "Which genes influence the dose of warfarin?"


def background_terms() -> list[str]:
    return [*bundled_vocabulary().terms]


def candidates(*texts: tuple[str, str]) -> list[Candidate]:
    return [
        Candidate(Document(str(n), 1, *text, None, sentences_of(*text, ())), 9.0 - n)
        for n, text in enumerate(texts, 1)
    ]


def estimated(question: str, *texts: tuple[str, str]) -> Confidence:
    return confidence(question, rank_lexically(question, candidates(*texts)), CALIBRATION)


def found(question: str, *texts: tuple[str, str]) -> AnswerEvidence:
    return evidence(question, rank_lexically(question, candidates(*texts)), CALIBRATION, None)


def test_shares_are_of_the_questions_idf() -> None:
    made = found("warfarin or goalkeepers", GLOVES, WARFARIN)
    warfarin, goalkeepers = (background().weight(stem(word)) for word in ("warfarin", "goalkeepers"))
    share = warfarin / (warfarin + goalkeepers)
    assert made.first_share == 0
    assert made.best_share == made.found_share == made.sentence_share == pytest.approx(share)
    assert made.mean_share == pytest.approx(share / 2)
    assert made.unknown_share == pytest.approx(1 - share)
    assert made.found_mass == pytest.approx(math.log1p(warfarin))
    assert made.asked_mass == pytest.approx(math.log1p(warfarin + goalkeepers))


def test_words_by_which_questions_are_put_do_not_count() -> None:
    assert found("Please list the known genes", WARFARIN).best_share == 1.0
    assert found("list", WARFARIN).asked_mass > 0  # unless there are no others


def test_everyday_words_are_those_that_are_rare_in_biomedicine() -> None:
    assert everyday_share("Which wheel has a recipe?") > 0.6
    assert everyday_share("Which genes influence the dose of warfarin?") == 0
    assert everyday_share("?") == 0


def test_words_are_found_as_stemming_every_word_would_find_them() -> None:
    words = [term for term in background_terms() if term.isalpha() and term not in ("dying", "lying")]
    text = " ".join(words) + ". Nothing."
    (document,) = (each.document for each in candidates(("A-B_c: 'd'.", text)))
    stems = {stem(fold(word)) for word in words} - {""}
    ((title, *sentences),) = _find_stems([document], stems | {"b", "c", "d", "xy"})
    assert title == {"b", "c", "d"}  # a is a stop word
    assert set().union(*sentences) - {"b", "c", "d"} == stems - {"b", "c", "d"}


def test_a_word_within_another_is_not_found() -> None:
    (sentences,) = _find_stems([candidates(("Transgenes of oogenesis", ""))[0].document], {"gene", "genesi"})
    assert sentences == [set()]


def test_a_question_whose_words_stand_in_the_documents_is_likely_answered() -> None:
    good = estimated(QUESTION, WARFARIN)
    assert (good.level, good.language) == ("likely", None)
    assert good.probability > 0.5


@pytest.mark.parametrize(
    "question",
    ["Who won the football World Cup in 1998?", "How do I change the oil of my motorbike?", "qwrt zxcv plkj"],
)
def test_other_subjects_are_unlikely_answered(question: str) -> None:
    assert estimated(question, GLOVES, WARFARIN).level == "unlikely"


def test_a_question_in_another_language_is_unlikely_answered_and_the_language_named() -> None:
    french = estimated("Quels gènes influencent la dose de la warfarine ?", GLOVES, WARFARIN)
    assert french.level == "unlikely"
    assert french.language is not None
    assert french.language.name == "French"


def test_nothing_found_answers_nothing() -> None:
    assert estimated(QUESTION) == Confidence(0.0, "unlikely")


@settings(max_examples=60)
@given(question=st.text(max_size=60), title=st.text(max_size=40), abstract=st.text(max_size=80))
def test_it_is_a_probability_for_any_text(question: str, title: str, abstract: str) -> None:
    made = estimated(question, (title, abstract))
    assert 0 <= made.probability <= 1
    assert made == estimated(question, (title, abstract))


def test_the_level_agrees_with_the_probability_shown() -> None:
    estimator = Estimator(0.0, {}, 0.1, 0.5)
    assert [estimator.level(p) for p in (0.0, 0.099, 0.1, 0.499, 0.5, 1.0)] == [
        "unlikely",
        "unlikely",
        "doubtful",
        "doubtful",
        "likely",
        "likely",
    ]


def test_every_piece_of_evidence_has_its_fitted_weight() -> None:
    assert load_estimator().weights.keys() == {each.name for each in fields(AnswerEvidence)}
    assert 0 < load_estimator().unlikely_below < load_estimator().likely_from < 1
    assert json.loads(FITTED.read_text(encoding="utf-8"))["fitted_to"] == "soft"


def test_asking_words_are_lower_case() -> None:
    assert all(word == word.lower() for word in ASKING)
