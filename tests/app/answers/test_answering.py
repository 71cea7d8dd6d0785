import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bioqa.app.answers.answer import Answer, Timings
from bioqa.app.answers.answering import Answerer, IndexUnavailable, Retrieved, answer_by_bm25, rank_and_select
from bioqa.app.answers.question import Options
from bioqa.app.answers.remarks import remarks
from bioqa.bioasq.domain import Candidate, Document, Question
from bioqa.bioasq.files import submission_dict
from bioqa.bioasq.validation import validate
from bioqa.indexer.search.base import IndexStats
from bioqa.indexer.search.filtering.filters import NO_FILTERS, Filters
from bioqa.indexer.search.questions.reading import Reading
from bioqa.indexer.search.wording import Wording
from bioqa.models.answers.confidence import Confidence
from bioqa.models.answers.ranking import Ranking
from bioqa.system.errors import BioqaError
from bioqa.system.language import Language
from tests.app.answers.rankers import Choosy, Strict
from tests.app.conftest import DRUGS, documents
from tests.app.rankers import LexicalRanker

QUESTIONS = st.lists(
    st.sampled_from([*DRUGS, "effects", "adults", "dose", "unknown", "zebra"]), max_size=5
).map(" ".join)
DEFAULT_OPTIONS = Options()
STORED = {each.pmid: each for each in documents()}
FREELY = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


def ask(answerer: Answerer, body: str, wanted: Options = DEFAULT_OPTIONS) -> Answer:
    return answerer.answer(Question("q", body), wanted)


def content(answer: Answer) -> tuple[object, ...]:
    return answer.documents, answer.ranked_sentences


@FREELY
@given(body=QUESTIONS)
def test_every_answer_is_a_valid_entry_of_a_submission(answerer: Answerer, body: str) -> None:
    question = Question("q", body or "x", "list")
    submission = submission_dict([answerer.answer(question).response()])
    assert validate(submission, [question]) == []


def test_weak_snippets_are_left_out_unless_they_are_asked_for(answerer: Answerer) -> None:
    choosy = Answerer(answerer.index, Choosy())
    body = "Is metformin better than placebo in adults?"
    everything = ask(choosy, body, Options(weak_snippets=True))
    strong = ask(choosy, body)
    assert 0 < len(strong.ranked_sentences) < len(everything.ranked_sentences)
    assert strong.ranked_sentences == everything.ranked_sentences[: len(strong.ranked_sentences)]
    assert strong.documents == everything.documents
    assert len(everything.ranked_sentences) == len(ask(answerer, body).snippets)


@FREELY
@given(body=QUESTIONS, max_documents=st.integers(1, 12), max_snippets=st.integers(0, 12))
def test_lists_are_limited_ordered_and_consistent(
    answerer: Answerer, body: str, max_documents: int, max_snippets: int
) -> None:
    answer = ask(answerer, body, Options(max_documents=max_documents or 1, max_snippets=max_snippets))
    pmids = [found.document.pmid for found in answer.documents]
    assert len(pmids) <= max_documents
    assert len(set(pmids)) == len(pmids)
    assert len(answer.ranked_sentences) <= max_snippets
    assert {s.document.pmid for s in answer.ranked_sentences} <= set(pmids)
    for scores in ([d.score for d in answer.documents], [s.score for s in answer.ranked_sentences]):
        assert all(a >= b for a, b in pairwise(scores))
        assert all(map(math.isfinite, scores))
    for found in answer.documents:
        assert found.document == STORED[found.document.pmid]


@FREELY
@given(body=QUESTIONS)
def test_snippets_are_the_stored_text_and_do_not_overlap(answerer: Answerer, body: str) -> None:
    snippets = ask(answerer, body).response().snippets
    for snippet in snippets:
        document = STORED[snippet.document.rpartition("/")[2]]
        assert snippet.begin_section == snippet.end_section
        section = document.title if snippet.begin_section == "title" else document.abstract
        assert 0 <= snippet.begin < snippet.end <= len(section)
        assert section[snippet.begin : snippet.end] == snippet.text
    for a, b in combinations(snippets, 2):
        if (a.document, a.begin_section) == (b.document, b.begin_section):
            assert a.end <= b.begin or b.end <= a.begin


@FREELY
@given(body=QUESTIONS, before=st.text(" \t\n\u00a0\u2003"), after=st.text(" \t\n\u00a0\u2003"))
def test_white_space_around_the_question_and_repetition_change_nothing(
    answerer: Answerer, body: str, before: str, after: str
) -> None:
    answer = ask(answerer, before + body + after)
    assert content(answer) == content(ask(answerer, body))
    assert answer.question.body == before + body + after


@FREELY
@given(body=QUESTIONS, year=st.integers(1988, 2022), later=st.integers(0, 20))
def test_a_date_limits_and_a_later_date_takes_nothing_away(
    answerer: Answerer, body: str, year: int, later: int
) -> None:
    def found(day: date) -> set[str]:
        wanted = Options(max_documents=100, published_before=day, undated=True)
        answer = ask(answerer, body, wanted)
        days = [d.document.published for d in answer.documents]
        assert all(published is None or published < day for published in days)
        return {d.document.pmid for d in answer.documents}

    assert found(date(year, 6, 1)) <= found(date(year + later, 6, 1))


def test_documents_without_a_date_pass_every_limit_if_they_may(answerer: Answerer) -> None:
    answer = ask(answerer, "statin", Options(published_before=date(1500, 1, 1), undated=True))
    assert answer.documents
    assert all(d.document.published is None for d in answer.documents)


def test_the_right_drug_comes_first_and_its_sentences_are_chosen(answerer: Answerer) -> None:
    answer = ask(answerer, "Is metformin better than placebo?")
    assert all("metformin" in d.document.title for d in answer.documents[:6])
    assert "metformin" in answer.ranked_sentences[0].text
    assert (answer.index, answer.ranker) == ("sample", "lexical")
    timings = answer.timings_ms
    assert timings.total == pytest.approx(timings.retrieve + timings.rerank + timings.select)
    assert answer.timings_ms.retrieve > 0


@pytest.mark.parametrize("body", ["zebra", "?!", "\0", "\ud800", '( ) " AND [* TO *]'])
def test_a_question_that_no_document_has_a_word_of_is_answered_by_nothing(
    answerer: Answerer, body: str
) -> None:
    answer = ask(answerer, body)
    assert (answer.documents, answer.ranked_sentences) == ((), ())


def test_how_many_candidates_are_fetched_is_asked_of_the_index(answerer: Answerer) -> None:
    assert len(ask(answerer, "adults", Options(max_documents=100, candidates=7)).documents) == 7


class NanRanker(LexicalRanker):
    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        ranking = super().rank(question, candidates)
        return replace(ranking, documents=tuple(replace(d, score=math.nan) for d in ranking.documents))


def test_a_score_that_is_no_number_is_never_handed_out(answerer: Answerer) -> None:
    with pytest.raises(ArithmeticError, match="lexical"):
        ask(Answerer(answerer.index, NanRanker()), "metformin")


LONG = " ".join(
    [*(f"unheard{n}" for n in range(60)), "Does", "metformin,", "the", "drug,", "help", "adults?"]
)


def test_a_long_question_is_answered_by_the_words_that_carry_it(answerer: Answerer) -> None:
    answer = ask(answerer, f"  {LONG}\n")
    assert answer.question.body == f"  {LONG}\n"
    assert answer.condensed
    assert answer.condensed.endswith("metformin, adults?")
    assert content(answer) == content(ask(answerer, answer.condensed, Options(literal=True)))
    assert ask(answerer, "Does metformin help adults?").condensed is None


def test_long_questions_of_a_test_set_are_answered_as_they_are_alone(answerer: Answerer) -> None:
    questions = [Question("a", LONG), Question("b", "aspirin")]
    both = list(answerer.answers(questions))
    for question, answer in zip(questions, both, strict=True):
        alone = answerer.answer(question)
        assert content(answer) == content(alone)
        assert answer.condensed == alone.condensed
    assert (both[0].condensed is None, both[1].condensed is None) == (False, True)


class AwayIndex:
    name = "away"
    beside = None

    def __init__(self, error: Exception) -> None:
        self.error = error

    def read(self, question: str) -> Reading:
        raise self.error

    def search(
        self, question: str | Wording, size: int = 100, filters: Filters = NO_FILTERS
    ) -> list[Candidate]:
        raise self.error

    def search_many(
        self, questions: Sequence[str | Wording], size: int = 100, filters: Filters = NO_FILTERS
    ) -> list[list[Candidate]]:
        raise self.error

    def get(self, pmids: Sequence[str]) -> Mapping[str, Document]:
        raise self.error

    def stats(self) -> IndexStats:
        return IndexStats("away", 1, 1, 0, 0, "")

    def apply(self, events: object) -> None:
        raise NotImplementedError

    def commit(self) -> None: ...

    def close(self) -> None: ...


@pytest.mark.parametrize("error", [BioqaError("broken segment"), FileNotFoundError("meta.json")])
def test_an_index_that_cannot_be_used_is_told_as_such(error: Exception) -> None:
    with pytest.raises(IndexUnavailable, match="away"):
        ask(Answerer(AwayIndex(error), LexicalRanker()), "metformin")  # type: ignore[arg-type]


@pytest.mark.parametrize("error", [BioqaError("broken segment"), FileNotFoundError("meta.json")])
def test_many_questions_to_an_index_that_cannot_be_used(error: Exception) -> None:
    away = Answerer(AwayIndex(error), LexicalRanker())  # type: ignore[arg-type]
    with pytest.raises(IndexUnavailable, match="away"):
        list(away.answers([Question("q", "metformin")]))
    assert list(away.answers([])) == []


@FREELY
@given(bodies=st.lists(QUESTIONS, max_size=6), size=st.integers(1, 12), year=st.integers(1988, 2030))
def test_many_questions_are_answered_as_each_is_alone(
    answerer: Answerer, bodies: list[str], size: int, year: int
) -> None:
    questions = [Question(f"q{n}", f" {body}\n") for n, body in enumerate(bodies)]
    wanted = Options(
        max_documents=size, max_snippets=size, published_before=date(year, 1, 1), undated=True, syntax="never"
    )
    untimed = Timings(retrieve=0, rerank=0, select=0)
    together = [replace(a, timings_ms=untimed) for a in answerer.answers(questions, wanted)]
    assert together == [replace(answerer.answer(q, wanted), timings_ms=untimed) for q in questions]


def test_the_time_of_fetching_together_is_shared(answerer: Answerer) -> None:
    answers = list(answerer.answers([Question(str(n), "metformin") for n in range(4)]))
    assert len({answer.timings_ms.retrieve for answer in answers}) == 1
    assert all(answer.timings_ms.retrieve > 0 for answer in answers)


def test_a_question_in_a_test_set_is_echoed_unchanged(answerer: Answerer) -> None:
    question = Question(" 1", " Is it metformin? ", "yesno")
    assert answerer.answer(question).response().question == question


def test_an_answer_knows_whether_it_answers(answerer: Answerer) -> None:
    good, foreign, other, none = (
        ask(answerer, body).confidence
        for body in (
            "Which effects had metformin and placebo in adults?",
            "Quels sont les effets de la metformine contre placebo ?",
            "Is the winter tyre of my motorbike better than a placebo goalkeeper?",
            "zebra",
        )
    )
    assert good is not None
    assert foreign is not None
    assert other is not None
    assert none == Confidence(0.0, "unlikely")
    assert (good.level, good.language) == ("likely", None)
    assert (foreign.level, foreign.language) == ("unlikely", Language("fr", "French"))
    assert (other.level, other.language) == ("unlikely", None)


def test_how_much_of_an_answer_is_wanted_does_not_change_the_estimate(answerer: Answerer) -> None:
    few = ask(answerer, "Is metformin better than placebo?", Options(max_documents=1, max_snippets=0))
    assert few.confidence == ask(answerer, "Is metformin better than placebo?").confidence


def test_answers_by_bm25_are_estimated_and_given_texts_are_not() -> None:
    candidates = [Candidate(each, 2.0) for each in documents()[:3]]
    retrieved = Retrieved(Question("q", "metformin"), DEFAULT_OPTIONS, candidates, "index", 1.0)
    assert answer_by_bm25(LexicalRanker(), retrieved, "it failed").confidence is not None
    (given,) = rank_and_select(LexicalRanker(), [replace(retrieved, index="")])
    assert given.confidence is None


def pmids_of(answer: Answer) -> list[str]:
    return [ranked.document.pmid for ranked in answer.documents]


@pytest.mark.parametrize(("size", "candidates"), [(3, 100), (3, 7), (10, 4), (1, 1), (100, 100)])
def test_further_results_are_every_candidate_once(answerer: Answerer, size: int, candidates: int) -> None:
    """Each run of candidates is ranked by itself, in BM25's order of the runs."""
    offset: int | None = 0
    seen, pages = [], 0
    while offset is not None:
        answer = ask(
            answerer,
            "adults",
            Options(max_documents=size, max_snippets=0, candidates=candidates, offset=offset),
        )
        assert len(answer.documents) <= size
        assert answer.candidates <= candidates
        seen += pmids_of(answer)
        offset, pages = answer.next_offset, pages + 1
        assert pages < 50
    found = [c.document.pmid for c in answerer.index.search("adults", 1000)]
    assert sorted(seen) == sorted(found)
    for begin in range(0, len(found), candidates):
        run = slice(begin, begin + candidates)
        assert set(seen[run]) == set(found[run])


def test_the_first_results_do_not_depend_on_how_many_are_asked_for(answerer: Answerer) -> None:
    first = ask(answerer, "metformin dose", Options(max_documents=4))
    more = ask(answerer, "metformin dose", Options(max_documents=8))
    second = ask(answerer, "metformin dose", Options(max_documents=4, offset=4))
    assert pmids_of(first) + pmids_of(second) == pmids_of(more)
    assert {s.document.pmid for s in second.ranked_sentences} <= set(pmids_of(second))


def test_beyond_the_last_result_there_is_nothing(answerer: Answerer) -> None:
    answer = ask(answerer, "metformin", Options(offset=900))
    assert (answer.documents, answer.ranked_sentences, answer.next_offset, answer.emptied) == (
        (),
        (),
        None,
        (),
    )


def test_the_newest_of_the_candidates_come_first(answerer: Answerer) -> None:
    everything = ask(answerer, "adults", Options(max_documents=100, order="date"))
    days = [ranked.document.published for ranked in everything.documents]
    dated = [day for day in days if day]
    assert dated == sorted(dated, reverse=True)
    assert days[len(dated) :] == [None] * (len(days) - len(dated)) != []
    pages = [
        ask(answerer, "adults", Options(max_documents=15, order="date", offset=offset))
        for offset in (0, 15, 30)
    ]
    assert [pmid for page in pages for pmid in pmids_of(page)] == pmids_of(everything)
    assert [page.next_offset for page in pages] == [15, 30, None]
    assert pages[0].candidates == 40
    best = ask(answerer, "adults", Options(max_documents=100))
    scores = {ranked.document.pmid: ranked.score for ranked in best.documents}
    assert {r.document.pmid: r.score for r in everything.documents} == pytest.approx(scores)


def test_by_date_only_what_fits_is_shown(answerer: Answerer) -> None:
    strict = Answerer(answerer.index, Strict())
    best = ask(strict, "metformin adults", Options(max_documents=100)).documents
    fitting = {each.pmid for each in best if each.score >= max(0.05, best[0].score / 5)}
    newest = ask(strict, "metformin adults", Options(max_documents=100, order="date"))
    assert {*pmids_of(newest)} == fitting
    assert newest.fitting == len(fitting) < len(best)
    first = ask(strict, "metformin adults", Options(max_documents=1, order="date"))
    assert (first.fitting, first.next_offset) == (len(fitting), 1)
    assert {remark.kind: remark.text for remark in remarks(first)}["newest"] == (
        f"{len(fitting)} documents that fit, the newest first."
    )
    assert ask(strict, "metformin adults").fitting is None


def test_only_a_ranking_of_the_best_tells_whether_they_answer(answerer: Answerer) -> None:
    assert ask(answerer, "adults", Options(offset=5)).confidence is not None
    for options in (Options(order="date"), Options(candidates=5, offset=5)):
        assert ask(answerer, "adults", options).confidence is None


def test_filters_that_leave_nothing_are_named(answerer: Answerer) -> None:
    late = Options(published_after=date(2500, 1, 1), has_abstract=True)
    answer = ask(answerer, "metformin", late)
    assert answer.documents == ()
    found = answerer.index.count("metformin", Filters(has_abstract=True))
    assert [(each.filter, each.documents) for each in answer.emptied] == [
        ("published_after", found),
        ("has_abstract", 0),
    ]
    assert ask(answerer, "zebra", late).emptied == ()
    assert ask(answerer, "metformin", Options(has_abstract=True)).emptied == ()


def interpreted(answerer: Answerer, text: str, **options: Any) -> Answer:
    return ask(answerer, text, Options(**options))


def test_a_query_is_ranked_by_its_words_and_restricted_by_the_rest(answerer: Answerer) -> None:
    answer = interpreted(answerer, "is metformin better than placebo AND 1990:1995[dp]")
    plain = ask(
        answerer,
        "is metformin better than placebo",
        Options(published_after=date(1990, 1, 1), published_before=date(1996, 1, 1)),
    )
    assert answer.documents
    assert content(answer) == content(plain)
    assert answer.question.body.endswith("[dp]")
    assert answer.interpretation is not None


def test_restrictions_alone_list_documents_by_date(answerer: Answerer) -> None:
    query = "metformin*[ti] NOT 2019[dp]"
    answer = interpreted(answerer, query, max_documents=3)
    days = [ranked.document.published or date.min for ranked in answer.documents]
    assert days == sorted(days, reverse=True)
    assert (len(days), answer.ranked_sentences, answer.next_offset) == (3, (), 3)
    assert all("metformin" in ranked.document.title for ranked in answer.documents)
    rest = interpreted(answerer, query, max_documents=100, offset=3)
    everything = interpreted(answerer, query, max_documents=100)
    assert pmids_of(answer) + pmids_of(rest) == pmids_of(everything)


def test_words_with_tags_order_what_passes_and_choose_sentences(answerer: Answerer) -> None:
    query = "metformin[ti] NOT 2019[dp]"
    everything = interpreted(answerer, "metformin*[ti] NOT 2019[dp]", max_documents=100)
    answer = interpreted(answerer, query, max_documents=100)
    assert answer.interpretation is not None
    assert answer.interpretation.words == "metformin"
    assert answer.ranked_sentences
    assert not answer.is_listed
    assert sorted(pmids_of(answer)) == sorted(pmids_of(everything))
    by_date = interpreted(answerer, query, max_documents=100, order="date")
    assert pmids_of(by_date) == pmids_of(everything)
    assert by_date.ranked_sentences
    texts = [remark.text for ranked in (answer, by_date) for remark in remarks(ranked)]
    assert sum("the most relevant first" in text for text in texts) == 1
    assert sum("the newest first" in text for text in texts) == 1


def test_articles_without_the_words_of_tags_follow(answerer: Answerer) -> None:
    query = "metformin[ti] OR 1990:2100[dp]"
    answer = interpreted(answerer, query, max_documents=100, candidates=200)
    plain = interpreted(answerer, "1990:2100[dp]", max_documents=100, candidates=200)
    assert {*pmids_of(plain)} < {*pmids_of(answer)}


def test_an_article_is_found_by_its_pmid_whatever_the_filters(answerer: Answerer) -> None:
    answer = interpreted(answerer, "PMID: 90000001", published_after=date(2500, 1, 1))
    assert pmids_of(answer) == ["90000001"]
    missing = interpreted(answerer, "PMID: 1")
    assert (missing.documents, missing.emptied) == ((), ())
    assert missing.interpretation is not None


def test_a_number_that_is_no_pmid_is_a_word(answerer: Answerer) -> None:
    answer = interpreted(answerer, "20")
    assert "20 adults" in answer.documents[0].document.abstract
    assert answer.interpretation is None


def test_counts_are_of_the_best_thousand(answerer: Answerer) -> None:
    answer = ask(answerer, "adults", Options(max_documents=1, candidates=2, facets=True))
    assert (len(answer.documents), answer.candidates) == (1, 2)
    assert answer.facets is not None
    assert answer.facets.documents == 40
    assert sum(year.documents for year in answer.facets.years) + answer.facets.undated == 40
    assert ask(answerer, "adults").facets is None
