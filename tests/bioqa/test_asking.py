"""Questions put to an index and a ranker."""

from datetime import date
from pathlib import Path
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


def test_filters_are_options_and_an_object_or_a_dict(index: bioqa.Index) -> None:
    ranker = LexicalRanker()
    alone = bioqa.ask(QUESTION, index, ranker, types=["Review"])
    assert alone.documents
    names: Any = ["Review"]
    for filters in (bioqa.Filters(types=("Review",)), {"types": names}, bioqa.Filters(types=names)):
        assert bioqa.ask(QUESTION, index, ranker, filters=filters).documents == alone.documents
    text: Any = "2000"
    by_option = bioqa.ask(QUESTION, index, ranker, published_after=text)
    by_filters = bioqa.ask(QUESTION, index, ranker, filters=bioqa.Filters(published_after=text))
    assert by_option.documents == by_filters.documents


def test_an_index_may_be_its_folder_and_a_ranker_its_name(index: bioqa.Index, folder: Path) -> None:
    ranker = bioqa.load_ranker("jpdrmm")
    assert (
        bioqa.ask(QUESTION, str(folder / "sample-index"), "jpdrmm").documents
        == bioqa.ask(QUESTION, index, ranker).documents
    )
    for wrong in (3, None):
        with pytest.raises(bioqa.BioqaError, match="index: must be an index, or the folder or URL of one"):
            bioqa.ask(QUESTION, wrong)  # type: ignore[arg-type]
    with pytest.raises(bioqa.BioqaError, match="ranker: must be a ranker, or the name or folder of one"):
        bioqa.ask(QUESTION, index, 7)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"filters": 3}, "filters: must be Filters or a dict of filters"),
        ({"filters": {"tpes": ["Review"]}}, "tpes: is not an option"),
        ({"filters": {"published_after": "soon"}}, "published_after: must be a day"),
        ({"candidate": 3}, "candidate: is not an option"),
        ({"types": "Review"}, "types: must be a list, such as"),
    ],
)
def test_what_is_no_option_is_said(index: bioqa.Index, options: Any, said: str) -> None:
    with pytest.raises(bioqa.BioqaError, match=said):
        bioqa.ask(QUESTION, index, LexicalRanker(), **options)


def test_notation_restricts_what_is_found(index: bioqa.Index) -> None:
    answer = bioqa.ask("dose of warfarin AND case reports[pt]", index, LexicalRanker())
    assert answer.interpretation is not None
    assert answer.interpretation.words == "dose of warfarin"
    assert answer.interpretation.restriction == '"case reports"[pt]'
    types = [each.document.metadata.types for each in answer.documents]
    assert types
    assert all("Case Reports" in each for each in types)
    as_words = bioqa.ask("dose of warfarin AND case reports[pt]", index, LexicalRanker(), syntax="never")
    assert as_words.interpretation is None
    assert len(as_words.documents) == 10


def test_an_identifier_finds_its_article(index: bioqa.Index) -> None:
    for question in ("90000032", "PMID: 90000032", "https://pubmed.ncbi.nlm.nih.gov/90000032/"):
        answer = bioqa.ask(question, index, LexicalRanker())
        assert [each.pmid for each in answer.documents] == ["90000032"]
        assert answer.interpretation is not None
        assert [each.value for each in answer.interpretation.identifiers] == ["90000032"]


def test_further_results_follow_the_first(index: bioqa.Index) -> None:
    both = bioqa.ask(QUESTION, index, LexicalRanker(), max_documents=8)
    first = bioqa.ask(QUESTION, index, LexicalRanker(), max_documents=5)
    assert first.next_offset == 5
    second = bioqa.ask(QUESTION, index, LexicalRanker(), max_documents=3, offset=5)
    assert [*first.documents, *second.documents] == [*both.documents]


def test_the_newest_come_first(index: bioqa.Index) -> None:
    answer = bioqa.ask(QUESTION, index, LexicalRanker(), order="date")
    days = [each.published or date.min for each in answer.documents]
    assert days == sorted(days, reverse=True)
    assert len({*days}) > 1


def test_documents_are_counted_if_asked_for(index: bioqa.Index) -> None:
    assert bioqa.ask(QUESTION, index, LexicalRanker()).facets is None
    answer = bioqa.ask(QUESTION, index, LexicalRanker(), facets=True)
    assert answer.facets is not None
    number = sum(year.documents for year in answer.facets.years) + answer.facets.undated
    assert number == answer.facets.documents == len(index.search(QUESTION, 1000))


def test_words_are_taken_literally_if_asked_for(index: bioqa.Index) -> None:
    assert bioqa.ask("warfarrin", index, LexicalRanker()).documents
    answer = bioqa.ask("warfarrin", index, LexicalRanker(), literal=True)
    assert (answer.documents, answer.interpretation) == ((), None)


def test_what_filters_leave_out_is_said(index: bioqa.Index) -> None:
    answer = bioqa.ask(QUESTION, index, LexicalRanker(), filters=bioqa.Filters(types=("Poem",)))
    assert answer.documents == ()
    assert [(each.filter, each.documents > 0) for each in answer.emptied] == [("types", True)]


@pytest.mark.parametrize(
    ("question", "options", "said"),
    [
        (" \n", {}, "the question is empty"),
        (bioqa.Question("q", ""), {}, "the question is empty"),
        ("dose\ud800", {}, "lone surrogate"),
        (QUESTION, {"max_documents": 0}, "max_documents: must be greater than or equal to 1"),
        (QUESTION, {"max_snippets": -1}, "max_snippets: must be greater than or equal to 0"),
        (QUESTION, {"candidates": 0}, "candidates: must be greater than or equal to 1"),
        (QUESTION, {"offset": 1000}, "offset: must be less than 1000"),
        (QUESTION, {"offset": -1}, "offset: must be greater than or equal to 0"),
        (QUESTION, {"order": "age"}, "order: must be 'relevance' or 'date'"),
        (QUESTION, {"syntax": "maybe"}, "syntax: must be 'auto', 'always' or 'never'"),
        ("dose AND (warfarin", {}, r"never closed\ndose AND \(warfarin\n         \^"),
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


def test_settings_are_read_once_not_for_each_question(
    index: bioqa.Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = bioqa.ask(QUESTION, index, LexicalRanker())
    monkeypatch.setattr("bioqa.asking.load_settings", None)
    assert bioqa.ask(QUESTION, index, LexicalRanker()).documents == first.documents
