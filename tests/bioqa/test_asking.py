"""Questions put to an index and a ranker."""

from datetime import date
from typing import Any

import pytest

import bioqa
from tests.app.rankers import LexicalRanker

QUESTION = "Which genes influence the dose of warfarin?"


def test_without_a_ranker_the_default_one_answers(index: bioqa.Index) -> None:
    answer = bioqa.ask(QUESTION, index)
    assert answer.ranker == "soft"
    assert answer.snippets_rows() == bioqa.ask(QUESTION, index, bioqa.load_ranker("soft")).snippets_rows()


def test_any_ranker_that_keeps_the_promises_will_do(index: bioqa.Index) -> None:
    answer = bioqa.ask(QUESTION, index, LexicalRanker(), candidates=30, max_documents=20)
    assert answer.ranker == "lexical"
    assert [each.pmid for each in answer.documents] == [
        each.document.pmid for each in index.search(QUESTION, 30)[:20]
    ]


def test_the_same_question_gets_the_same_id(index: bioqa.Index) -> None:
    ids = {bioqa.ask(body, index, LexicalRanker()).question.id for body in (QUESTION, f" {QUESTION}\n")}
    assert len(ids) == 1
    assert len(ids.pop()) == 24


def test_documents_before_a_day(index: bioqa.Index) -> None:
    day = date(2005, 1, 1)
    answer = bioqa.ask(QUESTION, index, LexicalRanker(), filters=bioqa.Filters(published_before=day))
    assert answer.documents
    assert all(each.published is None or each.published < day for each in answer.documents)


def test_many_questions_are_answered_as_each_alone(index: bioqa.Index) -> None:
    questions = bioqa.read_testset(bioqa.sample().questions)
    answers = [*bioqa.ask_all(iter(questions), index, LexicalRanker(), max_documents=5)]
    alone = [bioqa.ask(question, index, LexicalRanker(), max_documents=5) for question in questions]
    assert [each.as_bioasq() for each in answers] == [each.as_bioasq() for each in alone]
    assert [each.question for each in answers] == [*questions]


@pytest.mark.parametrize(
    ("question", "options", "said"),
    [
        (" \n", {}, "the question is empty"),
        (bioqa.Question("q", ""), {}, "the question is empty"),
        ("dose\ud800", {}, "lone surrogate"),
        (QUESTION, {"max_documents": 0}, "max_documents is 0; it must be 1 or more"),
        (QUESTION, {"max_snippets": -1}, "max_snippets is -1; it must be 0 or more"),
        (QUESTION, {"candidates": 0}, "candidates is 0; it must be 1 or more"),
    ],
)
def test_what_cannot_be_asked(index: bioqa.Index, question: Any, options: Any, said: str) -> None:
    with pytest.raises(bioqa.BioqaError, match=said):
        bioqa.ask(question, index, LexicalRanker(), **options)


@pytest.mark.parametrize(
    ("options", "said"), [({"ranker": "nobody"}, "no ranker 'nobody'"), ({"device": "abacus"}, "abacus")]
)
def test_what_cannot_be_loaded(options: Any, said: str) -> None:
    with pytest.raises(bioqa.BioqaError, match=said):
        bioqa.load_ranker(**options)
